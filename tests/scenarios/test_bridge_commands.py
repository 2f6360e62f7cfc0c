"""`mcp-tap http --stdio` and `mcp-tap stdio --to` as people run them: whole processes."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from mcp_tap.capture.reader import open_path
from mcp_tap.core.records import Footer, Header, HttpRequest, Stderr
from tests.bounds import BOUND, wait_until
from tests.bridges import META, NEW, PLAIN, bridged
from tests.shim import PATIENT, TAP, is_alive, started

FIELDS = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
    "MCP-Protocol-Version": NEW,
    "Mcp-Method": "tools/call",
}


def call(url, name, **arguments):
    """Call a tool of the plain server; give its result."""
    params = {"name": name, "arguments": arguments, "_meta": META}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    head = FIELDS | {"Mcp-Name": name}
    request = urllib.request.Request(url, json.dumps(body).encode(), head)
    with urllib.request.urlopen(request, timeout=BOUND) as response:
        return json.load(response)["result"]


class Served:
    """A tap that serves the plain server over HTTP."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.capture = folder / "run.jsonl"
        ready = folder / "ready.json"
        line = [*TAP, "http", "--stdio", shlex.join(PLAIN), "-l", "0", "-w", str(self.capture)]
        self.process = subprocess.Popen(
            [*line, "--ready-file", str(ready), *options], stderr=subprocess.PIPE
        )
        wait_until(ready.exists)
        self.url = json.loads(ready.read_text(encoding="utf-8"))["url"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate(timeout=BOUND)

    def end(self, number: int = signal.SIGTERM) -> str:
        """Send a signal; give what was said on stderr."""
        self.process.send_signal(number)
        _, err = self.process.communicate(timeout=BOUND)
        return err.decode()


def test_what_passes_is_recorded_and_shown_and_nothing_is_left(tmp_path):
    with Served(tmp_path, "--view", "text") as served:
        pid = call(served.url, "pid")["pid"]
        assert served.url.endswith("/mcp")
        call(served.url, "noise")
        err = served.end()
        assert served.process.returncode == 0
    wait_until(lambda: not is_alive(pid))
    assert f"{served.url} -> {shlex.join(PLAIN)}" in err
    assert "server: and this is stderr" in err
    records = list(open_path(served.capture))
    header = records[0]
    assert isinstance(header, Header)
    assert (header.transport, header.upstream) == ("http", shlex.join(PLAIN))
    assert [r.payload() for r in records if isinstance(r, Stderr)] == [b"and this is stderr"]
    assert len([r for r in records if isinstance(r, HttpRequest)]) == 2
    assert isinstance(records[-1], Footer)


def test_the_servers_end_with_a_tap_that_is_killed(tmp_path):
    with Served(tmp_path, "-q") as served:
        pid = call(served.url, "pid")["pid"]
        served.end(signal.SIGKILL)
    wait_until(lambda: not is_alive(pid))


def test_a_command_beside_it_gets_the_address_and_gives_the_code(tmp_path):
    code = "import os, sys; sys.exit(7 if os.environ['MCP_TAP_URL'].endswith('/mcp') else 1)"
    line = [*TAP, "http", "--stdio", shlex.join(PLAIN), "-l", "0", "-w", str(tmp_path / "r.jsonl")]
    done = subprocess.run(
        [*line, "-q", "--", sys.executable, "-c", code], check=False, timeout=BOUND
    )
    assert done.returncode == 7


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["http"], "there is no server to put the tap in front of"),
        (["http", "http://x/", "--stdio", "cat"], "URL and --stdio are two servers"),
        (["http", "--stdio", "cat", "-H", "A: b"], "--header is about a URL"),
        (["http", "--stdio", "cat", "--upstream-command", "x"], "--upstream-command is about"),
        (["http", "--stdio", "no-such-thing"], "there is no command no-such-thing"),
        (["http", "--stdio", "a | b"], "--stdio has | in it"),
        (["http", "--stdio", ""], "--stdio is empty"),
        (["stdio", "--to", "nowhere"], "nowhere is no upstream URL"),
        (["stdio", "--to", "http://x/", "--", "cat"], "--to and -- COMMAND are two servers"),
    ],
)
def test_a_line_that_cannot_be_meant_is_refused(tmp_path, words, said):
    done = subprocess.run(
        [*TAP, *words], capture_output=True, text=True, check=False, timeout=BOUND, cwd=tmp_path
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


async def test_a_client_of_an_http_server_sees_a_server_that_ends_as_others_do(tmp_path):
    async def answer(posted):
        return posted.result(headers=dict(posted.headers))

    async with bridged(answer) as other:
        url = str(other._client._wire._url)
        line = [*PATIENT, "stdio", "--to", url, "-H", "X-Y: z", "-w", str(tmp_path / "run.jsonl")]

        def talk():
            with started(line, tmp_path / "run.jsonl") as running:
                meta = {"_meta": META}
                body = {"jsonrpc": "2.0", "id": "a", "method": "x", "params": meta}
                answer = json.loads(running.ask(json.dumps(body).encode() + b"\n"))
                code = running.end()
                return answer, code, running.err, running.header().upstream

        found, code, err, upstream = await asyncio.to_thread(talk)
    assert found["result"]["headers"]["X-Y"] == "z"
    assert (found["id"], code, err, upstream) == ("a", 0, b"", url)


def test_a_server_that_is_not_there_is_an_error_for_each_request(tmp_path):
    line = [*PATIENT, "stdio", "--to", "http://127.0.0.1:1/mcp", "-w", str(tmp_path / "run.jsonl")]
    with started(line, tmp_path / "run.jsonl") as running:
        answer = json.loads(running.ask())
        assert answer["id"] == 1
        assert "connection refused" in answer["error"]["message"]
        assert running.end() == 0


def test_a_signal_ends_a_bridge_in_order(tmp_path):
    line = [*PATIENT, "stdio", "--to", "http://127.0.0.1:1/mcp", "-w", str(tmp_path / "run.jsonl")]
    with started(line, tmp_path / "run.jsonl", env={**os.environ}) as running:
        running.ask()
        assert running.end(signal.SIGTERM) == 0
