"""The Python SDK on both sides of the tap: nothing changes for it, and every round is seen."""

from __future__ import annotations

import asyncio
import json

from mcp_tap.cli.main import run
from mcp_tap.core.model import Call
from mcp_tap.proxy.run import HttpRun
from mcp_tap.proxy.settings import TapSettings
from mcp_tap.views import machine
from tests.bounds import BOUND
from tests.peers.programs import outcome, played, python

CLIENT = python("python_client.py")
SERVER = python("python_server.py")
ASKED = [
    "Which day for 2 guests?",
    "Which seat on tue?",
    "Which day for 3 guests?",
    "Which seat on tue?",
    "Sign in",
    "Sign in",
]
RESULTS = [
    [False, "5"],
    [False, "2 guests on tue, seat 4A"],
    [False, "not booked: decline"],
    [False, "ada: accept"],
    [False, "bob: decline"],
]


class Onlooker:
    """A view that keeps the calls it is told of."""

    def __init__(self) -> None:
        self.calls: dict[int, Call] = {}

    def start(self, header):
        pass

    def update(self, changes, now):
        self.calls.update((c.number, c) for c in changes if isinstance(c, Call))

    def notice(self, text):
        raise AssertionError(text)

    def close(self):
        pass


def show(capsys, path, *filters):
    """Give the document of `show -f json`."""
    assert run(["show", str(path), *filters, "-f", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def story(call):
    """Tell a call in a line: name, rounds with their answers, links and echoes, outcome."""
    words = [call["name"]]
    for each in call["rounds"]:
        words.append({"none": "first"}.get(each["link"], each["link"]))
        words += [f"{ask['kind']} {ask['action']} by {ask['answered_by']}" for ask in each["asks"]]
        if each["request_state"]["echo"] != "none":
            words.append(f"echo {each['request_state']['echo']}")
    return ", ".join([*words, call["outcome"]])


async def test_rounds_of_the_stateless_era_are_linked_by_their_sealed_states(
    serving, tmp_path, capsys
):
    direct = await played(CLIENT, serving(*SERVER), "2026-07-28", tmp_path)
    assert (direct["version"], direct["asked"]) == ("2026-07-28", ASKED)
    assert direct["results"][:-1] == RESULTS
    document = show(capsys, tmp_path / "run.jsonl")
    calls = [c for c in document["calls"] if c["method"] == "tools/call"]
    both = "form accept by client, echo same"
    assert [story(call) for call in calls] == [
        "add, first, ok",
        f"book, first, {both}, state, {both}, state, ok",
        f"book, first, {both}, state, form decline by client, echo same, state, ok",
        "sign_in, first, url accept by client, echo same, state, ok",
        "sign_in, first, url decline by client, echo same, state, ok",
        "nothing, first, error",
    ]
    assert {(c["era"], c["version"]) for c in calls} == {("stateless", "2026-07-28")}
    assert {(c["client"], c["server"]) for c in calls} == {("peer-client/1", "peer-py")}
    states = [r["request_state"]["bytes"] for r in calls[1]["rounds"]]
    assert states[0] > 100
    assert states[1] > 100
    assert states[2] == 0
    assert [ask["message"] for c in calls for r in c["rounds"] for ask in r["asks"]] == ASKED
    capture = document["capture"]
    assert (capture["clean"], capture["lost"], capture["torn"]) == (True, 0, None)


async def test_asks_a_server_pushes_in_a_session_are_rounds_too(serving, tmp_path, capsys):
    direct = await played(CLIENT, serving(*SERVER), "legacy", tmp_path)
    assert (direct["version"], direct["asked"]) == ("2025-11-25", ASKED)
    assert direct["results"][:-1] == RESULTS
    document = show(capsys, tmp_path / "run.jsonl")
    calls = [c for c in document["calls"] if c["method"] == "tools/call"]
    accept = "form accept by client"
    assert [story(call) for call in calls] == [
        "add, first, ok",
        f"book, first, {accept}, keys, {accept}, keys, ok",
        f"book, first, {accept}, keys, form decline by client, keys, ok",
        "sign_in, first, url accept by client, keys, ok",
        "sign_in, first, url decline by client, keys, ok",
        "nothing, first, error",
    ]
    assert {(c["era"], c["version"]) for c in calls} == {("session", "2025-11-25")}
    others = [(e["verb"], e["method"]) for e in document["exchanges"]]
    assert sorted(others, key=str) == sorted(
        [("POST", "notifications/initialized"), ("GET", None), ("DELETE", None)], key=str
    )


async def test_what_is_seen_live_is_what_the_file_says(serving, tmp_path, capsys):
    view = Onlooker()
    path = tmp_path / "run.jsonl"
    tap = HttpRun(TapSettings(upstream=serving(*SERVER), port=0), capture=path, view=view)
    await tap.start()
    try:
        await outcome(*CLIENT, tap.url, "auto", tap.url, "legacy")
    finally:
        async with asyncio.timeout(BOUND):
            await tap.stop("end")
    live = [json.loads(machine.encode(machine.call_doc(c))) for _, c in sorted(view.calls.items())]
    assert live == sorted(show(capsys, path)["calls"], key=lambda call: call["call"])
    assert len([c for c in live if c["name"] == "book"]) == 4
