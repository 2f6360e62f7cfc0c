"""`mcp-tap http` as a person runs it: real processes, a real upstream, signals and exit codes."""

# ruff: noqa: ASYNC240 - a test may poll and read small files

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
from pathlib import Path

import pytest

from tests.bounds import BOUND, until

ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{}}'
CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
GET_URL = "import os, urllib.request as u; u.urlopen(os.environ['MCP_TAP_URL']).read(); "


async def serve(reader, writer):
    """Answer every request of a connection with the same JSON."""
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            for line in head.lower().splitlines():
                if line.startswith(b"content-length:"):
                    await reader.readexactly(int(line.partition(b":")[2]))
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                % (len(ANSWER), ANSWER)
            )
            await writer.drain()
    writer.close()


@contextlib.asynccontextmanager
async def upstream(handler=serve):
    server = await asyncio.start_server(handler, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    finally:
        server.close()


class Tap:
    """A running `mcp-tap http`."""

    def __init__(self, process, ready):
        self.process = process
        self.ready = ready

    async def end(self, number=None):
        """Send a signal (or none), wait, and give code, stdout and stderr."""
        if number is not None:
            self.process.send_signal(number)
        async with asyncio.timeout(BOUND):
            out, err = await self.process.communicate()
        return self.process.returncode, out.decode(), err.decode()

    async def started(self):
        """Wait for the ready file and give what it says."""
        async with asyncio.timeout(BOUND):
            while not self.ready.exists():
                assert self.process.returncode is None, await self.end()
                await asyncio.sleep(0.01)
        return json.loads(self.ready.read_text())


@pytest.fixture
def tap(tmp_path, monkeypatch):
    """Start `mcp-tap http` on a free port, with a ready file and a capture in this folder."""
    monkeypatch.chdir(tmp_path)
    taps = []

    async def start(url, *args, listen="127.0.0.1:0", more=(), stdin=asyncio.subprocess.DEVNULL):
        words = ["http", url, "-l", listen, "--ready-file", "ready.json", *more]
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "mcp_tap",
            *words,
            *args,
            stdin=stdin,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        )
        taps.append(Tap(process, tmp_path / "ready.json"))
        return taps[-1]

    yield start
    for each in taps:
        if each.process.returncode is None:
            each.process.kill()


async def post(url, body=CALL):
    """Send one request through the tap and give the raw response."""
    host, _, port = url.split("/")[2].rpartition(":")
    reader, writer = await asyncio.open_connection(host.strip("[]"), int(port))
    writer.write(
        b"POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"
        b"Connection: close\r\nContent-Length: %d\r\n\r\n%s"
        % (url.split("/")[2].encode(), len(body), body)
    )
    async with asyncio.timeout(BOUND):
        answer = await reader.read()
    writer.close()
    return answer


def kinds(path):
    return [json.loads(line)["kind"] for line in Path(path).read_text().splitlines()]


async def test_ready_file_tells_where_the_tap_is_and_traffic_is_recorded(tap, tmp_path):
    async with upstream() as url:
        running = await tap(url, "-w", "run.jsonl", "--label", "shop")
        ready = await running.started()
        assert set(ready) == {"url", "web", "capture", "pid"}
        assert ready["url"].endswith("/mcp")
        assert (ready["web"], ready["pid"]) == (None, running.process.pid)
        assert ready["capture"] == str(tmp_path / "run.jsonl")
        assert (await post(ready["url"])).endswith(ANSWER)
        code, out, err = await running.end(signal.SIGTERM)
    assert code == 0
    assert "tools/list" in out
    assert err.splitlines()[0] == f"mcp-tap  {ready['url']} -> {url}"
    assert "1 exchange, 7 records, none lost" in err
    assert err.splitlines()[-1].strip() == "mcp-tap show run.jsonl"
    assert kinds("run.jsonl") == [
        "header",
        "http_request",
        "message",
        "http_response",
        "message",
        "closed",
        "footer",
    ]


async def test_without_a_file_the_capture_goes_to_the_captures_folder(tap):
    async with upstream() as url:
        running = await tap(url, "--label", "shop", "--view", "none")
        ready = await running.started()
        _, out, err = await running.end(signal.SIGTERM)
    assert out == ""
    assert Path(ready["capture"]).parent == Path(os.environ["MCP_TAP_HOME"])
    assert "-shop-" in Path(ready["capture"]).name
    assert ready["capture"] in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_signal_ends_it_cleanly_within_two_seconds_although_a_stream_is_open(tap, number):
    opened = asyncio.Event()

    async def stream(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n4\r\n: a\n\r\n"
        )
        opened.set()
        await reader.read()
        writer.close()

    async with upstream(stream) as url:
        running = await tap(url, "-w", "run.jsonl")
        ready = await running.started()
        request = asyncio.ensure_future(post(ready["url"]))
        async with asyncio.timeout(BOUND):
            await opened.wait()
        code, _, _ = await running.end(number)
        with contextlib.suppress(ConnectionError):
            await request
    assert code == 0
    records = [json.loads(line) for line in Path("run.jsonl").read_text().splitlines()]
    assert (records[-1]["kind"], records[-1]["how"]) == ("footer", "signal")


async def test_child_gets_the_url_and_the_tap_ends_with_it(tap):
    child = [sys.executable, "-c", GET_URL + "print('from the child')"]
    async with upstream() as url:
        running = await tap(url, "-w", "run.jsonl", "--", *child)
        code, out, err = await running.end()
    assert (code, out) == (0, "from the child\n")
    assert "1 exchange" in err
    footer = json.loads(Path("run.jsonl").read_text().splitlines()[-1])
    assert (footer["kind"], footer["how"]) == ("footer", "child")


async def test_views_lines_go_to_stderr_beside_a_child(tap):
    body = "data=b'" + CALL.decode() + "', headers={'Content-Type': 'application/json'}"
    script = (
        "import os, urllib.request as u; "
        f"u.urlopen(u.Request(os.environ['MCP_TAP_URL'], {body})).read()"
    )
    async with upstream() as url:
        running = await tap(url, "-w", "run.jsonl", "--", sys.executable, "-c", script)
        code, out, err = await running.end()
    assert (code, out) == (0, "")
    assert "tools/list" in err


async def test_childs_standard_streams_are_ours(tap):
    script = "import sys; sys.stdout.write(sys.stdin.read().upper()); sys.stderr.write('oops')"
    async with upstream() as url:
        running = await tap(
            url, "-q", "--", sys.executable, "-c", script, stdin=asyncio.subprocess.PIPE
        )
        async with asyncio.timeout(BOUND):
            out, err = await running.process.communicate(b"words")
    assert (out, err) == (b"WORDS", b"oops")


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("raise SystemExit(7)", 7),
        ("raise SystemExit(0)", 0),
        ("import os; os.kill(os.getpid(), 9)", 137),
    ],
)
async def test_exit_code_is_the_childs(tap, script, code):
    async with upstream() as url:
        running = await tap(url, "--", sys.executable, "-c", script)
        assert (await running.end())[0] == code


async def test_signal_is_passed_on_to_the_child(tap):
    script = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))\n"
        "open('up', 'w').close()\n"
        "time.sleep(60)\n"
    )
    async with upstream() as url:
        running = await tap(url, "-w", "run.jsonl", "--", sys.executable, "-c", script)
        await until(Path("up").exists)
        code, _, _ = await running.end(signal.SIGTERM)
    assert code == 5
    assert json.loads(Path("run.jsonl").read_text().splitlines()[-1])["how"] == "signal"


async def test_child_that_does_not_heed_the_signal_is_killed_in_time(tap):
    script = (
        "import signal, time\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "open('up', 'w').close()\n"
        "time.sleep(60)\n"
    )
    async with upstream() as url:
        running = await tap(url, "--", sys.executable, "-c", script)
        await until(Path("up").exists)
        code, _, _ = await running.end(signal.SIGINT)
    assert code == 137


async def test_command_that_is_not_there_is_told_before_anything_is_made(tap):
    running = await tap("http://127.0.0.1:9/mcp", "-w", "run.jsonl", "--", "no-such-command-here")
    code, out, err = await running.end()
    assert (code, out) == (2, "")
    assert err.startswith("error[command-not-found]: there is no command no-such-command-here\n")
    assert not Path("run.jsonl").exists()
    assert not running.ready.exists()


async def test_taken_port_is_answered_with_a_free_one(tap):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        running = await tap("http://localhost:3000/mcp", listen=str(port), more=["-w", "run.jsonl"])
        code, _, err = await running.end()
    assert code == 2
    lines = err.splitlines()
    assert lines[0] == f"error[port-taken]: 127.0.0.1:{port} is already in use"
    assert lines[1].startswith("  why:  ")
    command, _, free = lines[2].rpartition(" ")
    assert command == "  help: mcp-tap http http://localhost:3000/mcp --listen"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", int(free)))
    assert not Path("run.jsonl").exists()


async def test_a_tap_on_all_addresses_tells_one_that_can_be_dialled(tap):
    running = await tap("http://127.0.0.1:9/mcp", listen="0.0.0.0:0", more=["-w", "run.jsonl"])
    ready = await running.started()
    assert ready["url"].startswith("http://127.0.0.1:")
    _, _, err = await running.end(signal.SIGTERM)
    assert "--allow-host" in err


async def test_ready_file_of_an_earlier_run_is_taken_away_at_once(tap, tmp_path):
    (tmp_path / "ready.json").write_text('{"url":"http://127.0.0.1:1/mcp"}\n')
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        running = await tap("http://localhost:3000/mcp", listen=str(taken.getsockname()[1]))
        assert (await running.end())[0] == 2
    assert not running.ready.exists()


async def test_ipv6_loopback_can_be_listened_on(tap):
    with socket.socket(socket.AF_INET6) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            pytest.skip("this machine has no IPv6 loopback")
    async with upstream() as url:
        running = await tap(url, listen="[::1]:0")
        ready = await running.started()
        assert ready["url"].startswith("http://[::1]:")
        assert (await post(ready["url"])).endswith(ANSWER)
        assert (await running.end(signal.SIGTERM))[0] == 0


@pytest.mark.parametrize(
    ("url", "help"),
    [
        ("localhost:3000/mcp", "did you mean http://localhost:3000/mcp?"),
        ("ftp://localhost/mcp", ""),
        ("http://localhost/mcp#tools", ""),
        ("http:///mcp", ""),
    ],
)
async def test_url_that_cannot_be_an_upstream_is_told(tap, url, help):
    code, _, err = await (await tap(url, "-w", "run.jsonl")).end()
    assert code == 2
    assert err.startswith("error[bad-upstream]: ")
    assert f"help: {help}" in err
    assert not Path("run.jsonl").exists()


async def test_closed_standard_streams_change_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with upstream() as url:
        script = f"{sys.executable} -m mcp_tap http {url} -l 0 -w run.jsonl -- true <&- >&- 2>&-"
        environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        shell = await asyncio.create_subprocess_shell(script, env=environ)
        async with asyncio.timeout(BOUND):
            assert await shell.wait() == 0
    assert kinds("run.jsonl") == ["header", "footer"]


async def test_address_that_others_can_reach_is_warned_of(tap):
    async with upstream() as url:
        running = await tap(url, listen="0.0.0.0:0")
        await running.started()
        _, _, err = await running.end(signal.SIGTERM)
    assert err.startswith("warning: listening on 0.0.0.0: other machines can reach")


async def test_an_error_is_json_where_json_is_asked_for(tap):
    code, out, err = await (await tap("localhost:3000/mcp", "--json")).end()
    assert (code, out) == (2, "")
    assert json.loads(err)["error"]["code"] == "bad-upstream"


async def test_command_that_cannot_be_run_after_all_leaves_no_capture(tap):
    Path("script").write_text("#!/no/such/interpreter\n")
    Path("script").chmod(0o755)
    running = await tap("http://127.0.0.1:9/mcp", "-w", "run.jsonl", "--", "./script")
    code, _, err = await running.end()
    assert code == 2
    assert "error[command-not-found]: ./script cannot be run" in err
    assert not Path("run.jsonl").exists()


async def test_folder_that_is_not_there_is_not_made_of_a_mistyped_name(tap):
    code, _, err = await (await tap("http://127.0.0.1:9/mcp", "-w", "nope/x.jsonl")).end()
    assert code == 2
    assert err.startswith("error[capture-unwritable]: cannot create the capture nope/x.jsonl\n")
    assert err.endswith("  help: mkdir -p nope\n")
    assert not Path("nope").exists()


async def test_reader_of_the_view_that_leaves_is_told_and_recording_goes_on(tap):
    async with upstream() as url:
        running = await tap(url, "-w", "run.jsonl", "--view", "text")
        ready = await running.started()
        running.process._transport.get_pipe_transport(1).close()
        await post(ready["url"])
        said = b""
        async with asyncio.timeout(BOUND):
            while b"the view's reader is gone; still recording\n" not in said:
                said += await running.process.stderr.readline()
        await post(ready["url"])
        code, _, err = await running.end(signal.SIGINT)
    assert code == 0
    assert "gone" not in err
    assert kinds("run.jsonl").count("http_request") == 2


async def test_views_lines_are_written_whole_beside_a_child(tap):
    """A pipe of packets gives each write as it was."""
    if not hasattr(os, "pipe2"):
        pytest.skip("needs a pipe of packets")
    body = "data=b'" + CALL.decode() + "', headers={'Content-Type': 'application/json'}"
    script = (
        "import os, urllib.request as u\n"
        f"[u.urlopen(u.Request(os.environ['MCP_TAP_URL'], {body})).read() for _ in range(6)]\n"
    )
    ours, theirs = os.pipe2(os.O_DIRECT)
    async with upstream() as url:
        words = ["http", url, "-l", "0", "-w", "run.jsonl", "--", sys.executable, "-c", script]
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "mcp_tap", *words, stderr=theirs
        )
        os.close(theirs)
        async with asyncio.timeout(BOUND):
            assert await process.wait() == 0
    writes = list(iter(lambda: os.read(ours, 4096), b""))
    os.close(ours)
    assert len(writes) > 6
    assert all(each.endswith(b"\n") for each in writes)


async def test_ready_file_that_cannot_be_written_is_an_error_and_nothing_is_left_behind(tap):
    async with upstream() as url:
        running = await tap(url, "-w", "run.jsonl", more=["--ready-file", "nowhere/ready.json"])
        code, _, err = await running.end()
    assert code == 2
    assert "error[ready-file]: cannot write the ready file nowhere/ready.json" in err
    assert not Path("run.jsonl").exists()


async def test_existing_capture_is_not_overwritten(tap):
    Path("run.jsonl").write_text("mine\n")
    async with upstream() as url:
        code, _, err = await (await tap(url, "-w", "run.jsonl")).end()
    assert code == 2
    assert err.startswith("error[")
    assert Path("run.jsonl").read_text() == "mine\n"


async def test_settings_come_from_file_and_variables(tap, monkeypatch):
    Path("mcp-tap.toml").write_text('[http]\nwrite = "from-file.jsonl"\nredact = ["key:file"]\n')
    monkeypatch.setenv("MCP_TAP_HTTP_LABEL", "from-variable")
    async with upstream() as url:
        running = await tap(url, "--redact", "key:flag")
        await running.started()
        await running.end(signal.SIGTERM)
    header = json.loads(Path("from-file.jsonl").read_text().splitlines()[0])
    assert header["label"] == "from-variable"
    assert header["redaction"] == ["default", "key:flag", "key:file"]


async def test_headers_of_the_command_line_go_upstream(tap):
    seen = asyncio.get_running_loop().create_future()

    async def note(reader, writer):
        seen.set_result(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        writer.close()

    async with upstream(note) as url:
        running = await tap(url, "-H", "X-Extra: a: b", "-H", "content-type: text/plain")
        await post((await running.started())["url"])
        head = (await seen).decode()
        await running.end(signal.SIGTERM)
    assert "X-Extra: a: b\r\n" in head
    assert head.lower().count("content-type: ") == 1
    assert "content-type: text/plain\r\n" in head.lower()


async def test_console_beside_a_child_is_refused(tap):
    running = await tap("http://localhost:1/mcp", "--view", "console", "--", "true")
    code, _, err = await running.end()
    assert code == 2
    assert "both want the terminal" in err


async def test_console_without_a_terminal_becomes_text(tap):
    async with upstream() as url:
        running = await tap(url, "--view", "console")
        await post((await running.started())["url"])
        code, out, err = await running.end(signal.SIGTERM)
    assert code == 0
    assert "tools/list" in out
    assert "warning: stdin and stdout are no terminals, so --view text" in err
