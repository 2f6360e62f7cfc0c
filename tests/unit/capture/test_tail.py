from __future__ import annotations

import contextlib

import pytest

from mcp_tap.capture import tail as tail_module
from mcp_tap.capture.tail import CaptureTail
from mcp_tap.capture.writer import CaptureWriter
from mcp_tap.core.records import Gap, encode
from mcp_tap.errors import CaptureError
from tests.bounds import wait_until
from tests.captures import fail, footer, header, lines_of, message, write_rotated, write_run


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


@pytest.fixture
def follow():
    """Make tails that are closed after the test."""
    with contextlib.ExitStack() as stack:
        yield lambda path: stack.enter_context(CaptureTail(path))


def append(path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def poll(tail) -> list[int]:
    found = [record.seq for record in tail.poll()]
    while tail.behind:
        found += [record.seq for record in tail.poll()]
    return found


def test_records_come_as_they_are_written(path, follow):
    write_run(path, 2, clean=False)
    tail = follow(path)
    assert poll(tail) == [0, 1, 2]
    assert poll(tail) == []
    append(path, lines_of(message(3)))
    assert poll(tail) == [3]
    append(path, lines_of(footer(4)))
    assert poll(tail) == [4]
    assert (tail.clean, tail.lost, tail.header) == (True, 0, header())


def test_a_partial_line_is_kept_until_it_is_whole(path, follow):
    path.touch()
    tail = follow(path)
    data = lines_of(header(), message(1))
    for byte in data[:-1]:
        append(path, bytes([byte]))
        assert [s for s in poll(tail) if s] == []
    append(path, data[-1:])
    assert poll(tail) == [1]


def test_a_long_file_is_given_in_steps(path, follow, monkeypatch):
    monkeypatch.setattr(tail_module, "STEP", 500)
    write_run(path, 50)
    tail = follow(path)
    first = tail.poll()
    assert 0 < len(first) < 10
    assert tail.behind
    assert [record.seq for record in first] + poll(tail) == list(range(52))


def test_a_line_longer_than_a_step_comes_whole(path, follow, monkeypatch):
    monkeypatch.setattr(tail_module, "STEP", 100)
    path.write_bytes(lines_of(header(), message(1, b'"' + b"x" * 1000 + b'"')))
    assert poll(follow(path)) == [0, 1]


def test_further_parts_are_followed_without_their_headers(path, follow):
    write_rotated(path, 60)
    assert poll(follow(path)) == list(range(62))


def test_a_rotating_run_is_followed_while_it_is_written(path, follow):
    writer = CaptureWriter(path, header(), rotate=3000, on_trouble=fail)
    tail = follow(path)
    found: list[int] = []
    for seq in range(1, 201):
        writer.write(message(seq))
        if seq % 20 == 0:
            writer.flush()
            found += [record.seq for record in tail.poll()]
    writer.close(footer(201))

    def all_there() -> bool:
        found.extend(record.seq for record in tail.poll())
        return len(found) >= 202

    wait_until(all_there)
    assert found == list(range(202))
    assert tail.clean
    assert len(writer.parts) > 3


def test_a_file_replaced_by_another_run_is_read_from_its_start(path, follow):
    write_run(path, 5)
    tail = follow(path)
    poll(tail)
    path.unlink()
    write_run(path, 2, clean=False, run="r2")
    assert poll(tail) == [0, 1, 2]
    assert tail.header.run == "r2"
    assert not tail.clean


def test_a_second_run_of_the_same_name_is_another_run(path, follow):
    write_run(path, 5)
    tail = follow(path)
    poll(tail)
    path.unlink()
    write_run(path, 2, started="2026-07-28T12:09:00Z")
    assert poll(tail) == [0, 1, 2, 3]


def test_a_file_emptied_and_filled_again_is_read_from_its_start(path, follow):
    write_run(path, 5, clean=False)
    tail = follow(path)
    poll(tail)
    path.write_bytes(b"")
    assert poll(tail) == []
    write_run(path, 2, run="r2")
    assert poll(tail) == [0, 1, 2, 3]


def test_a_removed_file_is_waited_for_and_nothing_is_given_twice(path, follow):
    writer = CaptureWriter(path, header(), on_trouble=lambda _: None)
    writer.write(message(1))
    writer.flush()
    tail = follow(path)
    assert poll(tail) == [0, 1]
    path.unlink()
    assert poll(tail) == []
    writer.write(message(2))
    writer.close(footer(3))
    assert poll(tail) == [2, 3]
    assert tail.lost == 0


def test_lines_that_cannot_be_read_are_skipped_and_counted(path, follow):
    path.write_bytes(
        lines_of(header(), message(1))
        + b"nonsense\n\n"
        + lines_of(Gap(seq=3, t=0.0, lost=2, why="x"), message(4), message(7))
    )
    tail = follow(path)
    assert poll(tail) == [0, 1, 3, 4, 7]
    assert (tail.damaged, tail.lost) == (1, 4)


def test_what_is_no_capture_is_said(path, follow):
    path.write_bytes(b"hello\n")
    with pytest.raises(CaptureError, match="not a capture"):
        follow(path).poll()
    with pytest.raises(CaptureError, match="cannot be read"):
        follow(path.with_name("absent.jsonl"))


def test_a_newer_format_is_said(path, follow):
    path.write_bytes(encode(header(format=9)) + b"\n")
    with pytest.raises(CaptureError, match="format 9"):
        follow(path).poll()


def test_what_is_left_of_a_rotated_run_is_followed(tmp_path):
    parts = write_rotated(tmp_path / "run.jsonl")
    parts[0].unlink()
    with CaptureTail(parts[0]) as tail:
        records = tail.poll()
        while tail.behind:
            records += tail.poll()
        assert tail.clean
        assert tail.lost == records[0].seq > 0


def test_blanks_and_endless_lines_are_passed_over(tmp_path):
    path = tmp_path / "run.jsonl"
    junk = b"\n" * 5_000_000 + b"x" * (6 << 20) + b"\n"
    path.write_bytes(lines_of(header()) + junk + lines_of(message(1), footer(2)))
    with CaptureTail(path) as tail:
        records = tail.poll()
        while tail.behind:
            records += tail.poll()
    assert [record.seq for record in records] == [0, 1, 2]
    assert tail.damaged == 1
