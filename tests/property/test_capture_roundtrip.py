"""What goes into a capture comes out of it, wherever the file is cut, split or packed."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from mcp_tap.capture.reader import open_path
from mcp_tap.capture.tail import CaptureTail
from mcp_tap.capture.writer import CaptureWriter
from mcp_tap.core.records import (
    Body,
    Closed,
    Decision,
    Digest,
    Footer,
    HttpRequest,
    HttpResponse,
    Mask,
    Message,
    Noise,
    Sse,
    Stderr,
    decode,
    encode,
)
from tests.captures import fail, footer, header, lines_of

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
numbers = st.integers(0, 2**53)
times = st.floats(0, 1e6, allow_nan=False)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | words | st.floats(-1e9, 1e9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
headers = st.lists(st.tuples(words, words), max_size=4)
masks = st.lists(
    st.builds(Mask, at=words, length=numbers, shape=words, tag=words, scheme=st.none() | words),
    max_size=2,
)
digests = st.builds(Digest, bytes=numbers, sha256=words)
senders = st.sampled_from(["client", "server", "tap"])
carriers = st.one_of(
    st.fixed_dictionaries({"body": values.map(lambda v: Raw(msgspec.json.encode(v)))}),
    st.fixed_dictionaries({"text": words}),
    st.fixed_dictionaries({"b64": st.binary(max_size=40)}),
)
events = st.none() | st.builds(Sse, id=st.none() | words, retry=st.none() | words)


@st.composite
def payloads(draw):
    kind = draw(st.sampled_from([Message, Body, Noise, Stderr]))
    fields = draw(carriers)
    return kind(
        seq=1,
        t=draw(times),
        sender=draw(senders),
        exchange=draw(st.none() | numbers),
        sse=draw(events),
        truncated=draw(st.booleans()),
        masked=draw(masks),
        **fields,
    )


others = st.one_of(
    st.builds(
        HttpRequest,
        seq=st.just(1),
        t=times,
        exchange=numbers,
        conn=numbers,
        peer=words,
        method=words,
        path=words,
        headers=headers,
        masked=masks,
        leg=st.sampled_from([None, "client", "upstream"]),
    ),
    st.builds(
        HttpResponse,
        seq=st.just(1),
        t=times,
        exchange=numbers,
        status=numbers,
        headers=headers,
        masked=masks,
        sender=senders,
        leg=st.none(),
    ),
    st.builds(
        Closed,
        seq=st.just(1),
        t=times,
        exchange=numbers,
        how=st.sampled_from(["complete", "client_gone", "refused"]),
        request=digests,
        response=digests,
        why=st.none() | words,
    ),
    st.builds(
        Decision, seq=st.just(1), t=times, hook=words, verdict=words, why=words, entry=st.none()
    ),
)


@st.composite
def runs(draw, max_size=12):
    found = draw(st.lists(payloads() | others, max_size=max_size))
    return [msgspec.structs.replace(record, seq=seq) for seq, record in enumerate(found, 1)]


@given(payloads() | others)
def test_a_record_is_one_line_and_comes_back_equal(record):
    line = encode(record)
    assert b"\n" not in line
    assert decode(line) == record


@given(runs(), st.none() | st.integers(200, 2000), st.booleans())
def test_what_was_written_is_read_and_followed_alike(records, rotate, sync):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        writer = CaptureWriter(path, header(), rotate=rotate, sync=sync, on_trouble=fail)
        for record in records:
            writer.write(record)
        writer.close(footer(len(records) + 1))
        whole = [header(), *records, footer(len(records) + 1)]
        reader = open_path(path)
        assert list(reader) == whole
        assert (reader.clean, reader.lost, reader.torn) == (True, 0, None)
        with CaptureTail(path) as tail:
            followed = tail.poll()
            while tail.behind:
                followed += tail.poll()
        assert followed == whole


@given(runs(), st.data())
def test_a_file_cut_anywhere_gives_the_records_before_the_cut(records, data):
    whole = [header(), *records, footer(len(records) + 1)]
    text = lines_of(*whole)
    at = data.draw(st.integers(text.index(b"\n"), len(text)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        path.write_bytes(text[:at])
        reader = open_path(path)
        found = list(reader)
    complete = text[:at].count(b"\n")
    ends_whole = text[at : at + 1] == b"\n"
    assert found == whole[: complete + ends_whole]
    rest = len(text[:at]) - (text[:at].rfind(b"\n") + 1)
    torn = rest > 0 and not ends_whole
    assert (reader.torn is not None) == torn
    if torn:
        assert (reader.torn.line, reader.torn.bytes) == (complete + 1, rest)
    assert reader.clean == (len(found) == len(whole))
    assert reader.lost == 0


@given(runs(), st.sets(st.integers(1, 12)))
def test_every_record_that_is_taken_out_is_counted(records, missing):
    kept = [record for record in records if record.seq not in missing]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl.gz"
        path.write_bytes(gzip.compress(lines_of(header(), *kept, footer(len(records) + 1))))
        reader = open_path(path)
        found = list(reader)
    assert isinstance(found[-1], Footer)
    assert reader.lost == reader.unexplained == len(records) - len(kept)


@given(runs(), st.lists(st.integers(1, 60), max_size=40))
def test_a_tail_gives_the_same_for_any_pieces_the_file_grows_by(records, pieces):
    text = lines_of(header(), *records, footer(len(records) + 1))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        path.touch()
        found, at = [], 0
        with CaptureTail(path) as tail, path.open("ab", buffering=0) as file:
            for size in [*pieces, len(text)]:
                file.write(text[at : at + size])
                at += size
                found += tail.poll()
    assert found == [header(), *records, footer(len(records) + 1)]
