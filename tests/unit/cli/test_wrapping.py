from __future__ import annotations

import os
from pathlib import Path

import pytest

from mcp_tap.cli import wrapping
from mcp_tap.cli.wrapping import difference, executable
from mcp_tap.errors import UsageError
from mcp_tap.wrapping.files import ConfigFile


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """A program `mcp-tap`, and a link to it as installers make them."""
    tool = tmp_path / "venv" / "mcp-tap"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "mcp-tap").symlink_to(tool)
    monkeypatch.setattr("sys.executable", str(tmp_path / "none" / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("called", ["mcp-tap", "bin/mcp-tap", "./bin/../bin/mcp-tap"])
def test_the_program_is_named_by_its_whole_path_and_its_link_is_kept(tool, called, monkeypatch):
    monkeypatch.setattr("sys.argv", [called, "wrap"])
    assert executable() == str(tool / "bin" / "mcp-tap")


def test_started_as_a_module_it_is_the_program_beside_python(tool, monkeypatch):
    monkeypatch.setattr("sys.executable", str(tool / "venv" / "python"))
    monkeypatch.setattr("sys.argv", ["/x/mcp_tap/__main__.py"])
    assert executable() == str(tool / "venv" / "mcp-tap")


def test_without_a_program_nothing_is_wrapped(tool, monkeypatch):
    monkeypatch.setenv("PATH", os.devnull)
    monkeypatch.setattr("sys.argv", ["-c"])
    with pytest.raises(UsageError, match="no mcp-tap that a client could start"):
        executable()


def test_a_difference_has_no_carriage_returns_and_knows_the_last_line():
    file = ConfigFile(Path("c"), Path("c"), b"a\r\nb\r\nc", 0o600)
    assert difference(file, b"a\r\nB\r\nc").splitlines()[2:] == [
        "@@ -1,3 +1,3 @@", " a", "-b", "+B", " c", "\\ No newline at end of file",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/a/.gemini/settings.json", "gemini"),
        ("/a/.zed/settings.json", "zed"),
        ("/a/zed/settings.json", "zed"),
        ("/a/.codex/config.toml", "codex"),
        ("/a/.mcp.json", "claude-code"),
        ("/a/mcp.json", "other"),
        ("/a/x.vscode/mcp.json", "other"),
    ],
)
def test_a_file_tells_by_its_name_whose_it_is(path, name):
    assert wrapping._client_of(Path(path)).name == name
