"""`kill -9` in the middle of writing: nothing older than half a second is missing."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from mcp_tap.capture import store
from mcp_tap.capture.reader import open_path
from tests.bounds import BOUND, wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")

CHILD = """
import sys, time
from pathlib import Path
from msgspec import Raw
from mcp_tap.capture import CaptureWriter
from mcp_tap.core.records import FORMAT, Header, Message

path, sync, rotate, pause = sys.argv[1], sys.argv[2] == "sync", int(sys.argv[3]), float(sys.argv[4])
header = Header(seq=0, t=time.monotonic(), format=FORMAT, tool="t", run="r", transport="http",
                started="2026-07-28T12:04:01Z", upstream="http://localhost")
writer = CaptureWriter(Path(path), header, sync=sync, rotate=rotate or None,
                       on_trouble=lambda text: sys.exit(text))
body = Raw(b'{"pad":"' + b"x" * 900 + b'"}')
print(flush=True)
seq = 0
while True:
    seq += 1
    writer.write(Message(seq=seq, t=time.monotonic(), sender="client", body=body))
    if sync:
        print(seq, flush=True)
    if pause:
        time.sleep(pause)
"""


@contextmanager
def writing(path, *, sync=False, rotate=0, pause=0.0):
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, path, "sync" if sync else "-", str(rotate), str(pause)],
        stdout=subprocess.PIPE,
    )
    try:
        assert child.stdout.readline() == b"\n"
        yield child
    finally:
        child.kill()
        child.wait(BOUND)
        child.stdout.close()


def kill(child) -> float:
    when = time.monotonic()
    child.send_signal(signal.SIGKILL)
    assert child.wait(BOUND) == -signal.SIGKILL
    return when


@pytest.mark.parametrize("rotate", [0, 2_000_000])
def test_all_but_the_last_half_second_is_in_the_file_after_a_kill_under_load(tmp_path, rotate):
    def killed(folder):
        path = folder / "run.jsonl"
        with writing(path, rotate=rotate) as child:
            wait_until(lambda: sum(p.stat().st_size for p in folder.iterdir()) > 8_000_000)
            when = kill(child)
        reader = open_path(path)
        records = list(reader)
        assert [record.seq for record in records] == list(range(len(records)))
        assert (reader.lost, reader.clean) == (0, False)
        assert len(reader.parts) == 1 or rotate
        assert store.describe(path).state == "no footer"
        return when - records[-1].t

    assert least(killed, tmp_path) < 0.5


def test_a_slow_trickle_is_in_the_file_too(tmp_path):
    def killed(folder):
        path = folder / "run.jsonl"
        with writing(path, pause=0.21) as child:
            wait_until(lambda: path.read_bytes().count(b"\n") > 4)
            when = kill(child)
        return when - list(open_path(path))[-1].t

    assert least(killed, tmp_path) < 0.5


def least(killed, folder):
    """Give the least seconds missing after some kills: a busy machine may keep the writer waiting.

    That is for a while, and a fault of the writer is for ever.
    """
    missing = []
    for number in range(20):
        inner = folder / str(number)
        inner.mkdir()
        missing.append(killed(inner))
        if missing[-1] < 0.5:
            break
    return min(missing)


def test_with_sync_everything_said_to_be_written_is_in_the_file(tmp_path):
    path = tmp_path / "run.jsonl"
    with writing(path, sync=True) as child:
        for _ in range(500):
            last = child.stdout.readline()
        kill(child)
        last = [last, *child.stdout.read().splitlines(keepends=True)]
    said = max(int(line) for line in last if line.endswith(b"\n"))
    records = list(open_path(path))
    assert said >= 500
    assert [record.seq for record in records] == list(range(len(records)))
    assert records[-1].seq >= said
