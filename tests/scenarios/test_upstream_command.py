"""`mcp-tap http URL --upstream-command CMD` as CI runs it: whole processes, ports, exit codes."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import socket
import sys
import time
from pathlib import Path

import pytest

from tests.bounds import BOUND
from tests.peers.programs import free_port

ROOT = Path(__file__).parents[2]
STORY = (
    "import asyncio, os; from mcp_tap.demo.story import play; "
    "asyncio.run(play(os.environ['MCP_TAP_URL'], pause=0))"
)


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def demo(port):
    return shlex.join([sys.executable, "-m", "mcp_tap.demo.server", "--port", str(port)])


@pytest.fixture
def tap(tmp_path, monkeypatch):
    """Start `mcp-tap http` on a free port in a folder of its own, for a server on `port`."""
    monkeypatch.chdir(tmp_path)
    running = []

    async def start(port, *words):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "mcp_tap", "http", f"http://127.0.0.1:{port}/mcp", "-l", "0"),
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        running.append(process)
        return process

    yield start
    for process in running:
        if process.returncode is None:
            process.kill()


async def end(process):
    async with asyncio.timeout(BOUND):
        out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


async def until(condition, process=None):
    limit = time.monotonic() + BOUND
    while not condition():
        assert process is None or process.returncode is None, await end(process)
        assert time.monotonic() < limit, "did not happen in time"
        await asyncio.sleep(0.01)


async def test_one_line_starts_the_server_runs_the_command_and_stops_both(tap):
    port = free_port()
    child = [sys.executable, "-c", STORY + "; print('done')"]
    process = await tap(
        port, "-w", "run.jsonl", "--upstream-command", demo(port), "--check", "--", *child
    )
    code, out, err = await end(process)
    assert code == 1  # the demo breaks a rule on purpose
    assert out == "done\n"
    assert err.startswith(f"server: http://127.0.0.1:{port}/mcp\n")
    assert "missing-result-type" in err
    assert err.splitlines()[-1].strip().endswith("mcp-tap check run.jsonl")
    assert not listens(port)


@pytest.mark.parametrize(("script", "code"), [("pass", 0), ("raise SystemExit(7)", 7)])
async def test_exit_code_is_the_commands(tap, script, code):
    port = free_port()
    process = await tap(port, "--upstream-command", demo(port), "--", sys.executable, "-c", script)
    assert (await end(process))[0] == code
    assert not listens(port)


async def test_command_does_not_run_where_the_server_does_not_come_up(tap, tmp_path):
    port = free_port()
    ill = shlex.join([sys.executable, "-c", "raise SystemExit('no database')"])
    child = [sys.executable, "-c", "open('ran', 'w')"]
    process = await tap(port, "-w", "run.jsonl", "--upstream-command", ill, "--", *child)
    code, out, err = await end(process)
    assert (code, out) == (2, "")
    assert "server: no database\nerror[upstream-ended]: the server exited with code 1" in err
    assert "it printed last: no database" in err
    assert list(tmp_path.iterdir()) == []


async def test_server_is_stopped_where_the_tap_cannot_begin(tap):
    port = free_port()
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = str(other.getsockname()[1])
        process = await tap(port, "--upstream-command", demo(port), "-l", taken)
        code, _, err = await end(process)
    assert code == 2
    assert "error[port-taken]" in err
    assert not listens(port)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_signal_ends_tap_and_server(tap, tmp_path, number):
    port = free_port()
    process = await tap(port, "--ready-file", "ready.json", "--upstream-command", demo(port))
    await until((tmp_path / "ready.json").exists, process)
    assert listens(port)
    process.send_signal(number)
    assert (await end(process))[0] == 0
    assert not listens(port)


async def test_signal_while_the_server_starts_ends_it(tap, tmp_path):
    script = "import time; open('up', 'w').close(); time.sleep(60)"
    nap = shlex.join([sys.executable, "-c", script])
    process = await tap(free_port(), "--upstream-command", nap, "--", "true")
    await until((tmp_path / "up").exists, process)
    process.send_signal(signal.SIGTERM)
    assert (await end(process))[0] == 128 + signal.SIGTERM


async def test_server_ends_where_the_tap_is_killed_outright(tap, tmp_path):
    port = free_port()
    process = await tap(port, "--ready-file", "ready.json", "--upstream-command", demo(port))
    await until((tmp_path / "ready.json").exists, process)
    process.kill()
    await end(process)
    await until(lambda: not listens(port))


async def test_server_that_ends_in_the_middle_is_told(tap, tmp_path):
    port = free_port()
    script = (
        "import os, socket\n"
        f"s = socket.create_server(('127.0.0.1', {port}))\n"
        "while True:\n"
        "    c = s.accept()[0]\n"
        "    if c.recv(9): os._exit(3)\n"
    )
    child = (
        "import os, urllib.request as u\n"
        "try: u.urlopen(os.environ['MCP_TAP_URL'], b'{}')\n"
        "except OSError as e: print(e)\n"
    )
    command = shlex.join([sys.executable, "-c", script])
    process = await tap(port, "--upstream-command", command, "--", sys.executable, "-c", child)
    code, _, err = await end(process)
    assert code == 0
    assert "the server exited with code 3" in err


async def test_quiet_is_quiet_but_errors_still_quote_the_server(tap):
    port = free_port()
    process = await tap(port, "-q", "--upstream-command", demo(port), "--", "true")
    assert await end(process) == (0, "", "")
    ill = shlex.join([sys.executable, "-c", "raise SystemExit('no database')"])
    process = await tap(port, "--json", "-q", "--upstream-command", ill, "--", "true")
    code, _, err = await end(process)
    assert code == 2
    assert json.loads(err)["error"]["why"].endswith("it printed last: no database")


def test_projects_file_may_not_start_a_server(tmp_path, monkeypatch, capsys):
    from mcp_tap.cli.main import run

    monkeypatch.chdir(tmp_path)
    Path("mcp-tap.toml").write_text('[http]\nupstream-command = "touch owned"\n')
    assert run(["http", "http://127.0.0.1:9/mcp"]) == 2
    err = capsys.readouterr().err
    assert "error[setting-not-trusted]" in err
    assert "it would run code that came with the repository" in err
