"""How a run over stdio ends: as the bare server would have, for its client and for the server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mcp_tap.core.records import Footer, Gap
from tests.bounds import BOUND, wait_until
from tests.shim import ECHO, PING, PONG, TAP, is_alive, python, read, request, shim

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")

SLOW = "for line in sys.stdin.buffer:\n time.sleep(2.2); os.write(O, b'%s\\n')\n"
STUBBORN = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
READY = "os.write(O, b'%d\\n' % os.getpid())\n"


def how(tap) -> str:
    footer = tap.records()[-1]
    assert isinstance(footer, Footer)
    return footer.how


def took(what) -> float:
    start = time.monotonic()
    what()
    return time.monotonic() - start


@pytest.mark.parametrize("code", [0, 1, 7, 255])
def test_the_servers_exit_code_is_the_taps(tmp_path, code):
    with shim(python(f"os.read(I, 9); sys.exit({code})"), tmp_path) as tap:
        tap.send(PING)
        assert tap.ended() == code
        assert how(tap) == "child"


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGSEGV", "SIGPIPE"])
def test_a_signal_that_ended_the_server_ends_the_tap(tmp_path, name):
    number = signal.Signals[name]
    die = f"signal.signal({number}, signal.SIG_DFL)\n" if name != "SIGKILL" else ""
    server = python(f"{die}os.kill(os.getpid(), {number}); time.sleep(9)")
    with shim(server, tmp_path) as tap:
        assert tap.ended() == -number
        assert how(tap) == "child"


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"])
def test_a_signal_to_the_tap_reaches_the_server_which_has_the_say(tmp_path, name):
    number = signal.Signals[name]
    server = python(
        f"signal.signal({number}, lambda *_: (os.write(E, b'got {name}'), os._exit(5)))\n"
        f"{READY}time.sleep(30)"
    )
    with shim(server, tmp_path) as tap:
        tap.line()
        assert tap.end(number) == 5
        assert tap.err == f"got {name}".encode()
        assert how(tap) == "signal"


@pytest.mark.parametrize("name", ["SIGUSR1", "SIGUSR2"])
def test_a_signal_that_ends_nothing_is_passed_on(tmp_path, name):
    number = signal.Signals[name]
    server = python(
        f"signal.signal({number}, lambda *_: os.write(O, b'{name}\\n'))\n{READY}"
        "while os.read(I, 99): pass"
    )
    with shim(server, tmp_path) as tap:
        tap.line()
        tap.process.send_signal(number)
        assert tap.line() == f"{name}\n".encode()
        assert tap.end() == 0


def test_a_server_that_ignores_sigterm_is_killed_soon(tmp_path):
    with shim(python(f"{STUBBORN}{READY}time.sleep(60)"), tmp_path, tap=TAP) as tap:
        pid = int(tap.line())
        assert tap.end(signal.SIGTERM) == -signal.SIGKILL
        assert not is_alive(pid)
        assert how(tap) == "signal"


def test_a_second_signal_does_not_wait(tmp_path):
    server = python(
        f"signal.signal(signal.SIGTERM, lambda *_: os.write(E, b'heard'))\n{READY}"
        "while True: time.sleep(60)"
    )
    with shim(server, tmp_path) as tap:
        tap.line()
        tap.process.send_signal(signal.SIGTERM)
        tap.said(b"heard")
        assert tap.end(signal.SIGTERM) == -signal.SIGKILL


def test_a_server_that_ignores_the_end_of_its_input_gets_sigterm(tmp_path):
    server = python(
        "signal.signal(signal.SIGTERM, lambda *_: (os.write(E, b'term'), os._exit(3)))\n"
        f"{READY}time.sleep(60)"
    )
    with shim(server, tmp_path, tap=TAP) as tap:
        tap.line()
        assert took(tap.end) > 1.4
        assert (tap.process.returncode, tap.err) == (3, b"term")
        assert how(tap) == "end"


def test_a_server_that_ignores_all_of_it_is_killed_with_all_its_children(tmp_path):
    server = python(
        f"{STUBBORN}pid = os.fork()\nos.write(O, b'%d\\n' % os.getpid())\ntime.sleep(60)"
    )
    with shim(server, tmp_path, tap=TAP) as tap:
        pids = int(tap.line()), int(tap.line())
        assert took(tap.end) > 2.4
        assert tap.process.returncode == -signal.SIGKILL
        wait_until(lambda: not any(map(is_alive, pids)))


def test_a_request_that_is_still_worked_on_is_answered_after_the_clients_last_word(tmp_path):
    server = python(SLOW % PONG.decode().strip())
    with shim(server, tmp_path, tap=TAP) as tap:
        tap.send(PING)
        assert took(tap.end) > 2
        assert (tap.process.returncode, tap.out) == (0, PONG)


def test_a_request_without_its_line_feed_is_waited_for_too(tmp_path):
    server = python(SLOW % PONG.decode().strip())
    with shim(server, tmp_path, tap=TAP) as tap:
        tap.send(PING.strip())
        assert tap.end() == 0
        assert tap.out == PONG


def test_a_client_that_is_gone_is_not_waited_for(tmp_path):
    client = python(
        "import subprocess\n"
        "p = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        f"p.stdin.write({PING!r}); p.stdin.flush()\n"
        "os.write(O, p.stdout.readline()); os._exit(0)"
    )
    server = python(f"{READY}time.sleep(60)")
    line = [*client, *TAP, "stdio", "-w", str(tmp_path / "run.jsonl"), "--", *server]
    with subprocess.Popen(line, stdout=subprocess.PIPE) as process:
        pid = int(process.stdout.readline())
        wait_until(lambda: not is_alive(pid))


def test_killing_the_tap_outright_ends_the_server(tmp_path):
    with shim(python(f"{READY}os.read(I, 1)"), tmp_path) as tap:
        pid = int(tap.line())
        tap.process.kill()
        wait_until(lambda: not is_alive(pid))


def test_a_server_that_closes_its_stdout_first_still_gets_what_the_client_says(tmp_path):
    server = python(
        "os.write(O, b'bye\\n'); os.close(O)\n"
        "data = b''\nwhile piece := os.read(I, 99): data += piece\n"
        "os.write(E, data); sys.exit(4)"
    )
    with shim(server, tmp_path) as tap:
        assert tap.at_eof()
        assert tap.out == b"bye\n"
        tap.send(PING)
        assert tap.end() == 4
        assert tap.err == PING


def test_a_server_that_closes_its_stdin_shows_it_to_the_client(tmp_path):
    server = python("os.close(I); os.write(O, b'deaf\\n'); time.sleep(1); os.write(O, b'x\\n')")

    def send_until_refused() -> bool:
        try:
            tap.send(PING)
        except BrokenPipeError:
            return True
        return False

    with shim(server, tmp_path) as tap:
        tap.line()
        wait_until(send_until_refused)
        assert tap.line() == b"x\n"
        assert tap.ended() == 0


def test_a_client_that_closes_its_end_of_stdout_shows_it_to_the_server(tmp_path):
    server = python(
        "signal.signal(signal.SIGPIPE, signal.SIG_IGN)\n"
        "try:\n while True: os.write(O, b'more\\n')\n"
        "except BrokenPipeError: sys.exit(6)"
    )
    with shim(server, tmp_path) as tap:
        tap.line()
        tap.process.stdout.close()
        tap.process.stdout = None
        assert tap.process.wait(BOUND) == 6


def test_a_client_that_reads_late_gets_everything(tmp_path):
    server = python("os.write(O, b'x' * 60000); os.write(O, b'y' * 60000 + b'\\n')")
    with shim(server, tmp_path) as tap:
        wait_until(lambda: tap.capture.exists() and not is_alive_below(tap.process.pid))
        time.sleep(0.8)  # longer than a silent stream is waited for
        assert tap.at_eof()
        assert tap.out == b"x" * 60000 + b"y" * 60000 + b"\n"
        assert tap.ended() == 0


def is_alive_below(pid: int) -> bool:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    return any(is_alive(int(child)) for child in children)


def test_what_a_server_leaves_behind_does_not_keep_the_tap(tmp_path):
    server = python(
        "pid = os.fork()\nif pid: os.write(O, b'%d\\n' % pid); sys.exit(2)\ntime.sleep(60)"
    )
    with shim(server, tmp_path) as tap:
        pid = int(tap.line())
        try:
            assert tap.process.wait(BOUND) == 2
            assert is_alive(pid)  # as it would be without the tap
        finally:
            os.kill(pid, signal.SIGKILL)


def test_ctrl_c_in_a_terminal_reaches_the_server_once(tmp_path):
    server = python(
        "signal.signal(signal.SIGINT, lambda *_: os.write(E, b'int;'))\n"
        f"{READY}while os.read(I, 99): pass"
    )
    with shim(server, tmp_path, start_new_session=True) as tap:
        tap.line()
        os.killpg(tap.process.pid, signal.SIGINT)
        assert tap.ended() == 0
        assert tap.err == b"int;"


def test_nobody_hears_of_a_command_that_is_not_there_but_the_person(tmp_path):
    with shim(["no-such-command-at-all"], tmp_path) as tap:
        assert tap.ended() == 2
        assert tap.out == b""
        assert tap.err.startswith(b"error[command-not-found]: there is no command no-such-")
        assert not tap.capture.exists()


def test_several_at_once_leave_a_capture_each(tmp_path, monkeypatch):
    monkeypatch.setenv("MCP_TAP_HOME", str(tmp_path / "home"))
    runs = [
        subprocess.Popen([*TAP, "--", *ECHO], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    for number, run in enumerate(runs):
        run.stdin.write(request(number))
        run.stdin.flush()
        assert read(run.stdout) == request(number)
    for run in runs:
        run.communicate(timeout=BOUND)
        assert run.returncode == 0
    assert len(list((tmp_path / "home").iterdir())) == 3


def test_a_signal_ends_the_recording_of_what_still_waits_and_the_capture_says_so(tmp_path):
    server = python("line = b'word\\n' * 13000\nfor _ in range(500): os.write(E, line)")
    with shim(server, tmp_path, tap=TAP, stderr=subprocess.DEVNULL) as tap:
        wait_until(lambda: tap.capture.exists() and not is_alive_below(tap.process.pid))
        tap.process.send_signal(signal.SIGTERM)
        assert tap.process.wait(BOUND) == 0
    assert tap.records()[-1].lost == sum(r.lost for r in tap.records() if isinstance(r, Gap)) > 0
