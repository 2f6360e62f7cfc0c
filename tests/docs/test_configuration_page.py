"""docs/configuration.md lists the settings there are, and its examples can be read."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from mcp_tap.cli.main import run

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


def test_the_example_files_are_accepted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "mcp-tap.toml").write_text("".join(examples))
    assert run(["config"]) == 0
    out = capsys.readouterr().out
    assert "key:*token*, header:x-session" in out
    assert "LEG-009" in out
