from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_tap.cli import streams
from mcp_tap.errors import TapError
from tests.bounds import BOUND
from tests.traffic import story

FULL = Path("/dev/full")


@pytest.fixture
def full():
    if not FULL.exists():
        pytest.skip("needs /dev/full")
    with FULL.open("wb") as file:
        yield file


def ended(args, stdout, **environ):
    done = subprocess.run(
        [sys.executable, "-m", "mcp_tap", *args],
        stdout=stdout,
        stderr=subprocess.PIPE,
        env={**os.environ, **environ},
        timeout=4 * BOUND,
        check=False,
    )
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize(
    "args",
    [
        ["show", "run.jsonl"],
        ["list", "."],
        ["watch", "run.jsonl"],
        ["prune", ".", "--keep", "0", "--yes"],
        ["config"],
        ["--help"],
    ],
)
def test_a_full_disk_is_told_and_is_no_fault_of_ours(tmp_path, monkeypatch, full, args):
    monkeypatch.chdir(tmp_path)
    story().write(tmp_path / "run.jsonl")
    code, err = ended(args, full, PYTHONUNBUFFERED="")
    assert code == 2
    assert "error[stdout]: cannot write to standard output: No space left on device\n" in err
    assert "ignored" not in err
    assert (tmp_path / "run.jsonl").exists()


@pytest.mark.parametrize("flags", [["--json"], ["-f", "jsonl"]])
def test_it_is_told_in_json_and_without_buffers_too(tmp_path, full, flags):
    path = story().write(tmp_path / "run.jsonl")
    code, err = ended(["show", str(path), *flags], full, PYTHONUNBUFFERED="1")
    assert code == 2
    assert json.loads(err.splitlines()[0])["error"]["code"] == "stdout"


def test_a_full_disk_on_stderr_changes_no_exit_code(tmp_path, full):
    done = subprocess.run(
        [sys.executable, "-m", "mcp_tap", "htpt"], stderr=full, timeout=BOUND, check=False
    )
    assert done.returncode == 2


def test_only_an_error_that_stdout_had_is_explained_by_it(monkeypatch):
    other = OSError(errno.EACCES, "Permission denied")
    assert streams.explained(other) is other
    raw = streams._Noting(os.open(os.devnull, os.O_RDONLY), "wb")
    monkeypatch.setattr(streams, "_raw", raw)
    with pytest.raises(OSError, match="Bad file") as caught:
        raw.write(b"x")
    assert streams.failure() is caught.value
    assert streams.explained(other) is other
    explained = streams.explained(caught.value)
    assert isinstance(explained, TapError)
    assert explained.what == "cannot write to standard output: Bad file descriptor"
    with pytest.raises(OSError, match="Bad file"):
        streams.finish()
    raw.close()
