from __future__ import annotations

import gzip
import os
import re
import tracemalloc
from datetime import UTC, datetime, timedelta, timezone

import pytest

from mcp_tap.capture import store
from mcp_tap.capture.writer import CaptureWriter
from mcp_tap.core.records import Body, encode
from mcp_tap.errors import CaptureError
from tests.captures import fail, footer, header, message, write_rotated, write_run

NOW = datetime(2026, 8, 1, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MCP_TAP_HOME", str(tmp_path))
    return tmp_path


def aged(path, seconds: float = 3600):
    """Let a file look as if it was last written to so long before now."""
    stamp = NOW.timestamp() - seconds
    os.utime(path, (stamp, stamp))
    return path


def day(number: int) -> str:
    return f"2026-07-{number:02d}T10:00:00Z"


def test_captures_are_kept_where_the_environment_says(folder, monkeypatch):
    assert store.home() == folder
    monkeypatch.delenv("MCP_TAP_HOME")
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert str(store.home()).endswith("/mcp-tap")


def test_a_new_path_has_the_time_in_utc_the_label_and_a_tag(folder):
    started = datetime(2026, 7, 28, 14, 4, 1, tzinfo=timezone(timedelta(hours=2)))
    path = store.new_path("billing", started)
    assert path.parent == folder
    assert re.fullmatch(r"20260728T120401-billing-[0-9a-f]{4}\.jsonl", path.name)
    bare = store.new_path(None, "2026-07-28T12:04:01.5Z").name
    assert re.fullmatch(r"20260728T120401-[0-9a-f]{4}\.jsonl", bare)


@pytest.mark.parametrize("label", ["../../etc/x", "a b\nc", "ключ", "-", "x" * 300, "a.jsonl.001"])
def test_no_label_leads_out_of_the_folder_or_makes_an_odd_name(folder, label):
    path = store.new_path(label, "2026-07-28T12:04:01Z")
    assert path.parent == folder
    assert re.fullmatch(r"20260728T120401(-[A-Za-z0-9_-]+)?-[0-9a-f]{4}\.jsonl", path.name)
    assert len(path.name) < 80


@pytest.mark.parametrize("name", ["20260728T120401-billing-7f3a", "20260728T120401-7f3a"])
def test_a_run_recorded_to_a_file_named_by_an_id_has_that_id(tmp_path, name):
    for suffix in (".jsonl", ".jsonl.gz"):
        assert store.run_id_for(tmp_path / (name + suffix), "other", NOW) == name


def test_runs_recorded_to_one_name_have_ids_of_their_own(tmp_path):
    ids = {store.run_id_for(tmp_path / "run.jsonl", "billing", NOW) for _ in range(8)}
    assert len(ids) > 1
    assert all(re.fullmatch(r"20260801T000000-billing-[0-9a-f]{4}", each) for each in ids)
    assert re.fullmatch(r"20260801T000000-[0-9a-f]{4}", store.run_id_for(None, None, NOW))


def test_a_file_with_a_name_of_its_own_is_found_by_its_recorded_id_too(folder):
    path = write_run(folder / "nightly.jsonl", run="20260728T120401-billing-7f3a")
    write_run(folder / "other.jsonl", run="20260729T120401-billing-11aa")
    (folder / "broken.jsonl").write_text("no capture")
    for spec in ("nightly", "20260728T120401-billing-7f3a", "7f3a"):
        assert store.find(spec) == path


def test_the_newest_is_the_run_started_last_whatever_its_name(folder):
    write_run(folder / "z.jsonl", started=day(1))
    write_run(folder / "a.jsonl", started=day(3))
    write_run(folder / "m.jsonl", started=day(2))
    (folder / "zz.jsonl").write_text("no capture")
    assert store.newest() == folder / "a.jsonl"
    assert store.find(None) == folder / "a.jsonl"


def test_a_run_that_is_over_and_saw_nothing_is_not_the_newest_unless_all_are_so(folder):
    idle = write_run(folder / "idle.jsonl", 0, started=day(3), clean=False)
    assert store.newest() == idle
    with idle.open("ab") as file:
        file.write(encode(footer(1, exchanges=0)) + b"\n")
    write_run(folder / "killed.jsonl", 0, started=day(4), clean=False)
    assert store.newest() == folder / "killed.jsonl"
    used = write_run(folder / "used.jsonl", started=day(1))
    write_run(folder / "older.jsonl", started="2026-06-30T10:00:00Z")
    assert store.newest() == used


def test_a_run_that_goes_on_is_the_newest_before_anything_passed(folder):
    write_run(folder / "used.jsonl", started=day(1))
    writer = CaptureWriter(folder / "live.jsonl", header(started=day(2)), on_trouble=fail)
    assert store.newest() == folder / "live.jsonl"
    writer.close(footer(1, exchanges=0))
    assert store.newest() == folder / "used.jsonl"


def test_the_captures_folder_is_made_for_a_new_run_and_private(folder, monkeypatch):
    monkeypatch.setenv("MCP_TAP_HOME", str(folder / "a" / "b"))
    path = store.new_path(None, "2026-07-28T12:04:01Z")
    assert path.parent.stat().st_mode & 0o777 == 0o700
    (folder / "file").touch()
    monkeypatch.setenv("MCP_TAP_HOME", str(folder / "file" / "x"))
    with pytest.raises(CaptureError) as caught:
        store.new_path(None, "2026-07-28T12:04:01Z")
    assert caught.value.code == "capture-unwritable"


def test_no_capture_yet_says_how_to_get_one(folder):
    with pytest.raises(CaptureError) as caught:
        store.find(None)
    assert caught.value.code == "no-captures"
    assert "mcp-tap http" in caught.value.help


def test_a_run_is_found_by_its_id_and_by_either_end_of_it(folder):
    path = write_run(folder / "20260728T120401-billing-7f3a.jsonl")
    write_run(folder / "20260729T120401-billing-11aa.jsonl")
    for spec in ("20260728T120401-billing-7f3a", "7f3a", "billing-7f3a", "20260728", str(path)):
        assert store.find(spec) == path


def test_an_id_that_fits_several_runs_names_them(folder):
    write_run(folder / "20260728T120401-a-7f3a.jsonl")
    write_run(folder / "20260728T120402-a-11aa.jsonl")
    with pytest.raises(CaptureError) as caught:
        store.find("20260728")
    assert caught.value.code == "capture-ambiguous"
    assert "20260728T120401-a-7f3a" in caught.value.where


def test_what_is_not_there_and_a_folder_are_told_apart(folder):
    with pytest.raises(CaptureError) as caught:
        store.find("nowhere.jsonl")
    assert caught.value.code == "capture-missing"
    write_run(folder / "run.jsonl")
    with pytest.raises(CaptureError) as caught:
        store.find(str(folder))
    assert caught.value.code == "capture-is-folder"
    assert caught.value.help == f"mcp-tap show {folder / 'run.jsonl'}"


def test_a_listing_tells_of_each_run_newest_first(folder):
    write_run(folder / "one.jsonl", 3, started=day(1), label="billing")
    write_run(folder / "two.jsonl", 7, started=day(2), clean=False)
    (folder / "notes.txt").write_text("not looked at")
    (folder / "odd.jsonl").write_text("no capture\n")
    listing = store.list_runs()
    assert [run.id for run in listing.runs] == ["two", "one"]
    assert [(path.name, error.code) for path, error in listing.skipped] == [
        ("odd.jsonl", "not-a-capture")
    ]
    two, one = listing.runs
    assert (one.state, one.records, one.exchanges, one.header.label) == ("ended", 5, 1, "billing")
    assert (two.state, two.records, two.exchanges) == ("no footer", 8, None)
    assert two.duration == pytest.approx(0.007)


def test_all_parts_of_a_run_are_one_row(folder):
    parts = write_rotated(folder / "run.jsonl", 60)
    (run,) = store.list_runs().runs
    assert run.parts == parts
    assert run.bytes == sum(part.stat().st_size for part in parts)
    assert (run.records, run.state) == (62, "ended")


def test_a_torn_end_and_a_long_last_line_do_not_hide_the_last_record(folder):
    path = write_run(folder / "run.jsonl", 3, clean=False)
    big = Body(seq=4, t=2.5, sender="server", text="x" * 1_000_000)
    with path.open("ab") as file:
        file.write(encode(big) + b'\n{"kind":"mess')
    (run,) = store.list_runs().runs
    assert (run.records, run.duration, run.state) == (5, 2.5, "no footer")


def test_a_run_that_is_being_written_is_seen_as_such(folder):
    writer = CaptureWriter(folder / "run.jsonl", header(), on_trouble=fail)
    writer.write(message(1))
    writer.flush()
    assert store.list_runs().runs[0].state == "running"
    writer.close(footer(2))
    assert store.list_runs().runs[0].state == "ended"


def test_lost_records_are_told(folder):
    path = write_run(folder / "run.jsonl", 3, clean=False)
    with path.open("ab") as file:
        file.write(encode(footer(10, lost=6)) + b"\n")
    (run,) = store.list_runs().runs
    assert (run.records, run.lost) == (5, 6)


def test_a_packed_run_is_listed_without_a_guess_at_its_end(folder):
    path = write_run(folder / "run.jsonl", 3)
    (folder / "run.jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    (run,) = store.list_runs().runs
    assert (run.id, run.state, run.records) == ("run", "packed", None)


def test_an_odd_start_in_a_header_does_not_break_the_listing(folder):
    write_run(folder / "a.jsonl", started="yesterday")
    write_run(folder / "b.jsonl", started="2026-07-28T12:04:01")
    assert len(store.list_runs().runs) == 2


def test_a_folder_that_is_not_there_holds_no_runs(folder):
    assert store.list_runs(folder / "absent") == store.Listing([], [])


def runs(folder):
    for number in range(1, 6):
        aged(write_run(folder / f"r{number}.jsonl", started=day(number)))
    return store.list_runs().runs


def chosen(found, **options) -> list[str]:
    return [run.id for run in store.to_prune(found, now=NOW, **options)[0]]


def test_age_and_number_choose_what_goes(folder):
    found = runs(folder)
    age = (NOW - datetime(2026, 7, 3, 10, tzinfo=UTC)).total_seconds()
    assert chosen(found, older_than=age) == ["r2", "r1"]
    assert chosen(found, keep=2) == ["r3", "r2", "r1"]
    assert chosen(found, keep=0) == ["r5", "r4", "r3", "r2", "r1"]
    assert chosen(found, keep=4, older_than=age) == ["r1"]
    assert chosen(found, keep=9, older_than=age) == []


def test_a_run_that_may_still_be_written_stays_unless_forced(folder):
    aged(write_run(folder / "old.jsonl", clean=False))
    aged(write_run(folder / "fresh.jsonl", clean=False), 5)
    aged(write_run(folder / "done.jsonl"), 5)
    writer = CaptureWriter(folder / "live.jsonl", header(started=day(1)), on_trouble=fail)
    aged(writer.path, 7200)
    found = store.list_runs().runs
    gone, kept = store.to_prune(found, now=NOW, keep=0)
    assert {run.id for run in gone} == {"old", "done"}
    assert {run.id for run in kept} == {"fresh", "live"}
    assert len(store.to_prune(found, now=NOW, keep=0, force=True)[0]) == 4
    writer.close(footer(1))


def test_removing_a_run_takes_all_its_parts_and_nothing_else(folder):
    parts = write_rotated(folder / "run.jsonl", 60)
    foreign = folder / f"run.jsonl.{len(parts):03d}"
    foreign.write_text("mine")
    other = write_run(folder / "run2.jsonl")
    (run,) = [run for run in store.list_runs().runs if run.id == "run"]
    store.remove(run)
    assert sorted(folder.iterdir()) == sorted([foreign, other])


@pytest.mark.parametrize("how", ["removed", "emptied"])
def test_what_is_left_of_a_rotated_run_is_listed_found_and_removed(folder, how):
    parts = write_rotated(folder / "20260728T120401-7f3a.jsonl")
    if how == "removed":
        parts[0].unlink()
    else:
        parts[0].write_bytes(b"")
    listing = store.list_runs()
    (run,) = listing.runs
    assert (run.id, run.state, listing.skipped) == ("20260728T120401-7f3a", "ended", [])
    assert run.lost == run.header.seq > 0
    assert store.newest() == store.find("7f3a") == store.find(str(parts[0])) == parts[0]
    store.remove(run)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("tail", [b"\n" * (8 << 20), b"x" * (8 << 20), b"{" * (8 << 20) + b"\n"])
def test_a_hostile_end_costs_little_and_leaves_the_end_unknown(folder, tail):
    path = write_run(folder / "a.jsonl", clean=False)
    with path.open("ab") as file:
        file.write(tail)
    tracemalloc.start()
    (run,) = store.list_runs().runs
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (run.state, run.records) == ("no footer", None)
    assert peak < 16 << 20
    assert store.newest() == path


def test_a_file_of_one_endless_line_is_skipped_without_being_read(folder):
    with (folder / "a.jsonl").open("wb") as file:
        file.truncate(1 << 30)
    assert [error.code for _, error in store.list_runs().skipped] == ["not-a-capture"]


@pytest.mark.parametrize("started", ["9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00Z", "x"])
def test_a_start_at_the_ends_of_the_calendar_can_be_pruned(folder, started):
    write_run(folder / "a.jsonl", started=started)
    runs = store.list_runs().runs
    assert len(store.to_prune(runs, now=NOW, keep=0)[0]) == 1
