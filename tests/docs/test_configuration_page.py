"""docs/configuration.md lists the settings there are, and its examples can be read."""

from __future__ import annotations

import re

from mcp_tap.cli.main import run
from mcp_tap.config import NOT_FROM_PROJECTS
from tests.pages import text_of

PAGE = text_of("configuration.md")


def test_what_a_projects_file_may_not_set_is_named():
    refused = PAGE.partition("A project file comes with")[2].partition("\n\n")[0]
    settings = set(re.findall(r"^\| `\[\w+\] ([a-z-]+)`", PAGE, re.MULTILINE))
    named = set(re.findall(r"(?<!of )`([a-z-]+)`", " ".join(refused.split())))
    assert named & settings == settings & {*NOT_FROM_PROJECTS}


def test_the_example_files_are_accepted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "mcp-tap.toml").write_text("".join(examples))
    assert run(["config"]) == 0
    out = capsys.readouterr().out
    assert "key:*token*, header:x-session" in out
    assert "LEG-009" in out
