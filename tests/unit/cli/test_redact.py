from __future__ import annotations

import gzip
import io
import json
import stat
import sys
from pathlib import Path

import pytest

from mcp_tap.capture.reader import open_path
from mcp_tap.cli.main import run
from mcp_tap.core.records import encode
from tests.captures import footer, header, lines_of, message, write_rotated
from tests.traffic import Traffic, done

SECRET = "hunter2-hunter2-9"


@pytest.fixture(autouse=True)
def in_its_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def capture(tmp_path):
    traffic = Traffic()
    traffic.call("login", done("welcome"), arguments={"password": SECRET})
    return traffic.write(tmp_path / "run.jsonl")


def redact(capsys, *args, code=0):
    assert run(["redact", *map(str, args)]) == code
    return capsys.readouterr()


def test_the_masked_capture_goes_to_a_new_file_of_its_own(capture, capsys):
    before = capture.read_bytes()
    _, err = redact(capsys, capture, "-o", "clean.jsonl", "--redact", "key:password")
    assert err == "1 value masked in 1 record of 7, run.jsonl, written to clean.jsonl\n"
    clean = Path("clean.jsonl")
    assert SECRET not in clean.read_text()
    assert stat.S_IMODE(clean.stat().st_mode) == 0o600
    assert capture.read_bytes() == before
    old, new = list(open_path(capture)), list(open_path(clean))
    assert [(r.seq, r.t, type(r)) for r in old] == [(r.seq, r.t, type(r)) for r in new]
    assert [encode(r) for r in old[3:]] == [encode(r) for r in new[3:]]
    assert new[0].redaction == ["default", "key:password"]
    assert run(["show", "clean.jsonl", "-d3"]) == 0
    assert '"password": "mcp-tap:' in capsys.readouterr().out


def test_nothing_that_exists_is_overwritten(capture, capsys):
    before = capture.read_bytes()
    for _ in range(2):
        _, err = redact(capsys, capture, "-o", capture, code=2)
        assert "error[output-exists]" in err
        assert "run-2.jsonl" in err
    assert capture.read_bytes() == before
    _, err = redact(capsys, capture, "-o", "no/such.jsonl", code=2)
    assert "there is no folder no" in err


def test_packed_files_are_read_and_written_by_their_names(capture, capsys):
    redact(capsys, capture, "-o", "a.jsonl.gz", "--redact", "key:password")
    redact(capsys, "a.jsonl.gz", "-o", "b.jsonl")
    packed = gzip.decompress(Path("a.jsonl.gz").read_bytes()).splitlines()
    assert packed[1:] == Path("b.jsonl").read_bytes().splitlines()[1:]
    assert SECRET not in str(packed)


def test_dashes_are_standard_input_and_output(capture, capsys, monkeypatch):
    class Stdin:
        def fileno(self):
            return file.fileno()

    out = io.TextIOWrapper(io.BytesIO())
    with capture.open("rb") as file:
        monkeypatch.setattr(sys, "stdin", Stdin())
        monkeypatch.setattr(sys, "stdout", out)
        assert run(["redact", "-", "-o", "-", "--redact", "key:password"]) == 0
    data = out.buffer.getvalue()
    assert data.count(b"\n") == 7
    assert SECRET.encode() not in data
    assert capsys.readouterr().err.endswith("standard input, written to standard output\n")


def test_tags_are_those_of_the_key_file(capture, capsys, tmp_path):
    key = tmp_path / "key"
    key.write_text("k" * 32)
    for name in ("a", "b"):
        redact(capsys, capture, "-o", name, "--redact", "key:password", "--redact-key", key)
    redact(capsys, capture, "-o", "c", "--redact", "key:password")
    assert Path("a").read_bytes() == Path("b").read_bytes() != Path("c").read_bytes()
    key.write_text("short")
    _, err = redact(capsys, capture, "-o", "d", "--redact-key", key, code=2)
    assert "bad-redact-key" in err
    assert not Path("d").exists()


def test_all_parts_of_a_run_become_one_file(tmp_path, capsys):
    parts = write_rotated(tmp_path / "long.jsonl")
    assert len(parts) > 2
    redact(capsys, parts[0], "-o", "whole.jsonl")
    assert [r.seq for r in open_path(Path("whole.jsonl"))] == list(range(62))
    parts[0].unlink()
    redact(capsys, parts[0], "-o", "rest.jsonl")
    for path in (parts[0], Path("rest.jsonl")):
        reader = open_path(path)
        list(reader)
        assert reader.lost > 0
    redact(capsys, parts[1], "-o", "part.jsonl")
    reader = open_path(Path("part.jsonl"))
    list(reader)
    assert reader.lost == 0


def test_a_torn_line_is_told_and_can_still_be_told_from_the_new_file(tmp_path, capsys):
    path = tmp_path / "torn.jsonl"
    path.write_bytes(lines_of(header(), message(1)) + b'{"kind":"mess')
    _, err = redact(capsys, path, "-o", "new.jsonl")
    assert "warning[capture-torn]" in err
    reader = open_path(Path("new.jsonl"))
    list(reader)
    assert (reader.lost, reader.torn) == (1, None)


def test_of_a_damaged_capture_nothing_is_left_behind(tmp_path, capsys):
    path = tmp_path / "bad.jsonl"
    path.write_bytes(lines_of(header(), message(1)) + b"what\n" + lines_of(footer(2)))
    _, err = redact(capsys, path, "-o", "new.jsonl", code=2)
    assert "capture-damaged" in err
    assert not Path("new.jsonl").exists()


@pytest.mark.parametrize(
    ("args", "code"),
    [([], "usage"), (["--scan", "-o", "x"], "usage"), (["-o", "x", "--redact", "keys:a"], "bad-")],
)
def test_what_cannot_be_meant_is_refused(capture, capsys, args, code):
    _, err = redact(capsys, capture, *args, code=2)
    assert f"error[{code}" in err
    assert not Path("x").exists()


def test_a_scan_lists_places_and_never_values(capture, capsys):
    out, err = redact(capsys, capture, "--scan", code=1)
    assert out == (
        "run.jsonl:3: a secret by its name in password, at body.params.arguments.password\n"
    )
    assert err == "1 place in run.jsonl to look at\n"
    out, _ = redact(capsys, capture, "--scan", "--json", code=1)
    document = json.loads(out)
    assert document["suspects"] == [
        {
            "path": "run.jsonl",
            "line": 3,
            "seq": 2,
            "pointer": "/body/params/arguments/password",
            "key": "password",
            "kind": "a secret by its name",
        }
    ]
    assert SECRET not in out


def test_a_scan_of_what_is_masked_finds_nothing(capture, capsys):
    redact(capsys, capture, "-o", "clean.jsonl", "--redact", "key:password")
    out, err = redact(capsys, "clean.jsonl", "--scan")
    assert (out, err) == ("", "nothing in clean.jsonl looks like a secret\n")


def test_a_scan_of_half_a_capture_cannot_say_that_there_is_nothing(tmp_path, capsys):
    path = tmp_path / "torn.jsonl"
    path.write_bytes(lines_of(header(), message(1)) + b'{"kind":"mess')
    _, err = redact(capsys, path, "--scan", code=4)
    assert "capture-torn" in err
