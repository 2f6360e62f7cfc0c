from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest

from mcp_tap.capture.writer import CaptureWriter
from mcp_tap.cli.main import run
from tests.bounds import BOUND
from tests.captures import footer, header, write_rotated, write_run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MCP_TAP_HOME", str(tmp_path))
    write_run(tmp_path / "old.jsonl", started="2020-01-01T00:00:00Z")
    write_run(tmp_path / "new.jsonl", started="2999-01-01T00:00:00Z")
    (tmp_path / "odd.jsonl").write_text("no capture\n")
    return tmp_path


def names(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_old_runs_go_and_everything_else_stays(folder, capsys):
    assert run(["prune", "--older-than", "30d", "-y"]) == 0
    out, err = capsys.readouterr()
    assert "old " in out
    assert "deleted 1 capture" in err
    assert names(folder) == ["new.jsonl", "odd.jsonl"]


def test_a_dry_run_only_says_what_would_go(folder, capsys):
    assert run(["prune", "--keep", "0", "--dry-run"]) == 0
    out, err = capsys.readouterr()
    assert "old " in out
    assert "new " in out
    assert "would delete 2 captures" in err
    assert names(folder) == ["new.jsonl", "odd.jsonl", "old.jsonl"]


def test_all_parts_go_together(folder, capsys):
    parts = write_rotated(folder / "rotated.jsonl", 60)
    assert run(["prune", "--keep", "1", "-y"]) == 0
    assert f"{len(parts) + 1} files" in capsys.readouterr().err
    assert names(folder) == ["new.jsonl", "odd.jsonl"]


def test_a_run_that_is_being_written_stays_unless_forced(folder, capsys):
    writer = CaptureWriter(folder / "live.jsonl", header(), on_trouble=lambda _: None)
    assert run(["prune", "--keep", "0", "-y"]) == 0
    assert "kept: live may still be written" in capsys.readouterr().err
    assert names(folder) == ["live.jsonl", "odd.jsonl"]
    assert run(["prune", "--keep", "0", "--force", "-y"]) == 0
    assert names(folder) == ["odd.jsonl"]
    writer.close(footer(1))


def test_without_a_choice_nothing_is_deleted(folder, capsys):
    assert run(["prune"]) == 2
    assert "error[nothing-to-prune]" in capsys.readouterr().err
    assert len(names(folder)) == 3


@pytest.mark.parametrize("flags", [[], ["--json"], ["--force"]])
def test_where_nobody_can_be_asked_nothing_is_deleted_without_yes(folder, flags, capsys):
    assert run(["prune", "--keep", "0", *flags]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "not-confirmed" in err
    assert "would delete 2 captures" in err
    assert "add --yes" in err
    assert len(names(folder)) == 3


def test_nothing_to_delete_is_said(folder, capsys):
    assert run(["prune", "--keep", "9"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "nothing to delete" in err


def test_json_tells_what_was_deleted(folder, capsys):
    assert run(["prune", "--keep", "1", "--json", "--yes"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["dry_run"] is False
    assert [row["path"] for row in document["deleted"]] == [str(folder / "old.jsonl")]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(
    ("answer", "flags", "gone"),
    [(b"n\n", [], False), (b"\n", [], False), (b"y\n", [], True), (b"", ["--yes"], True)],
)
def test_on_a_terminal_it_asks_first_and_no_is_the_default(folder, answer, flags, gone):
    ours, theirs = pty.openpty()
    code = "import sys; from mcp_tap.cli.main import main; main()"
    child = subprocess.Popen(
        [sys.executable, "-c", code, "prune", "--keep", "1", *flags],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    os.write(ours, answer)
    _, err = child.communicate(timeout=BOUND)
    os.close(ours)
    os.close(theirs)
    assert ("old.jsonl" not in names(folder)) == gone
    assert (b"Delete 1 capture" in err) == (not flags)
