"""The replay over stdio, as the process that a client starts."""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path

from mcp_tap.replay.server.lines import LinesOutlet, command_line
from tests.bounds import BOUND

CAPTURES = Path(__file__).parents[4] / "captures"


def served(*lines, capture="py-py-2026.jsonl", on_miss="error"):
    command = command_line(
        [str(CAPTURES / capture)], after_last="repeat", on_miss=on_miss, pace=None
    )
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    done = subprocess.run(command, input=data, capture_output=True, timeout=BOUND)
    return done, [json.loads(line) for line in done.stdout.splitlines()]


def test_lines_get_what_was_recorded_over_http():
    call = {"name": "echo", "arguments": {"text": "héllo 🐍"}}
    done, lines = served({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": call})
    assert done.returncode == 0
    assert [(line["id"], line["result"]["content"][0]["text"]) for line in lines] == [
        ("a", "echo:héllo 🐍")
    ]


def test_what_was_not_recorded_is_told_on_stderr_and_by_the_exit_code():
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "nothing"}}
    done, lines = served(call, {**call, "id": 2})
    assert done.returncode == 1
    assert [line["error"]["code"] for line in lines] == [-31998, -31998]
    assert done.stderr.decode().count("error[not-recorded]") == 1


def test_a_capture_that_cannot_be_read_is_an_error_of_usage():
    done, lines = served(capture="none.jsonl")
    assert (done.returncode, lines) == (2, [])
    assert b"error[" in done.stderr


def test_a_pushed_ask_waits_for_the_answer_and_the_answer_chooses():
    asked = {"jsonrpc": "2.0", "id": 3, "method": "tools/call"}
    asked["params"] = {"name": "push_form", "arguments": {}}
    decline = {"jsonrpc": "2.0", "id": 2, "result": {"action": "decline"}}
    lines = served(asked, {**decline, "id": 0}, capture="ts-ts-2025.jsonl")[1]
    assert lines[0]["method"] == "elicitation/create"
    decline["id"] = lines[0]["id"]
    lines = served(asked, decline, capture="ts-ts-2025.jsonl")[1]
    assert lines[1]["id"] == 3
    assert "decline" in lines[1]["result"]["content"][0]["text"]


def test_an_answer_that_was_no_message_becomes_an_error_on_a_line():
    out = io.BytesIO()
    outlet = LinesOutlet(out, {"id": 4, "method": "tools/call"})
    outlet.head(401, "Unauthorized", [])
    outlet.other(b"who are you", None, comment=False)
    outlet.end()
    error = json.loads(out.getvalue())
    assert error["id"] == 4
    assert error["error"]["message"] == ("the recorded answer is HTTP 401, no message: who are you")


def test_a_message_with_line_breaks_is_one_line():
    out = io.BytesIO()
    outlet = LinesOutlet(out, {"id": 4, "method": "x"})
    outlet.message(b'{\n"id": 4,\r\n"result": {}}', None)
    outlet.end()
    assert out.getvalue().count(b"\n") == 1
    assert json.loads(out.getvalue()) == {"id": 4, "result": {}}
