"""docs/configuration.md lists the settings there are, and its examples can be read."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from mcp_tap.cli.main import run
from mcp_tap.config import NOT_FROM_PROJECTS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "configuration.md"


def test_the_table_of_settings_is_made_of_the_options():
    done = subprocess.run(
        [sys.executable, "-m", "cogapp", "--check", str(PAGE)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, f"run `make docs`\n{done.stdout}{done.stderr}"


def test_what_a_projects_file_may_not_set_is_named():
    text = PAGE.read_text(encoding="utf-8")
    refused = text.partition("A project file comes with")[2].partition("\n\n")[0]
    settings = set(re.findall(r"^\| `\[\w+\] ([a-z-]+)`", text, re.MULTILINE))
    named = set(re.findall(r"(?<!of )`([a-z-]+)`", " ".join(refused.split())))
    assert named & settings == settings & {*NOT_FROM_PROJECTS}


def test_the_example_files_are_accepted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "mcp-tap.toml").write_text("".join(examples))
    assert run(["config"]) == 0
    out = capsys.readouterr().out
    assert "key:*token*, header:x-session" in out
    assert "LEG-009" in out
