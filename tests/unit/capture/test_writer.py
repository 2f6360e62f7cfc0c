from __future__ import annotations

import contextlib
import resource
import stat
import sys
import threading
import time

import pytest
from msgspec import Raw

from mcp_tap.capture import writer as writer_module
from mcp_tap.capture.reader import open_path
from mcp_tap.capture.writer import CaptureWriter
from mcp_tap.core.records import Body, Gap, Message, decode
from tests.bounds import BOUND, wait_until
from tests.captures import fail, footer, header, lines_of, message, seqs

linux = pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on file size")


@contextlib.contextmanager
def disk_full_at(size: int):
    """Make every file of this process full at `size` bytes: a write past it is cut, then fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_closed_run_holds_exactly_the_encoded_records(tmp_path):
    path = tmp_path / "run.jsonl"
    records = [message(seq) for seq in range(1, 1001)]
    writer = CaptureWriter(path, header(), on_trouble=fail)
    for record in records:
        writer.write(record)
    writer.close(footer(1001))
    assert path.read_bytes() == lines_of(header(), *records, footer(1001))
    assert writer.lost == 0
    assert writer.parts == [path]


def test_what_was_written_is_in_the_file_after_flush(tmp_path):
    writer = CaptureWriter(tmp_path / "run.jsonl", header(), on_trouble=fail)
    for seq in range(1, 100):
        writer.write(message(seq))
    writer.flush()
    assert seqs(writer.path) == list(range(100))
    writer.close(footer(100))


def test_a_record_reaches_the_file_soon_without_a_flush(tmp_path):
    writer = CaptureWriter(tmp_path / "run.jsonl", header(), on_trouble=fail)
    writer.write(message(1))
    wait_until(lambda: writer.path.read_bytes().count(b"\n") == 2)
    writer.close(footer(2))


def test_sync_has_the_record_in_the_file_when_write_returns(tmp_path):
    before = threading.active_count()
    writer = CaptureWriter(tmp_path / "run.jsonl", header(), sync=True, on_trouble=fail)
    assert threading.active_count() == before
    for seq in range(1, 20):
        writer.write(message(seq))
        assert writer.path.read_bytes().endswith(lines_of(message(seq)))
    writer.flush()
    writer.close(footer(20))
    assert open_path(writer.path).header == header()
    assert seqs(writer.path) == list(range(21))


def test_rotation_keeps_every_part_within_the_size_and_every_record(tmp_path):
    writer = CaptureWriter(tmp_path / "run.jsonl", header(), rotate=2000, on_trouble=fail)
    for seq in range(1, 101):
        writer.write(message(seq))
    writer.close(footer(101))
    names = [part.name for part in writer.parts]
    assert names[:3] == ["run.jsonl", "run.jsonl.001", "run.jsonl.002"]
    assert all(part.stat().st_size <= 2000 for part in writer.parts)
    reader = open_path(writer.path)
    assert [record.seq for record in reader] == list(range(102))
    assert (reader.lost, reader.clean) == (0, True)


def test_repeated_headers_name_their_part_and_the_record_before(tmp_path):
    writer = CaptureWriter(tmp_path / "run.jsonl", header(), rotate=600, on_trouble=fail)
    for seq in range(1, 11):
        writer.write(message(seq))
    writer.close(footer(11))
    last = 0
    for number, part in enumerate(writer.parts, 1):
        records = [decode(line) for line in part.read_bytes().splitlines()]
        assert (records[0].part, records[0].seq) == (number, last)
        last = records[-1].seq
    assert number > 2


def test_a_line_larger_than_the_rotation_size_gets_a_part_of_its_own(tmp_path):
    writer = CaptureWriter(tmp_path / "run.jsonl", header(), rotate=1000, on_trouble=fail)
    writer.write(message(1))
    writer.write(message(2, b'"' + b"x" * 5000 + b'"'))
    writer.write(message(3))
    writer.close(footer(4))
    assert seqs(writer.path) == [0, 1, 2, 3, 4]
    assert len(writer.parts) == 3


def test_a_line_larger_than_the_bound_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(writer_module, "BOUND", 1000)
    writer = CaptureWriter(tmp_path / "run.jsonl", header(), on_trouble=fail)
    writer.write(message(1, b'"' + b"x" * 10_000 + b'"'))
    writer.close(footer(2))
    assert seqs(writer.path) == [0, 1, 2]


@linux
@pytest.mark.parametrize("sync", [False, True])
def test_a_full_disk_is_said_once_and_nothing_is_lost_when_it_is_short(tmp_path, sync):
    said: list[str] = []
    writer = CaptureWriter(tmp_path / "run.jsonl", header(), sync=sync, on_trouble=said.append)
    with disk_full_at(1000):
        for seq in range(1, 40):
            writer.write(message(seq))
        writer.flush()
        assert writer.path.read_bytes().endswith(b"\n")
        assert len(said) == 1
        assert "run.jsonl cannot be written: File too large" in said[0]
        writer.write(message(40))
        writer.flush()
        assert len(said) == 1
    writer.flush()
    writer.close(footer(41))
    assert seqs(writer.path) == list(range(42))
    assert writer.lost == 0
    assert said[1:] == ["run.jsonl is written again; 0 records lost so far"]


@linux
@pytest.mark.parametrize("sync", [False, True])
def test_records_past_the_bound_are_counted_and_told_by_a_gap_in_their_place(
    tmp_path, monkeypatch, sync
):
    monkeypatch.setattr(writer_module, "BOUND", 2000)
    said: list[str] = []
    writer = CaptureWriter(tmp_path / "run.jsonl", header(), sync=sync, on_trouble=said.append)
    with disk_full_at(1000):
        for seq in range(1, 201):
            writer.write(message(seq))
        assert writer.lost > 100
        writer.flush()
    lost = writer.lost
    writer.flush()
    writer.write(message(201))
    writer.close(footer(202))
    reader = open_path(writer.path)
    records = list(reader)
    gaps = [record for record in records if isinstance(record, Gap)]
    assert [(gap.seq, gap.lost) for gap in gaps] == [(200, lost)]
    assert "wait" in gaps[0].why
    assert records[-1].lost == lost
    assert [r.seq for r in records if r.seq < 201 - lost] == list(range(201 - lost))
    assert (reader.lost, reader.unexplained, reader.clean) == (lost, 0, True)
    assert len([text for text in said if "are being lost" in text]) == 1
    assert f"written again; {lost} records lost" in said[-1]


@linux
def test_write_returns_at_once_while_the_disk_is_full(tmp_path):
    writer = CaptureWriter(tmp_path / "run.jsonl", header(), on_trouble=lambda _: None)
    with disk_full_at(500):
        start = time.perf_counter()
        for seq in range(1, 5001):
            writer.write(message(seq))
        assert time.perf_counter() - start < BOUND
        writer.flush()
    writer.close(footer(5001))
    assert seqs(writer.path) == list(range(5002))


@linux
def test_a_run_that_ends_on_a_full_disk_says_what_is_missing(tmp_path):
    said: list[str] = []
    writer = CaptureWriter(tmp_path / "run.jsonl", header(), on_trouble=said.append)
    with disk_full_at(1000):
        for seq in range(1, 101):
            writer.write(message(seq))
        writer.flush()
        writer.close(footer(101))
    reader = open_path(writer.path)
    kept = [record.seq for record in reader]
    assert kept == list(range(len(kept)))
    assert (reader.torn, reader.clean) == (None, False)
    assert writer.lost == 101 - len(kept)
    assert f"ends without a footer; {writer.lost} records not written" in said[-1]


@linux
def test_a_fragment_that_cannot_be_cut_off_is_followed_by_a_gap_and_skipped(tmp_path, monkeypatch):
    def refuse(fd, size):
        raise PermissionError(1, "append only")

    monkeypatch.setattr("mcp_tap.capture.file.os.ftruncate", refuse)
    writer = CaptureWriter(tmp_path / "run.jsonl", header(), on_trouble=lambda _: None)
    with disk_full_at(1000):
        for seq in range(1, 40):
            writer.write(message(seq))
        writer.flush()
        assert not writer.path.read_bytes().endswith(b"\n")
    writer.close(footer(40))
    reader = open_path(writer.path)
    records = list(reader)
    assert [r.seq for r in records if not isinstance(r, Gap)] == list(range(41))
    assert [r.lost for r in records if isinstance(r, Gap)] == [0]
    assert (reader.lost, reader.torn, reader.clean) == (0, None, True)


def test_a_removed_file_is_begun_again_and_its_records_are_counted_lost(tmp_path):
    said: list[str] = []
    writer = CaptureWriter(tmp_path / "run.jsonl", header(), on_trouble=said.append)
    for seq in range(1, 11):
        writer.write(message(seq))
    writer.flush()
    writer.path.unlink()
    for seq in range(11, 21):
        writer.write(message(seq))
    writer.close(footer(21))
    reader = open_path(writer.path)
    assert [record.seq for record in reader] == [10, 10, *range(11, 22)]
    assert (writer.lost, reader.lost, reader.unexplained) == (10, 10, 0)
    assert said == ["run.jsonl was removed; the capture goes on in a new file; 10 records lost"]
    assert stat.S_IMODE(writer.path.stat().st_mode) == 0o600


def test_a_replaced_file_is_left_alone_and_the_run_goes_on_in_the_next_part(tmp_path):
    said: list[str] = []
    writer = CaptureWriter(tmp_path / "run.jsonl", header(), on_trouble=said.append)
    writer.write(message(1))
    writer.flush()
    writer.path.unlink()
    writer.path.write_bytes(b"mine\n")
    writer.write(message(2))
    writer.close(footer(3))
    assert writer.path.read_bytes() == b"mine\n"
    assert [part.name for part in writer.parts] == ["run.jsonl", "run.jsonl.001"]
    assert seqs(writer.parts[1]) == [1, 2, 3]
    assert said == ["run.jsonl was replaced; the capture goes on in run.jsonl.001"]


def test_an_emptied_file_gets_its_header_again(tmp_path):
    said: list[str] = []
    writer = CaptureWriter(tmp_path / "run.jsonl", header(), on_trouble=said.append)
    writer.write(message(1))
    writer.flush()
    with writer.path.open("wb"):
        pass
    writer.write(message(2))
    writer.close(footer(3))
    reader = open_path(writer.path)
    assert [record.seq for record in reader] == [1, 1, 2, 3]
    assert (reader.lost, writer.lost) == (1, 1)
    assert said == ["run.jsonl was emptied; the capture goes on in it; 1 record lost"]


def test_a_file_cut_by_others_is_left_and_the_run_goes_on_in_the_next_part(tmp_path):
    writer = CaptureWriter(tmp_path / "run.jsonl", header(), on_trouble=lambda _: None)
    for seq in range(1, 11):
        writer.write(message(seq))
    writer.flush()
    size = len(lines_of(header(), message(1), message(2))) + 10
    with writer.path.open("r+b") as file:
        file.truncate(size)
    writer.write(message(11))
    writer.close(footer(12))
    reader = open_path(writer.path)
    assert [record.seq for record in reader] == [0, 1, 2, 11, 12]
    assert (reader.lost, reader.unexplained) == (8, 8)
    assert (reader.torn.line, reader.torn.bytes, reader.torn.name) == (4, 10, "run.jsonl")


def test_a_moved_file_is_written_on(tmp_path):
    writer = CaptureWriter(tmp_path / "run.jsonl", header(), on_trouble=fail)
    writer.write(message(1))
    writer.flush()
    moved = writer.path.rename(tmp_path / "moved.jsonl")
    writer.write(message(2))
    writer.close(footer(3))
    assert seqs(moved) == [0, 1, 2, 3]


def test_a_record_that_cannot_be_encoded_becomes_a_gap(tmp_path):
    said: list[str] = []
    writer = CaptureWriter(tmp_path / "run.jsonl", header(), on_trouble=said.append)
    writer.write(message(1))
    writer.write(Body(seq=2, t=0.0, sender="client", text="\ud800"))
    writer.write(Message(seq=3, t=0.0, sender="client", body=Raw(b'{\n"id":1}')))
    writer.write(message(4))
    writer.close(footer(5))
    reader = open_path(writer.path)
    records = list(reader)
    assert [record.seq for record in records if not isinstance(record, Gap)] == [0, 1, 4, 5]
    assert (reader.lost, reader.unexplained, writer.lost) == (2, 0, 2)
    assert len(said) == 1


def test_a_loss_at_the_very_end_is_told_before_the_footer(tmp_path):
    writer = CaptureWriter(tmp_path / "run.jsonl", header(), on_trouble=lambda _: None)
    writer.write(Body(seq=1, t=0.0, sender="client", text="\ud800"))
    writer.close(footer(2))
    records = list(open_path(writer.path))
    assert isinstance(records[1], Gap)
    assert records[2].lost == 1


def test_what_comes_after_close_is_counted_and_does_no_harm(tmp_path):
    writer = CaptureWriter(tmp_path / "run.jsonl", header(), on_trouble=fail)
    writer.close(footer(1))
    writer.write(message(2))
    writer.close(footer(3))
    assert writer.lost == 1
    assert seqs(writer.path) == [0, 1]


def test_a_listener_that_is_gone_does_not_end_the_writing(tmp_path):
    def gone(_text):
        raise RuntimeError("Event loop is closed")

    writer = CaptureWriter(tmp_path / "run.jsonl", header(), on_trouble=gone)
    writer.write(message(1))
    writer.flush()
    writer.path.unlink()
    writer.write(message(2))
    writer.flush()
    writer.close(footer(3))
    assert seqs(writer.path)[-1] == 3


@linux
def test_a_further_part_that_cannot_be_begun_leaves_the_run_in_the_current_one(
    tmp_path, monkeypatch
):
    said: list[str] = []
    writer = CaptureWriter(tmp_path / "run.jsonl", header(), rotate=1000, on_trouble=said.append)

    def refuse(*_):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(writer._file, "next_part", refuse)
    for seq in range(1, 16):
        writer.write(message(seq))
    writer.close(footer(16))
    assert seqs(writer.path) == list(range(17))
    assert writer.parts == [writer.path]
    assert "no further part of run.jsonl can be begun: Too many open files" in said[0]


def test_a_burst_beyond_the_bound_waits_for_a_disk_that_works_and_loses_nothing(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(writer_module, "BOUND", 100_000)
    monkeypatch.setattr(writer_module, "HURRY", 1_000)
    writer = CaptureWriter(tmp_path / "run.jsonl", header(), on_trouble=fail)
    for number in range(1, 201):
        writer.write_many([(Body(seq=number, t=0.0, sender="client", text="x" * 20_000), None)])
    writer.close(footer(201))
    assert (writer.lost, len(seqs(writer.path))) == (0, 202)


def test_a_disk_that_does_not_keep_up_is_waited_for_only_once(tmp_path, monkeypatch):
    monkeypatch.setattr(writer_module, "BOUND", 10_000)
    monkeypatch.setattr(writer_module, "HURRY", 1_000)
    monkeypatch.setattr(writer_module, "PATIENCE", 0.4)
    writer = CaptureWriter(tmp_path / "run.jsonl", header(), on_trouble=lambda _: None)
    stuck, append = threading.Event(), writer._file.append

    def slow(*arguments):
        stuck.wait(BOUND)
        return append(*arguments)

    monkeypatch.setattr(writer._file, "append", slow)
    began = time.monotonic()
    for number in range(1, 101):
        writer.write(Body(seq=number, t=0.0, sender="client", text="x" * 2_000))
    assert time.monotonic() - began < BOUND  # for which the disk is stuck
    assert writer.lost > 50
    stuck.set()
    writer.close(footer(101))
    reader = open_path(writer.path)
    assert [r.seq for r in reader][-1] == 101
    assert (reader.lost, reader.unexplained) == (writer.lost, 0)


def test_with_sync_what_waits_is_tried_again_without_a_new_record(tmp_path, monkeypatch):
    said: list[str] = []
    writer = CaptureWriter(tmp_path / "run.jsonl", header(), sync=True, on_trouble=said.append)
    append = writer._file.append
    monkeypatch.setattr(writer._file, "append", lambda *_: (0, OSError(28, "No space left")))
    writer.write(message(1))
    monkeypatch.setattr(writer._file, "append", append)
    monkeypatch.setattr(writer_module, "RETRY", 0.0)
    wait_until(lambda: writer.poke() or seqs(writer.path) == [0, 1])
    writer.close(footer(2))
    assert len(said) == 2
