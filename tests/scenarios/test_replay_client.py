"""Recorded clients sent again: to replays of themselves, to restarted servers, to changed ones."""

from __future__ import annotations

import asyncio
import json
import sys
from functools import cache
from pathlib import Path

import pytest

from mcp_tap.cli.main import run
from mcp_tap.proxy.run import HttpRun
from mcp_tap.proxy.settings import TapSettings
from mcp_tap.replay.client.http import HttpPeer
from mcp_tap.replay.client.lane import Limits
from mcp_tap.replay.client.outcome import verdicts
from mcp_tap.replay.client.plan import Plan
from mcp_tap.replay.client.run import ClientRun
from mcp_tap.replay.client.stdio import Unseen
from mcp_tap.replay.compare.values import Rules
from mcp_tap.replay.index import Index
from tests.bounds import BOUND
from tests.peers.programs import HERE, outcome, python, servers, tapping
from tests.scenarios.test_replay_server import replaying

CAPTURES = Path(__file__).parents[2] / "captures"
GOLDEN = sorted(path.stem for path in CAPTURES.glob("*.jsonl"))
CLIENT = python("python_client.py")
SERVER = python("python_server.py")
DEPLOYING = python("python_deploying_client.py")
CHANGING = python("python_changing_server.py")
NEW = "2026-07-28"
ERAS = [NEW, "legacy"]
ONE_MORE = "/requestedSchema/properties/reason"


@pytest.fixture(autouse=True)
def found_from_anywhere(monkeypatch):
    """Let servers that are started from here find the tests."""
    monkeypatch.setenv("PYTHONPATH", str(HERE.parents[1]))


def resent(capsys, capture, *words, yes=True):
    """Send a capture again by the command; give its exit code and its document."""
    options = ["--yes"] if yes else []
    at = list(words).index("--") if "--" in words else len(words)
    words = [*words[:at], *options, "-f", "json", "--timeout", "20", *words[at:]]
    code = run(["replay", "client", str(capture), *words])
    return code, json.loads(capsys.readouterr().out)


def told(document):
    return {
        (d["what"], d["change"], d["round"], d["at"] or d["name"]) for d in document["differences"]
    }


async def in_thread(function, *args, **kwargs):
    """Run what has an event loop of its own."""
    return await asyncio.to_thread(function, *args, **kwargs)


@pytest.mark.parametrize("name", GOLDEN)
async def test_a_capture_sent_to_a_replay_of_itself_differs_in_nothing(name, tmp_path):
    path, new = str(CAPTURES / f"{name}.jsonl"), tmp_path / "new.jsonl"
    with Index.of([path]) as index:
        plan = Plan(index, None, answered=False)
        async with replaying(index, None) as (url, missed):
            settings = TapSettings(upstream=url, port=0)
            tap = HttpRun(settings, capture=new, view=Unseen(), judging=False)
            await tap.start()

            async def connect(lane, tools):
                return HttpPeer(tap.url, tools)

            limits = Limits(timeout=BOUND, stream=2)
            sent = ClientRun(plan, index, connect, limits=limits, yes=True)
            try:
                await sent.run()
            finally:
                await tap.stop("end")
        assert missed == []
        with Index.of([str(new)]) as after:
            found = list(verdicts(plan, index, after, sent.played, Rules(), whole=True))
    different = [d for v in found if v.compared for d in v.compared.differences]
    assert different == []
    assert {verdict.state for verdict in found} == {"same"}
    assert len(found) > 4


@pytest.mark.parametrize("mode", ERAS)
async def test_a_restarted_server_with_new_keys_completes_every_chain_the_same(
    mode, serving, tmp_path, capsys
):
    async with tapping(serving(*SERVER), tmp_path) as url:
        await outcome(*CLIENT, url, mode)
    with servers() as anew:
        url = anew(*SERVER)
        code, document = await in_thread(resent, capsys, tmp_path / "run.jsonl", "--to", url)
    assert (code, document["differences"]) == (0, [])
    assert {call["state"] for call in document["calls"]} == {"same"}
    rounds = [call["rounds"] for call in document["calls"] if call["target"] == "book"]
    assert rounds == [3, 3]


@pytest.fixture(scope="module")
def deployed(tmp_path_factory):
    """Give what records a client of the unchanged server in an era, once."""

    @cache
    def recorded(era):
        folder = tmp_path_factory.mktemp(era)

        async def record():
            with servers() as urls:
                async with tapping(urls(*CHANGING), folder) as url:
                    return await outcome(*DEPLOYING, url, era)

        expected = ["a runs", "a deployed: accept, accept", "b deployed: accept, accept"]
        assert asyncio.run(record()) == expected
        return folder / "run.jsonl"

    return recorded


@pytest.mark.parametrize("era", ERAS)
def test_a_server_is_the_same_over_another_transport(era, deployed, capsys):
    code, document = resent(capsys, deployed(era), "--", *CHANGING, "--stdio")
    assert (code, document["differences"]) == (0, [])


def test_an_ask_under_another_key_is_reported_as_that_and_the_calls_complete(deployed, capsys):
    code, document = resent(capsys, deployed(NEW), "--", *CHANGING, "--stdio", "renamed")
    assert code == 1
    assert told(document) == {("ask", "renamed", 1, "/result/inputRequests/confirm")}
    assert {call["why"] for call in document["calls"]} == {""}


@pytest.mark.parametrize("era", ERAS)
def test_a_new_required_field_is_reported_as_that_and_not_answered(era, deployed, capsys):
    code, document = resent(capsys, deployed(era), "--", *CHANGING, "--stdio", "required")
    assert code == 1
    added = {d["at"] for d in document["differences"] if d["change"] == "added"}
    front = "/params" if era == "legacy" else "/result/inputRequests/confirm/params"
    assert added == {front + ONE_MORE}
    assert all(what == "ask" for what, *_ in told(document))
    whys = [call["why"] for call in document["calls"] if call["target"] == "deploy"]
    assert len(whys) == 2
    assert all('no "reason", which is required' in why for why in whys)


def test_a_script_answers_the_new_field(deployed, capsys, tmp_path):
    script = tmp_path / "answers.toml"
    text = 'version = 1\n[[answer]]\nname = "why"\nmatch = { field = "reason" }\n'
    script.write_text(text + 'content = { yes = true, reason = "planned" }\n', encoding="utf-8")
    words = ["-a", str(script), "--", *CHANGING, "--stdio", "required"]
    code, document = resent(capsys, deployed(NEW), *words)
    assert code == 1
    assert {what for what, *_ in told(document)} == {"ask", "answer"}
    assert {call["why"] for call in document["calls"]} == {""}


def test_what_a_script_takes_from_the_environment_is_in_no_report_and_no_capture(
    deployed, capsys, tmp_path, monkeypatch
):
    monkeypatch.setenv("WHY_NOW", "a-secret-reason")
    script, new = tmp_path / "answers.toml", tmp_path / "new.jsonl"
    text = 'version = 1\n[[answer]]\nname = "why"\nmatch = { field = "reason" }\n'
    script.write_text(text + 'content = { yes = true, reason = { env = "WHY_NOW" } }\n', "utf-8")
    words = ["-a", str(script), "-w", str(new), "--", *CHANGING, "--stdio", "required"]
    code, document = resent(capsys, deployed(NEW), *words)
    assert (code, {call["why"] for call in document["calls"]}) == (1, {""})
    assert "a-secret-reason" not in json.dumps(document)
    assert "a-secret-reason" not in new.read_text("utf-8")


def test_another_result_is_reported_as_that(deployed, capsys):
    code, document = resent(capsys, deployed(NEW), "--", *CHANGING, "--stdio", "result")
    assert code == 1
    assert told(document) == {
        ("result", "changed", 3, "/result/content/0/text"),
        ("result", "changed", 3, "/result/structuredContent/result"),
    }


def test_a_further_ask_is_reported_as_a_round_more(deployed, capsys):
    code, document = resent(capsys, deployed(NEW), "--", *CHANGING, "--stdio", "more")
    assert (code, told(document)) == (1, {("round", "added", 3, "")})


def test_a_server_that_dies_differs_where_it_died_and_nothing_is_sent_after(deployed, capsys):
    code, document = resent(capsys, deployed(NEW), "--", *CHANGING, "--stdio", "dies")
    assert code == 1
    assert {what for what, *_ in told(document)} == {"outcome"}
    calls = [call for call in document["calls"] if call["target"] == "deploy"]
    assert [(call["state"], call["reason"]) for call in calls] == [
        ("differs", None),
        ("not-sent", "gone"),
    ]


def test_without_yes_only_what_reads_is_called(deployed, capsys):
    code, document = resent(capsys, deployed(NEW), "--", *CHANGING, "--stdio", yes=False)
    assert (code, document["differences"]) == (4, [])
    states = {call["target"]: call["state"] for call in document["calls"] if call["target"]}
    assert states == {"look": "same", "deploy": "not-sent"}


@pytest.mark.parametrize("mode", ERAS)
async def test_what_was_recorded_over_stdio_is_sent_over_stdio(mode, tmp_path, capsys):
    capture = tmp_path / "run.jsonl"
    words = ["-m", "mcp_tap", "stdio", "-w", str(capture), "--", *SERVER, "--stdio"]
    await outcome(*CLIENT, json.dumps([sys.executable, *words]), mode)
    code, document = await in_thread(resent, capsys, capture, "--", *SERVER, "--stdio")
    assert (code, document["differences"]) == (0, [])
    assert len(document["calls"]) > 6


@pytest.mark.node
@pytest.mark.parametrize("mode", ERAS)
async def test_a_restarted_typescript_server_completes_every_chain_the_same(mode, tmp_path, capsys):
    server = ["node", str(HERE / "ts" / "server.mjs")]
    with servers() as urls:
        async with tapping(urls(*server), tmp_path) as url:
            await outcome("node", str(HERE / "ts" / "client.mjs"), url, mode)
    with servers() as anew:
        url = anew(*server)
        code, document = await in_thread(resent, capsys, tmp_path / "run.jsonl", "--to", url)
    assert (code, document["differences"]) == (0, [])
    assert {call["state"] for call in document["calls"]} == {"same"}


async def test_the_new_run_is_kept_where_it_is_wanted(serving, tmp_path, capsys):
    async with tapping(serving(*SERVER), tmp_path) as url:
        await outcome(*CLIENT, url, NEW)
    new = tmp_path / "new.jsonl"
    url = serving(*SERVER)
    words = ["tool:book", "--to", url, "-w", str(new)]
    code, document = await in_thread(resent, capsys, tmp_path / "run.jsonl", *words)
    assert (code, document["recorded"]) == (0, [str(new)])
    with Index.of([str(new)]) as index:
        assert [len(c.rounds) for c in index.calls if c.target == "book"] == [3, 3]
