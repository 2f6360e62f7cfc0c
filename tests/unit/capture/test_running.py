from __future__ import annotations

import os

import pytest

from mcp_tap.capture import running
from mcp_tap.capture.file import CaptureFile
from mcp_tap.capture.running import OneFile, RunsOf
from tests.captures import header


@pytest.fixture
def write(tmp_path):
    files = []

    def begin(name):
        files.append(CaptureFile(tmp_path / name, header()))
        return files[-1]

    yield begin
    for file in files:
        file.close()


def names(runs):
    return [path.name for path in runs.begun()]


def test_the_first_look_gives_the_runs_that_are_being_written(tmp_path, write):
    write("a.jsonl")
    write("over.jsonl").close()
    (tmp_path / "notes.txt").touch()
    assert names(RunsOf(tmp_path)) == ["a.jsonl"]


def test_a_run_that_is_at_a_later_part_is_named_by_its_first_file(tmp_path, write):
    file = write("a.jsonl")
    file.next_part()
    file.path.unlink()
    assert names(RunsOf(tmp_path)) == ["a.jsonl"]


def test_a_run_that_begins_is_told_once_and_its_later_parts_are_not(tmp_path, write):
    runs = RunsOf(tmp_path)
    assert names(runs) == []
    file = write("a.jsonl")
    runs._next = 0.0  # as if the time had passed
    assert names(runs) == ["a.jsonl"]
    file.next_part()
    runs._next = 0.0
    assert names(runs) == []


def test_a_file_in_the_place_of_another_is_a_new_run(tmp_path, write):
    write("a.jsonl")
    runs = RunsOf(tmp_path)
    assert names(runs) == ["a.jsonl"]
    other = write("b.tmp")
    os.replace(other.path, tmp_path / "a.jsonl")  # noqa: PTH105 - as a shell's mv
    runs._next = 0.0
    assert names(runs) == ["a.jsonl"]


def test_a_folder_that_comes_later_is_read_then(tmp_path, write):
    runs = RunsOf(tmp_path / "home")
    assert names(runs) == []
    (tmp_path / "home").mkdir()
    write("home/a.jsonl")
    assert names(runs) == ["a.jsonl"]


def test_a_folder_in_which_nothing_changes_is_not_read_again_and_again(tmp_path, monkeypatch):
    reads = []
    real = os.scandir
    monkeypatch.setattr(running.os, "scandir", lambda folder: reads.append(folder) or real(folder))
    monkeypatch.setattr(running, "_GRAIN", 0.0)
    runs = RunsOf(tmp_path)
    for _ in range(50):
        assert names(runs) == []
    assert len(reads) == 1


def test_one_file_is_told_of_once_when_it_is_there(tmp_path):
    one = OneFile(tmp_path / "run.jsonl")
    assert one.begun() == []
    one.path.touch()
    assert one.begun() == [one.path]
    assert one.begun() == []
