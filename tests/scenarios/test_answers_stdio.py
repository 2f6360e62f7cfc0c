"""A client that can answer nothing, over stdio, before servers that ask: real processes."""

from __future__ import annotations

import contextlib
import json

import pytest

from mcp_tap.capture.reader import open_path
from mcp_tap.cli.main import run
from mcp_tap.core.records import Decision, Message
from tests import mute
from tests.asking import request
from tests.mute import CLIENT, SCRIPT, saw_all, was_answered
from tests.peers.programs import outcome
from tests.shim import ECHO, HURRIED, PATIENT, PING, shim
from tests.shim import python as small

SERVER = [*mute.SERVER, "--stdio"]
DAY = 'version = 1\n[[answer]]\nname = "the day"\nmatch = { key = "day" }\nfill = ["default"]\n'
ASKING = """
import json

def say(**m):
    data = json.dumps({"jsonrpc": "2.0", **m}).encode() + b"\\n"
    while data: data = data[os.write(O, data):]

def lines():
    rest = b""
    while data := os.read(I, 65536):
        *whole, rest = (rest + data).split(b"\\n")
        yield from map(json.loads, whole)

def ask(m, n):
    day = {"type": "string", "default": f"day {n}"}
    form = {"mode": "form", "message": "Which?", "requestedSchema":
        {"type": "object", "properties": {"day": day}}}
    say(id=m["id"], result={"resultType": "input_required", "requestState": f"s{n}",
        "inputRequests": {"day": {"method": "elicitation/create", "params": form}}})

def done(m, text):
    say(id=m["id"], result={"resultType": "complete", "content": [{"type": "text", "text": text}]})
"""
ONE_BY_ONE = """
for m in lines():
    said = m["params"].get("inputResponses")
    if said: done(m, said["day"]["content"]["day"] + " " + m["params"]["requestState"])
    else: ask(m, m["id"])
"""


def scripted(folder, text=DAY):
    return mute.scripted(folder, text)


@contextlib.contextmanager
def called(server, folder, *options, script=DAY, **how):
    """Call a server that goes on like this, by a tap that answers for the client."""
    options = ["-a", scripted(folder, script), *options]
    with shim(small(ASKING + server), folder, *options, **how) as running:
        running.send(request(7) + b"\n")
        yield running


def text_of(line):
    return json.loads(line)["result"]["content"][0]["text"]


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_everything_that_asks_completes_for_a_client_that_declares_nothing(
    tmp_path, capsys, mode
):
    script, path = scripted(tmp_path, SCRIPT), tmp_path / "run.jsonl"
    options = ["-a", script, "--strict-answers", "-w", str(path)]
    tapped = [*PATIENT, "stdio", *options, "--", *SERVER]
    (found,) = await outcome(*CLIENT, json.dumps(tapped), mode)
    saw_all(found, mode)
    was_answered(path, capsys)
    assert run(["answers", "test", script, str(path)]) == 0


def test_many_calls_at_once_never_cross(tmp_path):
    server = small(
        ASKING + "held = []\n"
        "for m in lines():\n"
        "    said = m['params'].get('inputResponses')\n"
        "    if not said: held.append(m)\n"
        "    else: done(m, said['day']['content']['day'] + ' ' + m['params']['requestState'])\n"
        "    while len(held) >= 200:\n"
        "        for m in reversed(held): ask(m, m['id'])\n"
        "        held = []\n"
    )
    with shim(server, tmp_path, "-a", scripted(tmp_path), "--check") as running:
        for number in range(200):
            running.send(request(number) + b"\n")
        found = {}
        for _ in range(200):
            line = running.line()
            found[json.loads(line)["id"]] = text_of(line)
        assert found == {number: f"day {number} s{number}" for number in range(200)}
        assert running.end() == 0, running.err
    senders = [r.sender for r in running.records() if isinstance(r, Message)]
    assert senders.count("tap") == 400


def test_a_large_result_behind_a_round_has_the_clients_id(tmp_path):
    server = (
        "for m in lines():\n"
        "    if m['params'].get('inputResponses'): done(m, 'x' * (9 << 20))\n"
        "    else: ask(m, 1)\n"
    )
    with called(server, tmp_path) as running:
        line = running.line()
        assert json.loads(line)["id"] == 7
        assert len(text_of(line)) == 9 << 20
        assert running.end() == 0


def test_a_server_that_dies_within_a_call_is_told_and_its_code_is_given(tmp_path):
    server = (
        "for m in lines():\n    if m['params'].get('inputResponses'): sys.exit(3)\n    ask(m, 1)\n"
    )
    with called(server, tmp_path) as running:
        error = json.loads(running.line())
        assert (error["id"], error["error"]["data"]["error"]) == (7, "upstream-lost")
        assert running.at_eof()
        assert running.ended() == 3
    assert running.records()[-1].how == "child"


def test_a_client_that_leaves_within_a_call_ends_the_run(tmp_path):
    server = (
        "for m in lines():\n"
        "    if not m['params'].get('inputResponses'): ask(m, 1)\n"
        "    else: os.write(E, b'asked again\\n')\n"
    )
    with called(server, tmp_path, tap=HURRIED) as running:
        running.said(b"asked again")
        assert running.end() == 0
    assert running.records()[-1].how == "end"
    assert [r.verdict for r in running.records() if isinstance(r, Decision)] == ["answered"]


def test_a_call_that_takes_too_long_ends_with_an_error_and_code_1(tmp_path):
    server = (
        "for m in lines():\n"
        "    if m['method'] == 'notifications/cancelled':\n"
        "        os.write(E, json.dumps(m['params']).encode() + b'\\n')\n"
        "    elif not m['params'].get('inputResponses'): ask(m, 1)\n"
    )
    with called(server, tmp_path, "--answer-timeout", "0.2s") as running:
        error = json.loads(running.line())
        assert (error["id"], error["error"]["data"]["error"]) == (7, "answers-timeout")
        assert b"mcp-tap-" in running.said(b"requestId")
        assert running.end() == 1
        assert b"1 call FAILED at a limit" in running.err


def test_a_client_that_has_said_all_is_answered_before_the_servers_input_ends(tmp_path):
    with called(ONE_BY_ONE, tmp_path) as running:
        assert running.end() == 0
        assert text_of(running.out) == "day 7 s7"


def test_what_nothing_answers_fails_the_run_and_says_so(tmp_path):
    seat = DAY.replace('"day"', '"seat"')
    with called(ONE_BY_ONE, tmp_path, "--strict-answers", script=seat) as running:
        assert json.loads(running.line())["error"]["code"] == -31999
        assert running.end() == 1
        assert b"1 call FAILED for want of an answer" in running.err
        assert b"error[answer-unused]" in running.err


@pytest.mark.parametrize(
    ("strict", "code", "words"), [([], 0, b""), (["--strict-answers"], 1, b"was never used")]
)
def test_an_entry_that_was_never_used_fails_a_strict_run_and_is_else_not_told(
    tmp_path, strict, code, words
):
    with shim(ECHO, tmp_path, "-a", scripted(tmp_path), *strict) as running:
        running.ask()
        assert running.end() == code
        assert words in running.err
        assert bool(running.err) == bool(words)


def test_without_asks_nothing_changes_but_what_is_declared(tmp_path):
    options = ["-a", scripted(tmp_path), "--advertise", ""]
    lines = [PING, b"hello\r\n", b'{"id": 1.50}\n', request(7) + b"\r\n"]
    with shim(ECHO, tmp_path, *options, tap=HURRIED) as running:
        for line in lines:
            running.send(line)
            assert running.line() == line
        running.send(b"no end")
        running.close()
        assert running.at_eof()
        assert running.out == b"no end"


@pytest.mark.parametrize("script", ["version = 2\n", 'version = 1\nunmatched = "ask"\n'])
def test_a_script_that_cannot_be_used_stops_it_before_the_server_starts(tmp_path, script):
    mark = tmp_path / "started"
    server = small(f"open({str(mark)!r}, 'w')")
    with shim(server, tmp_path, "-a", scripted(tmp_path, script)) as running:
        assert running.ended() == 2
        assert b"error[" in running.err
    assert not mark.exists()
    assert not (tmp_path / "run.jsonl").exists()


def test_what_is_found_live_is_found_in_the_capture(tmp_path, capsys):
    with called(ONE_BY_ONE, tmp_path, "--view", "text") as running:
        running.line()
        assert running.end() == 0
    path = tmp_path / "run.jsonl"
    assert next(r for r in open_path(path) if isinstance(r, Decision)).entry == "the day"
    assert run(["check", str(path), "-f", "json", "--no-config"]) == 0
    found = [f["rule"] for f in json.loads(capsys.readouterr().out)["findings"]]
    assert found == ["META-006"]
    assert running.err.count(b"META-006") == 1
    assert b'by tap "the day"' in running.err
