"""Captures of tests on disk: names, places, and what is appended."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_tap.capture.reader import open_path
from mcp_tap.core.records import Closed, HttpRequest
from mcp_tap.errors import CaptureError
from mcp_tap.plugin.keeping import appended, file_name, place_of, put, sound_index
from mcp_tap.replay.index import Index
from tests.captures import write_run

CAPTURES = Path(__file__).parents[3] / "captures"
OLD, NEW = CAPTURES / "py-py-2026.jsonl", CAPTURES / "ts-py-2026.jsonl"


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("test_deploy", "test_deploy"),
        ("test_it[eu-north-1]", "test_it[eu-north-1]"),
        ("test_it[a:b*?<c>|\\]", "test_it[a-b---c---]"),
        ("tést_ö", "tést_ö"),
        ("..", "test"),
        ("", "test"),
    ],
)
def test_names_of_tests_become_names_of_files(name, made):
    assert file_name(name) == made


def test_long_names_are_cut_and_stay_apart():
    one, other = file_name("x" * 300 + "a"), file_name("x" * 300 + "b")
    assert one != other
    assert len(one.encode()) < 140
    assert len(file_name("ö" * 300).encode()) < 140


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("deploy", "deploy.jsonl"),
        ("shared/deploy", "shared/deploy.jsonl"),
        ("deploy.jsonl", "deploy.jsonl"),
        ("../../etc/deploy", "etc/deploy.jsonl"),
        ("/deploy", "deploy.jsonl"),
        ("", "test.jsonl"),
    ],
)
def test_no_name_leads_out_of_the_folder(name, place):
    assert place_of(Path("/captures"), name) == Path("/captures") / place


def test_a_recording_is_put_in_place_whole_and_private(tmp_path):
    place = tmp_path / "new" / "test.jsonl"
    put(OLD, place)
    assert place.read_bytes() == OLD.read_bytes()
    assert place.stat().st_mode & 0o777 == 0o600
    put(NEW, place)
    assert place.read_bytes() == NEW.read_bytes()
    assert [path.name for path in place.parent.iterdir()] == ["test.jsonl"]


def test_a_place_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CaptureError, match="cannot be written"):
        put(OLD, tmp_path / "file" / "test.jsonl")


def test_what_is_appended_reads_as_if_it_had_come_later(tmp_path):
    with Index.of([str(OLD)]) as old, Index.of([str(NEW)]) as new:
        before = [(c.method, c.target, c.outcome, len(c.rounds)) for c in old.calls]
        more = [(c.method, c.target, c.outcome, len(c.rounds)) for c in new.calls]
        numbers = set(new.captures[0].exchanges)
    appended(OLD, NEW, numbers, tmp_path / "both.jsonl")
    reader = open_path(tmp_path / "both.jsonl")
    records = list(reader)
    assert reader.clean
    assert not reader.lost
    assert [r.seq for r in records] == list(range(len(records)))
    times = [r.t for r in records]
    assert times == sorted(times)
    requests = [r for r in records if isinstance(r, HttpRequest)]
    assert len({r.exchange for r in requests}) == len(requests)
    assert all(c.sent is None or c.sent <= c.t for c in records if isinstance(c, Closed))
    with Index.of([str(tmp_path / "both.jsonl")]) as both:
        found = [(c.method, c.target, c.outcome, len(c.rounds)) for c in both.calls]
    assert found == before + more


def test_only_what_is_wanted_is_appended(tmp_path):
    with Index.of([str(NEW)]) as new:
        number = new.calls[0].rounds[0].exchange.number
        called = new.calls[0].method
    appended(OLD, NEW, {number}, tmp_path / "both.jsonl")
    with Index.of([str(OLD)]) as old, Index.of([str(tmp_path / "both.jsonl")]) as both:
        assert [c.method for c in both.calls] == [*(c.method for c in old.calls), called]


def test_a_sound_capture_is_read(tmp_path):
    with sound_index(OLD, again="pytest x") as index:
        assert index.captures[0].name == str(OLD)


def test_what_is_not_sound_says_how_to_record_it_anew(tmp_path):
    path = write_run(tmp_path / "test[a b].jsonl")
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(CaptureError) as error:
        sound_index(path, again="pytest x")
    assert error.value.code == "capture-torn"
    assert error.value.help == f"rm '{path}' && pytest x"
