from __future__ import annotations

import gzip
import io
import subprocess
import sys

import msgspec
import pytest

from mcp_tap.capture.reader import CaptureReader, Torn, open_capture, open_path
from mcp_tap.core.records import Footer, Gap, Header, decode, encode
from mcp_tap.errors import CaptureError
from tests.bounds import BOUND
from tests.captures import footer, header, lines_of, message, seqs, write_rotated, write_run


def read(path):
    reader = open_path(path)
    return reader, list(reader)


def test_a_clean_run_is_read_whole(tmp_path):
    reader, records = read(write_run(tmp_path / "run.jsonl", 3))
    assert records == [header(), message(1), message(2), message(3), footer(4)]
    assert (reader.clean, reader.lost, reader.torn, reader.lines) == (True, 0, None, 5)


def test_the_header_is_known_before_anything_else_is_read(tmp_path):
    assert open_path(write_run(tmp_path / "run.jsonl", label="billing")).header.label == "billing"


def test_a_run_without_footer_is_not_clean(tmp_path):
    reader, records = read(write_run(tmp_path / "run.jsonl", 3, clean=False))
    assert len(records) == 4
    assert (reader.clean, reader.torn) == (False, None)


@pytest.mark.parametrize(
    "tail", [b'{"kind":"mess', b"\x00" * 40, b'{"kind":"message","seq":4}\xff']
)
def test_a_torn_last_line_is_reported_and_skipped(tmp_path, tail):
    path = write_run(tmp_path / "run.jsonl", 3, clean=False)
    path.write_bytes(path.read_bytes() + tail)
    reader, records = read(path)
    assert [record.seq for record in records] == [0, 1, 2, 3]
    assert reader.torn == Torn(5, len(tail), "run.jsonl")


def test_an_undecodable_last_line_with_its_line_break_is_torn_too(tmp_path):
    path = write_run(tmp_path / "run.jsonl", 1, clean=False)
    path.write_bytes(path.read_bytes() + b"nonsense\n")
    assert read(path)[0].torn == Torn(3, 9, "run.jsonl")


def test_a_whole_last_line_counts_although_its_line_break_is_missing(tmp_path):
    path = write_run(tmp_path / "run.jsonl", 3)
    path.write_bytes(path.read_bytes()[:-1])
    reader, records = read(path)
    assert len(records) == 5
    assert (reader.torn, reader.clean) == (None, True)


def test_a_damaged_line_in_the_middle_is_an_error_that_names_it(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_bytes(lines_of(header(), message(1)) + b'{"kind":"x"}\n' + lines_of(message(3)))
    reader = open_path(path)
    with pytest.raises(CaptureError) as caught:
        list(reader)
    assert caught.value.code == "capture-damaged"
    assert caught.value.what == "run.jsonl cannot be read at line 3"
    assert caught.value.exit_code == 2
    assert "sed 3d run.jsonl" in caught.value.help


def test_a_nesting_no_decoder_survives_is_damage_and_no_crash(tmp_path):
    path = tmp_path / "run.jsonl"
    deep = b'{"kind":"message","seq":1,"t":0,"sender":"client","body":' + b"[" * 100_000 + b"\n"
    path.write_bytes(lines_of(header()) + deep + lines_of(message(2)))
    with pytest.raises(CaptureError, match="line 2"):
        list(open_path(path))


def test_a_fragment_right_before_a_gap_is_skipped(tmp_path):
    path = tmp_path / "run.jsonl"
    gap = Gap(seq=3, t=0.0, lost=2, why="disk full")
    path.write_bytes(
        lines_of(header(), message(1)) + b'{"kind":"mes\n' + lines_of(gap, message(4), footer(5))
    )
    reader, records = read(path)
    assert [record.seq for record in records] == [0, 1, 3, 4, 5]
    assert (reader.lost, reader.unexplained, reader.torn, reader.lines) == (2, 0, None, 6)


def test_missing_records_nobody_told_of_are_counted(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_bytes(lines_of(header(), message(1), message(5), message(6), footer(8)))
    reader, _ = read(path)
    assert (reader.lost, reader.unexplained) == (4, 4)


def test_a_gap_that_tells_too_little_leaves_the_rest_unexplained(tmp_path):
    path = tmp_path / "run.jsonl"
    gap = Gap(seq=5, t=0.0, lost=2, why="x")
    path.write_bytes(lines_of(header(), message(1), gap, footer(6)))
    reader, _ = read(path)
    assert (reader.lost, reader.unexplained) == (4, 2)


def test_all_parts_are_one_run_with_one_header(tmp_path):
    parts = write_rotated(tmp_path / "run.jsonl", 60)
    assert len(parts) > 3
    reader, records = read(parts[0])
    assert [record.seq for record in records] == list(range(62))
    assert [isinstance(record, Header) for record in records].count(True) == 1
    assert reader.parts == parts
    assert (reader.clean, reader.lost) == (True, 0)
    assert reader.lines == sum(part.read_bytes().count(b"\n") for part in parts)


def test_the_place_of_each_record_is_known_while_reading(tmp_path):
    parts = write_rotated(tmp_path / "run.jsonl", 60)
    files = {part.name: part.read_bytes().splitlines() for part in parts}
    reader = open_path(parts[0])
    for record in reader:
        assert files[reader.place][reader.line - 1] == encode(record)


def test_joined_parts_are_read_as_one_run(tmp_path):
    parts = write_rotated(tmp_path / "run.jsonl", 60)
    joined = tmp_path / "joined.jsonl"
    joined.write_bytes(b"".join(part.read_bytes() for part in parts))
    assert seqs(joined) == list(range(62))


def test_a_later_part_named_by_itself_is_read_alone_and_misses_nothing(tmp_path):
    parts = write_rotated(tmp_path / "run.jsonl", 60)
    reader, records = read(parts[1])
    assert reader.parts == [parts[1]]
    assert reader.lost == 0
    assert 0 < len(records) < 60


def test_a_missing_part_is_counted_as_lost(tmp_path):
    parts = write_rotated(tmp_path / "run.jsonl", 60)
    gone = parts[1].read_bytes().count(b"\n") - 1
    parts[1].unlink()
    reader, _ = read(parts[0])
    assert (reader.lost, reader.unexplained, reader.clean) == (gone, gone, True)


def test_a_foreign_file_with_the_name_of_a_part_is_left_out(tmp_path):
    path = write_run(tmp_path / "run.jsonl")
    write_run(tmp_path / "run.jsonl.001", run="other")
    (tmp_path / "run.jsonl.002").write_text("mine")
    write_run(tmp_path / "run.jsonl.003", started="2026-07-01T00:00:00Z")
    reader, _ = read(path)
    assert reader.parts == [path]


def test_two_runs_in_one_file_are_refused(tmp_path):
    path = write_run(tmp_path / "run.jsonl", 2)
    path.write_bytes(path.read_bytes() + lines_of(header("r2")))
    with pytest.raises(CaptureError) as caught:
        list(open_path(path))
    assert "more than one run" in caught.value.what
    assert "line 5" in caught.value.where


def test_reading_again_starts_again(tmp_path):
    path = write_run(tmp_path / "run.jsonl", 3, clean=False)
    path.write_bytes(path.read_bytes() + b"{")
    reader = open_path(path)
    next(iter(reader))
    assert list(reader) == list(reader)
    assert reader.torn == Torn(5, 1, "run.jsonl")


def test_a_line_of_a_hundred_megabytes_is_read(tmp_path):
    path = tmp_path / "run.jsonl"
    big = message(1, b'"' + b"x" * 100_000_000 + b'"')
    path.write_bytes(lines_of(header(), big, footer(2)))
    sizes = [len(r.body) for r in open_path(path) if r.seq == 1]
    assert sizes == [100_000_002]


def test_blank_lines_and_crlf_are_no_damage(tmp_path):
    path = write_run(tmp_path / "run.jsonl", 3)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n") + b"\r\n")
    reader, records = read(path)
    assert len(records) == 5
    assert reader.torn is None


def test_unknown_fields_are_ignored(tmp_path):
    path = tmp_path / "run.jsonl"
    later = encode(message(1))[:-1] + b',"invented_later":{"a":[1]}}\n'
    path.write_bytes(lines_of(header()) + later)
    assert read(path)[1] == [header(), message(1)]


@pytest.mark.parametrize("parts", [1, 2])
def test_packed_captures_are_read(tmp_path, parts):
    files = write_rotated(tmp_path / "run.jsonl", 20, 100_000 if parts == 1 else 2000)
    for file in files:
        (tmp_path / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    assert seqs(tmp_path / "run.jsonl.gz") == list(range(22))


def test_a_packed_capture_that_breaks_off_is_torn(tmp_path):
    path = tmp_path / "run.jsonl.gz"
    data = gzip.compress(write_run(tmp_path / "run.jsonl", 2000).read_bytes())
    path.write_bytes(data[:-20])
    reader, records = read(path)
    assert records[:3] == [header(), message(1), message(2)]
    assert reader.torn is not None
    assert not reader.clean


@pytest.mark.parametrize(
    ("content", "code", "says"),
    [
        (b"", "capture-empty", "is empty"),
        (b"\n\n", "capture-empty", "is empty"),
        (b"hello\n", "not-a-capture", "is not a capture"),
        (b'{"kind":"message","seq":1}\n', "not-a-capture", "is not a capture"),
        (b"\x00" * 3_000_000, "not-a-capture", "is not a capture"),
        (b"[" * 200_000, "not-a-capture", "is not a capture"),
        (b"\x1f\x8bnot really", "capture-damaged", "cannot be read"),
        (b'{"kind":"header","format":1}\n', "capture-damaged", "line 1"),
        (
            b'{"kind":"header","format":3,"quite":"other"}\n',
            "capture-newer",
            "run.jsonl has format 3, this mcp-tap reads up to 1",
        ),
    ],
)
def test_what_is_no_capture_is_told_apart(tmp_path, content, code, says):
    path = tmp_path / "run.jsonl"
    path.write_bytes(content)
    with pytest.raises(CaptureError) as caught:
        open_capture(str(path))
    assert caught.value.code == code
    assert says in caught.value.what
    assert caught.value.exit_code == 2


def test_a_newer_capture_says_how_to_upgrade(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_bytes(encode(header(format=9)))
    with pytest.raises(CaptureError) as caught:
        open_capture(str(path))
    assert caught.value.help == "install a newer mcp-tap-proxy"


def test_standard_input_is_read_once(tmp_path):
    stream = io.BytesIO(write_run(tmp_path / "run.jsonl", 2).read_bytes())
    reader = CaptureReader([], stream=stream)
    assert reader.header == header()
    assert len(list(reader)) == 4
    with pytest.raises(CaptureError, match="only once"):
        list(reader)


@pytest.mark.parametrize("packed", [False, True])
def test_a_dash_reads_a_capture_from_a_pipe(tmp_path, packed):
    data = write_run(tmp_path / "run.jsonl", 2000).read_bytes()
    code = (
        "from mcp_tap.capture import open_capture\n"
        "reader = open_capture('-')\n"
        "print(sum(1 for _ in reader), reader.clean, reader.name)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=gzip.compress(data) if packed else data,
        capture_output=True,
        timeout=BOUND,
        check=True,
    )
    assert done.stdout == b"2002 True standard input\n"


def test_the_newest_run_is_read_when_none_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("MCP_TAP_HOME", str(tmp_path))
    write_run(tmp_path / "20260728T120401-aaaa.jsonl")
    assert open_capture(None).path == tmp_path / "20260728T120401-aaaa.jsonl"
    assert open_capture("20260728T120401-aaaa").path == tmp_path / "20260728T120401-aaaa.jsonl"


def test_records_are_given_out_as_they_stand(tmp_path):
    body = b'{"a": 1.0,"n":123456789012345678901234567890,"a":"\\u00e9"}'
    path = tmp_path / "run.jsonl"
    path.write_bytes(lines_of(header(), message(1, body), footer(2)))
    records = read(path)[1]
    assert bytes(records[1].body) == body
    assert isinstance(records[2], Footer)
    assert msgspec.json.decode(bytes(records[1].body))["n"] == 123456789012345678901234567890


def test_blank_lines_keep_the_count_of_lines(tmp_path):
    path = tmp_path / "run.jsonl"
    blanks = b"\n" * 3_000_000 + b"\r\n \n"
    path.write_bytes(lines_of(header()) + blanks + lines_of(message(1), message(2)) + b"{]\n{}\n")
    with pytest.raises(CaptureError, match="at line 3000006"):
        list(open_path(path))
    path.write_bytes(lines_of(header()) + blanks + lines_of(message(1), footer(2)) + blanks)
    reader, records = read(path)
    assert [record.seq for record in records] == [0, 1, 2]
    assert (reader.clean, reader.lost, reader.torn) == (True, 0, None)


def test_a_line_too_long_for_a_record_is_damage_with_its_number(tmp_path):
    path = tmp_path / "run.jsonl"
    endless = b"x" * (5 << 20)
    path.write_bytes(lines_of(header(), message(1)) + endless + b"\n" + lines_of(message(2)))
    with pytest.raises(CaptureError, match="at line 3") as error:
        list(open_path(path))
    assert "too long" in error.value.why
    path.write_bytes(lines_of(header(), message(1)) + endless)
    reader, records = read(path)
    assert len(records) == 2
    assert reader.torn == Torn(3, len(endless), "run.jsonl")


def test_a_payload_of_many_megabytes_is_a_record(tmp_path):
    path = tmp_path / "run.jsonl"
    big = message(1, b'"' + b"x" * (20 << 20) + b'"')
    path.write_bytes(lines_of(header(), big, footer(2)))
    assert read(path)[1] == [header(), big, footer(2)]


@pytest.mark.parametrize("how", ["removed", "emptied"])
def test_a_run_whose_first_part_is_gone_is_read_from_what_is_left(tmp_path, how):
    parts = write_rotated(tmp_path / "run.jsonl")
    first = len(seqs_alone(parts[0])) - 1
    whole = len(seqs(parts[0]))
    if how == "removed":
        parts[0].unlink()
    else:
        parts[0].write_bytes(b"")
    reader, records = read(parts[0])
    assert reader.clean
    assert reader.lost == reader.unexplained == first
    assert records[1].seq == first + 1
    assert len(records) == whole - first
    assert len(list(reader)) == len(records)
    assert list(open_capture(str(parts[0]))) == records


def test_a_later_part_is_read_alone_with_or_without_the_others(tmp_path):
    parts = write_rotated(tmp_path / "run.jsonl")
    alone = seqs(parts[2])
    for gone in parts[:2]:
        gone.unlink()
        reader, records = read(parts[2])
        assert [record.seq for record in records] == alone
        assert reader.lost == 0


def test_a_run_of_which_nothing_sound_is_left_is_as_missing_as_before(tmp_path):
    parts = write_rotated(tmp_path / "run.jsonl")
    parts[0].unlink()
    for part in parts[1:]:
        part.write_text("mine")
    with pytest.raises(CaptureError, match="there is no capture"):
        open_capture(str(parts[0]))
    parts[0].touch()
    with pytest.raises(CaptureError, match="is empty"):
        open_capture(str(parts[0]))


def seqs_alone(path):
    """Read one part without the others of its run."""
    return [record.seq for record in CaptureReader([path])]


def test_it_is_told_on_which_line_of_which_part_a_record_stands(tmp_path):
    parts = write_rotated(tmp_path / "run.jsonl")
    reader, records = read(parts[0])
    for record in records[1:]:
        path, line = reader.where(record.seq)
        assert decode(path.read_bytes().splitlines()[line - 1]) == record
    assert reader.where(0) == (parts[0], 1)


def test_holes_blank_lines_gaps_and_fragments_shift_the_lines_told(tmp_path):
    path = tmp_path / "run.jsonl"
    lost = Gap(seq=9, t=0.0, lost=2, why="disk full")
    fragment = Gap(seq=10, t=0.0, lost=0, why="the line before is a fragment")
    path.write_bytes(
        lines_of(header(), message(1), message(2))
        + b"\n\n \n"
        + lines_of(message(3), message(6), message(7), lost, message(10))
        + b'{"kind":"mess\n'
        + lines_of(fragment, message(11), footer(12))
    )
    reader, records = read(path)
    text = path.read_bytes().splitlines()
    for record in records[1:]:
        _, line = reader.where(record.seq)
        if record not in (fragment, message(10)):  # these two have one seq
            assert decode(text[line - 1]) == record
    assert reader.where(5)[1] in (8, 9), "of a missing record, a line near by"


def test_lines_are_told_while_reading_and_of_records_that_passed(tmp_path):
    path = write_run(tmp_path / "run.jsonl", 1000)
    reader = open_path(path)
    for record in reader:
        assert reader.where(record.seq) == (path, record.seq + 1)
        assert reader.where(record.seq // 2) == (path, record.seq // 2 + 1)
