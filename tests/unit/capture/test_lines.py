from __future__ import annotations

import pytest

from mcp_tap.capture.lines import Account, first_line, header_of, next_part, open_part, run_files
from mcp_tap.core.records import Gap, encode
from mcp_tap.errors import CaptureError
from tests.captures import header, write_rotated, write_run


def test_holes_and_gaps_add_up_to_what_is_missing():
    account = Account(header())
    account.jump(1)
    account.gap(Gap(seq=4, t=0.0, lost=3, why=""))
    assert (account.lost, account.unexplained, account.expected) == (3, 0, 5)
    account.jump(8)
    assert (account.lost, account.unexplained, account.expected) == (6, 3, 9)


def test_a_record_that_comes_late_is_no_new_hole():
    account = Account(header())
    account.jump(5)
    account.jump(3)
    assert (account.lost, account.expected) == (4, 6)


def test_a_gap_of_records_that_were_in_the_file_once_counts_them():
    account = Account(header(seq=10, part=1))
    account.gap(Gap(seq=10, t=0.0, lost=10, why=""))
    assert (account.lost, account.unexplained, account.expected) == (10, 0, 11)


def test_a_later_part_is_counted_from_its_own_header():
    assert Account(header(seq=40, part=2)).expected == 41


def test_a_header_of_today_needs_no_conversion():
    assert first_line(encode(header()) + b"\n", "x") == (header(), None)


def test_next_part_passes_over_files_of_others(tmp_path):
    parts = write_rotated(tmp_path / "run.jsonl", 20, 2000)
    assert next_part(parts[0], 1, header()) == (parts[1], 2)
    parts[1].write_text("mine")
    following = next_part(parts[0], 1, header())
    assert following == ((parts[2], 3) if len(parts) > 2 else None)
    assert parts[1] not in run_files(parts[0])[1]


def test_a_part_whose_header_is_not_written_yet_does_not_follow(tmp_path):
    path = write_run(tmp_path / "run.jsonl", clean=False)
    (tmp_path / "run.jsonl.001").touch()
    assert next_part(path, 1, header()) is None


def test_what_cannot_be_opened_says_why(tmp_path):
    with pytest.raises(CaptureError) as caught:
        open_part(tmp_path / "absent.jsonl")
    assert (caught.value.code, caught.value.why) == (
        "capture-unreadable",
        "No such file or directory",
    )
    assert header_of(write_run(tmp_path / "run.jsonl")) == header()
