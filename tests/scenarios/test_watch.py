"""`mcp-tap watch` beside taps that clients start, restart and kill: real processes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time

import pytest

from tests.shim import PATIENT, TAP, Shim, python, started

ANSWERS = python(
    "import json\n"
    "for line in sys.stdin:\n"
    " asked = json.loads(line)\n"
    " result = {'resultType': 'complete', 'content': []}\n"
    " print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'result': result}), flush=True)"
)
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "ide", "version": "1.0"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
SOON = 1.0
"""Seconds within which a call is told, where the machine has a moment for it."""


class Watch:
    """A running `watch --json`."""

    def __init__(self, running):
        self.shim = running
        self.calls = []

    def next(self):
        """Wait for a call; give its run without the time, its number and its name."""
        doc = json.loads(self.shim.line())
        run = doc["run"].partition("-")[2].rpartition("-")[0]
        self.calls.append(doc)
        return run, doc["call"], doc["name"]


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def client(home):
    """Starts taps as a client does, each a process with a capture of its own."""
    env = {**os.environ, "MCP_TAP_HOME": str(home)}
    with contextlib.ExitStack() as stack:

        def start(label, *options):
            line = [*PATIENT, "stdio", "--label", label, *options, "--", *ANSWERS]
            return stack.enter_context(started(line, home, env=env))

        yield start


@pytest.fixture
def watch(home):
    env = {**os.environ, "MCP_TAP_HOME": str(home)}
    with contextlib.ExitStack() as stack:

        def start(*args):
            line = [*TAP, "watch", "--json", *args]
            return Watch(stack.enter_context(started(line, home, env=env)))

        yield start


def call(shim: Shim, number: int, tool: str) -> None:
    params = {"name": tool, "arguments": {}, "_meta": META}
    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    assert json.loads(shim.ask(json.dumps(message).encode() + b"\n"))["id"] == number


def test_several_servers_of_a_client_are_followed_at_once_and_through_restarts(client, watch):
    seen = watch()
    assert b"waiting for one" in seen.shim.said(b"\n")
    files, github = client("files"), client("github")
    call(files, 1, "read_file")
    assert seen.next() == ("files", 1, "read_file")
    call(github, 1, "create_issue")
    assert seen.next() == ("github", 1, "create_issue")
    assert files.end() == 0
    files = client("files")
    call(files, 1, "write_file")
    assert seen.next() == ("files", 1, "write_file")
    call(github, 2, "close_issue")
    assert seen.next() == ("github", 2, "close_issue")
    assert len({doc["run"] for doc in seen.calls}) == 3
    assert seen.shim.end(signal.SIGINT) == 0


def test_a_killed_tap_ends_its_run_and_the_next_one_is_followed(client, watch):
    files = client("files")
    seen = watch()
    call(files, 1, "read_file")
    assert seen.next() == ("files", 1, "read_file")
    files.process.kill()
    assert b"the run was killed" in seen.shim.said(b"killed\n")
    call(client("files"), 1, "write_file")
    assert seen.next() == ("files", 1, "write_file")


def test_only_runs_with_the_label_asked_for_are_told(client, watch):
    seen = watch("--label", "git*")
    call(client("files"), 1, "read_file")
    call(client("github"), 1, "create_issue")
    assert seen.next() == ("github", 1, "create_issue")


def test_a_run_in_parts_is_followed_to_its_end(client, watch):
    files = client("files", "--rotate", "2k")
    seen = watch()
    for number in range(1, 21):
        call(files, number, f"tool{number}")
    assert [seen.next()[1] for _ in range(20)] == list(range(1, 21))


def test_a_file_that_is_not_there_yet_is_followed_through_the_runs_in_it(client, watch, tmp_path):
    path = tmp_path / "run.jsonl"
    seen = watch(str(path), "--stay")
    assert b"waiting for it" in seen.shim.said(b"\n")
    for label in ("first", "second"):
        path.unlink(missing_ok=True)
        server = client(label, "-w", str(path))
        call(server, 1, "read_file")
        assert seen.next() == (label, 1, "read_file")
        assert server.end() == 0


def test_the_lines_of_a_run_that_was_named_end_with_it(client, watch, tmp_path):
    path = tmp_path / "run.jsonl"
    seen = watch(str(path))
    server = client("files", "-w", str(path))
    call(server, 1, "read_file")
    assert seen.next() == ("files", 1, "read_file")
    server.end()
    assert seen.shim.ended() == 0


def test_a_call_is_told_soon(client, watch):
    files, others = client("files"), [client(f"other{n}") for n in range(3)]
    for other in others:
        call(other, 1, "noise")
    seen = watch()
    for _ in others:
        seen.next()
    took = []
    for number in range(1, 11):
        call(files, number, "read_file")
        begun = time.monotonic()
        assert seen.next()[0] == "files"
        took.append(time.monotonic() - begun)
    assert min(took) < SOON
