from __future__ import annotations

import asyncio
import os
import shlex
import socket
import sys
import textwrap
import time

import pytest

from mcp_tap.cli import upstream, upstream_lines, upstream_words
from mcp_tap.cli.upstream import UpstreamServer
from mcp_tap.cli.upstream_words import words_of
from mcp_tap.errors import UpstreamError, UsageError
from mcp_tap.net.target import parse_target
from tests.bounds import BOUND, until
from tests.peers.programs import free_port

SERVE = """
    import os, signal, socket, sys, time
    server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    print("up", flush=True)
"""
WAIT = "    while True: time.sleep(0.01)\n"


def server(script, *, port=None, wait=BOUND, on_end=None):
    """Give a server that runs this script, and the lines it prints."""
    lines = []
    port = free_port() if port is None else port
    words = [sys.executable, "-c", textwrap.dedent(script), str(port)]
    target = parse_target(f"http://127.0.0.1:{port}/mcp")
    return UpstreamServer(words, target, show=lines.append, wait=wait, on_end=on_end), lines


def is_alive(pid):
    """Tell whether a process runs; one that only waits to be collected does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:  # noqa: PTH123 - as short
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize(
    ("command", "code", "what"),
    [
        ("", "usage", "is empty"),
        ("   ", "usage", "is empty"),
        ("node 'server.js", "usage", "cannot be read"),
        ("PORT=3000 node server.js", "usage", "begins with a variable"),
        ("cd server && node server.js", "usage", "has && in it"),
        ("A=1 b | c", "usage", "has | in it"),
        ("no-such-program --port 1", "command-not-found", "there is no command no-such-program"),
    ],
)
def test_command_that_cannot_be_started_is_told_before_anything_runs(command, code, what):
    with pytest.raises(UsageError) as error:
        words_of(command)
    assert error.value.code == code
    assert what in error.value.what


def test_what_needs_a_shell_is_shown_with_one():
    with pytest.raises(UsageError) as error:
        words_of("cd a && run 'b c'")
    command = error.value.help.removeprefix("--upstream-command ")
    (whole,) = shlex.split(command)
    assert shlex.split(whole) == ["sh", "-c", "cd a && run 'b c'"]
    with pytest.raises(UsageError) as error:
        words_of("PORT=1 node x")
    assert error.value.help == "--upstream-command 'env PORT=1 node x'"


def test_command_is_divided_as_a_shell_divides_it():
    assert words_of("sh -c 'a  b' \"c d\"") == ["sh", "-c", "a  b", "c d"]


async def test_server_is_ready_when_it_accepts_and_gone_when_stopped():
    one, lines = server(SERVE + WAIT)
    assert await one.start()
    assert one._process is not None
    pid = one._process.pid
    assert os.getpgid(pid) == pid
    assert os.getsid(pid) == pid
    await until(lambda: lines == ["up"])
    await one.stop()
    assert not is_alive(pid)
    await one.stop()


async def test_what_it_prints_is_harmless_and_comes_in_lines():
    script = r"""
    import sys
    sys.stderr.write("from stderr\r\n")
    sys.stderr.flush()
    sys.stdout.buffer.write(b"a \x1b[2Jb\n\xff\nlong" + b"x" * 400000 + b"\nno end")
    """
    one, lines = server(script)
    with pytest.raises(UpstreamError):
        await one.start()
    assert lines[:3] == ["from stderr", r"a \x1b[2Jb", "\ufffd"]
    assert "".join(lines[3:-1]) == "long" + "x" * 400_000
    assert max(map(len, lines)) < 100_000
    assert lines[-1] == "no end"


async def test_end_before_it_accepts_is_told_at_once_with_its_last_words():
    script = "import sys; [print('line', n) for n in range(9)]; sys.exit('no database')"
    one, _ = server(script, wait=60)
    with pytest.raises(UpstreamError) as error:
        async with asyncio.timeout(BOUND):
            await one.start()
    assert error.value.code == "upstream-ended"
    assert "exited with code 1 before it accepted" in error.value.what
    assert error.value.why.endswith("line 5 | line 6 | line 7 | line 8 | no database")


async def test_end_by_signal_is_named():
    one, _ = server("import os; os.kill(os.getpid(), 9)")
    with pytest.raises(UpstreamError, match="was ended by SIGKILL before"):
        await one.start()


async def test_server_that_never_accepts_is_given_up_and_stopped():
    one, _ = server("import time; print('elsewhere', flush=True); time.sleep(60)", wait=0.5)
    with pytest.raises(UpstreamError) as error:
        await one.start()
    assert error.value.code == "upstream-not-ready"
    assert "after 500ms" in error.value.what
    assert "--upstream-wait" in error.value.help
    assert one._process is not None
    assert not is_alive(one._process.pid)


async def test_port_that_is_taken_starts_nothing(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        one, _ = server("open('started', 'w')", port=other.getsockname()[1])
        with pytest.raises(UpstreamError) as error:
            await one.start()
    assert error.value.code == "upstream-port-taken"
    assert one._process is None
    await one.stop()


async def test_connection_to_oneself_is_no_server(monkeypatch):
    async def dial(host, port):
        return await own(host, port, local_addr=(host, port))

    own = asyncio.open_connection
    monkeypatch.setattr(asyncio, "open_connection", dial)
    one, _ = server("")
    assert not await one._accepts()


async def test_waiting_ends_when_it_is_given_up():
    one, _ = server("import signal; signal.pause()", wait=60)
    async with asyncio.timeout(BOUND):
        assert not await one.start(lambda: one._process is not None)
    assert one._process is not None
    assert not is_alive(one._process.pid)


async def test_all_it_started_is_stopped_with_it(tmp_path):
    script = SERVE + (
        "    import subprocess\n"
        "    nap = [sys.executable, '-c', 'import time; time.sleep(60)']\n"
        f"    child = subprocess.Popen(nap, stdout=open({str(tmp_path / 'out')!r}, 'w'))\n"
        "    print(child.pid, flush=True)\n"
    )
    one, lines = server(script + WAIT)
    assert await one.start()
    await until(lambda: len(lines) == 2)
    await one.stop()
    assert not is_alive(int(lines[1]))


async def test_server_that_ignores_the_signal_is_killed(monkeypatch):
    monkeypatch.setattr(upstream, "GRACE", 0.2)
    script = "\n    import signal\n    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SERVE
    one, _ = server(script + "    while True: signal.pause()\n")
    assert await one.start()
    assert one._process is not None
    before = time.monotonic()
    await one.stop()
    assert time.monotonic() - before >= 0.2
    assert not is_alive(one._process.pid)


async def test_nothing_is_waited_for_in_a_hurry(monkeypatch):
    monkeypatch.setattr(upstream, "GRACE", 2 * BOUND)
    script = "\n    import signal\n    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SERVE
    one, _ = server(script + "    while True: signal.pause()\n")
    assert await one.start()
    async with asyncio.timeout(BOUND):
        await one.stop(lambda: True)


async def test_last_words_on_the_way_out_are_shown():
    handler = """
    import os, signal
    signal.signal(signal.SIGTERM, lambda *_: (print('bye', flush=True), os._exit(0)))
    """
    one, lines = server(handler + SERVE + WAIT)
    assert await one.start()
    await until(lambda: lines == ["up"])
    await one.stop()
    assert lines == ["up", "bye"]


async def test_end_in_the_middle_is_told_once():
    ends = []
    # Who only looks whether it is up sends nothing.
    script = SERVE + "    while not server.accept()[0].recv(1): pass\n    sys.exit(3)\n"
    one, _ = server(script, on_end=ends.append)
    assert await one.start()
    _, writer = await asyncio.open_connection(one._target.host, one._target.port)
    writer.write(b"x")
    await until(lambda: ends)
    writer.close()
    await one.stop()
    assert len(ends) == 1
    assert ends[0].startswith("the server exited with code 3: ")


async def test_server_does_not_outlive_us_where_we_are_killed_outright():
    one, _ = server(SERVE + WAIT)
    assert await one.start()
    assert one._process is not None
    assert one._process.stdin is not None
    one._process.stdin.close()  # as the system does then
    await until(lambda: not is_alive(one._process.pid))
    await one.stop()


def test_command_is_run_as_it_is_where_no_shell_can_guard_it(monkeypatch):
    assert upstream_words.guarded(["a", "b c"])[-2:] == ["a", "b c"]
    monkeypatch.setattr(upstream_words, "_SHELL", "/no/such/shell")
    assert upstream_words.guarded(["a", "b c"]) == ["a", "b c"]


async def test_without_a_command_nothing_is_done():
    target = parse_target("http://127.0.0.1:9/mcp")
    one = UpstreamServer(None, target, show=print)
    assert await one.start()
    await one.stop()
    assert one._process is None


def test_line_for_stderr_is_marked(capfd):
    upstream_lines.to_stderr("hello")
    assert capfd.readouterr().err == "server: hello\n"


def test_lines_wait_while_a_person_is_typing(capfd, monkeypatch):
    monkeypatch.setattr(upstream_lines, "MOST_KEPT", 2)
    lines = upstream_lines.ServerLines()
    lines("before")
    with lines.held():
        with lines.held():
            lines("one")
        for each in ("two", "three"):
            lines(each)
        assert capfd.readouterr().err == "server: before\n"
    lines("after")
    shown = ["(1 line not shown)", "two", "three", "after"]
    assert capfd.readouterr().err.splitlines() == [f"server: {line}" for line in shown]
