"""Single records of a capture, read again."""

from __future__ import annotations

import gzip
from types import SimpleNamespace

import pytest

from mcp_tap.core.records import encode
from mcp_tap.errors import CaptureError
from mcp_tap.replay import source as module
from mcp_tap.replay.source import NEAR, Source
from tests import captures


@pytest.fixture
def opened():
    sources = []

    def make(spec):
        sources.append(Source(str(spec)))
        records = list(sources[-1].records())
        sources[-1].keep_open()
        return sources[-1], records

    yield make
    for source in sources:
        source.close()


def test_every_record_is_read_again_as_it_was(opened, tmp_path):
    source, records = opened(captures.write_run(tmp_path / "run.jsonl", 20))
    assert [source.record(record.seq) for record in records] == records
    assert source.again([r.seq for r in records]) == records


def test_records_are_given_in_the_order_in_which_they_are_named(opened, tmp_path):
    source, _ = opened(captures.write_run(tmp_path / "run.jsonl", 5))
    assert [record.seq for record in source.again([4, 1, 3])] == [4, 1, 3]
    assert source.again([]) == []


def test_a_run_of_several_parts_is_one(opened, tmp_path):
    parts = captures.write_rotated(tmp_path / "run.jsonl")
    assert len(parts) > 2
    source, records = opened(parts[0])
    assert [source.record(record.seq) for record in records] == records
    far = [records[0].seq, records[-1].seq]
    assert [record.seq for record in source.again(far)] == far


def test_records_far_apart_in_a_file_are_read_one_by_one(opened, tmp_path, monkeypatch):
    path = tmp_path / "run.jsonl"
    long = b'{"jsonrpc":"2.0","id":1,"method":"%b"}' % (b"x" * NEAR)
    records = [captures.header(), *(captures.message(seq, long) for seq in (1, 2, 3))]
    path.write_bytes(captures.lines_of(*records, captures.footer(4)))
    source, _ = opened(path)
    spans = []
    pread = module.os.pread

    def seen(file, span, at):
        spans.append(span)
        return pread(file, span, at)

    monkeypatch.setattr(module, "os", SimpleNamespace(pread=seen))
    assert source.again([1, 2, 3]) == records[1:]
    assert spans == [len(encode(record)) + 1 for record in records[1:]]


def test_a_packed_file_is_read_again_too(opened, tmp_path):
    plain = captures.write_run(tmp_path / "run.jsonl", 5)
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    source, records = opened(packed)
    assert [source.record(record.seq) for record in records] == records


def test_of_a_packed_file_that_was_cut_the_rest_is_read(opened, tmp_path):
    lines = [captures.message(seq) for seq in range(1, 2000)]
    packed = gzip.compress(captures.lines_of(captures.header(), *lines))
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(packed[:-200])
    source, records = opened(path)
    assert 1 < len(records) < 2000
    assert source.record(records[-1].seq) == records[-1]


def test_standard_input_is_read_again_too(opened, tmp_path, monkeypatch):
    with captures.write_run(tmp_path / "run.jsonl", 5).open("rb") as file:
        monkeypatch.setattr("sys.stdin", file)
        source, records = opened("-")
    assert source.name == "-"
    assert [source.record(record.seq) for record in records] == records


def test_it_says_on_which_line_a_record_stands(opened, tmp_path):
    source, _ = opened(captures.write_run(tmp_path / "run.jsonl", 5))
    assert [source.line(seq) for seq in (0, 1, 5)] == [1, 2, 6]


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:100],
        lambda data: b"moved\n" + data,
        lambda data: data.replace(b'"seq":3', b'"seq":9'),
    ],
    ids=["shorter", "moved", "another number"],
)
def test_a_file_that_was_changed_meanwhile_is_an_error(opened, tmp_path, change):
    path = captures.write_run(tmp_path / "run.jsonl", 5)
    source, _ = opened(path)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(CaptureError) as raised:
        source.record(3)
    assert raised.value.code == "capture-damaged"
    assert "no record 3 at line 4" in raised.value.what


def test_a_run_that_was_put_together_with_itself_is_refused_before_it_is_used(tmp_path):
    path = captures.write_run(tmp_path / "run.jsonl", 5)
    whole = path.read_bytes()
    path.write_bytes(whole + b"".join(whole.splitlines(keepends=True)[2:4]))
    source = Source(str(path))
    assert len(list(source.records())) == 9
    with pytest.raises(CaptureError) as raised:
        source.keep_open()
    assert raised.value.code == "capture-damaged"
    assert raised.value.what.endswith("run.jsonl holds two records 2")


def test_what_is_not_there_is_an_error():
    with pytest.raises(CaptureError):
        Source("no/such/file.jsonl")
