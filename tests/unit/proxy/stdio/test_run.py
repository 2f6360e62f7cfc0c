"""A run carries, whatever becomes of the recording, and tells what it knows."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from mcp_tap.core.records import Footer, Header, Message
from mcp_tap.errors import CaptureError, UsageError
from mcp_tap.proxy.stdio.run import StdioRun
from mcp_tap.proxy.stdio.settings import StdioSettings
from tests.piped import piped
from tests.rig import Looker
from tests.shim import ECHO, PING, PONG, python


def test_a_run_knows_what_it_has_seen(tmp_path):
    with piped(ECHO, tmp_path, label="echo") as run:
        run.send(PING)
        assert run.line() == PING
        assert run.end() == 0
    it = run.run
    assert (it.exchanges, it.records, it.lost, it.unjudged, it.trouble) == (1, 3, 0, 0, None)
    assert it.header == run.view.header == run.records()[0]
    assert it.capture == tmp_path / "run.jsonl"
    assert run.view.closed
    assert [call.method for call in run.view.calls.values()] == ["ping"]


def test_the_status_of_a_server_that_a_signal_ended_is_negative(tmp_path):
    with piped(python("os.kill(os.getpid(), 9)"), tmp_path) as run:
        assert run.ended() == -signal.SIGKILL
    footer = run.records()[-1]
    assert isinstance(footer, Footer)
    assert footer.how == "child"


def test_words_on_stderr_reach_the_clients_descriptor(tmp_path):
    with piped(python("os.write(E, b'words')"), tmp_path) as run:
        assert run.ended() == 0
        assert os.read(run.stderr, 99) == b"words"


def test_where_the_capture_goes_may_be_said_late(tmp_path):
    asked: list[str] = []

    def place() -> Path:
        asked.append(threading.current_thread().name)
        return tmp_path / "late.jsonl"

    with piped(ECHO) as run:
        assert run.end() == 0
        assert run.run.capture is None
    nowhere = os.open(os.devnull, os.O_RDWR)
    late = StdioRun(
        StdioSettings(command=["true"]),
        capture=place,
        view=Looker(),
        stdin_fd=nowhere,
        stdout_fd=os.dup(nowhere),
        stderr_fd=os.dup(nowhere),
    )
    assert late.run() == 0
    assert (late.capture, asked) == (tmp_path / "late.jsonl", ["recorder"])


def test_a_capture_that_cannot_be_created_stops_no_traffic(tmp_path):
    (tmp_path / "run.jsonl").touch()
    with piped(ECHO, tmp_path) as run:
        run.send(PING)
        assert run.line() == PING
        assert run.end() == 0
    assert isinstance(run.run.trouble, CaptureError)
    assert (run.run.records, run.run.header) == (0, None)


@pytest.mark.parametrize("sync", [False, True])
def test_a_fault_of_the_recording_stops_no_traffic(tmp_path, monkeypatch, sync):
    from mcp_tap.proxy.stdio.recording import LineRecording

    def fail(*_) -> None:
        raise LookupError("a fault of ours")

    monkeypatch.setattr(LineRecording, "data", fail)
    with piped(ECHO, tmp_path, sync=sync) as run:
        for _ in range(3):
            run.send(PING)
            assert run.line() == PING
        assert run.end() == 0
    assert isinstance(run.run.trouble, LookupError)


def test_a_look_that_raises_loses_no_record(tmp_path, monkeypatch):
    from mcp_tap.pipeline.spine import Pipeline

    feed = Pipeline.feed

    def fail(self, record, value=None):
        if type(record) is Message:
            raise LookupError("a fault of ours")
        return feed(self, record, value)

    monkeypatch.setattr(Pipeline, "feed", fail)
    with piped(ECHO, tmp_path) as run:
        run.send(PING)
        assert run.line() == PING
        assert run.end() == 0
    assert isinstance(run.run.trouble, LookupError)
    assert [type(r) for r in run.records()] == [Header, Message, Message, Footer]


def test_a_request_is_waited_for_in_the_library_too(tmp_path):
    slow = f"sys.stdin.buffer.read(); time.sleep(1.7); os.write(O, {PONG!r})"
    with piped(python(slow), tmp_path) as run:
        run.send(PING)
        os.close(run.stdin)
        run.stdin = -1
        assert run.line() == PONG
        assert run.ended() == 0


def test_a_command_that_is_not_there_is_an_error_of_the_caller(tmp_path):
    run = StdioRun(StdioSettings(command=["no-such-command-at-all"]), capture=None, view=Looker())
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(UsageError):
        run.run()
    assert signal.getsignal(signal.SIGTERM) == before
