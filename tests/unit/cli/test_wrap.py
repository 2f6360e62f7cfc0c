from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from mcp_tap.cli.main import run
from tests.wrapping import FOLDER


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with Cursor's and Codex's files in it, and a project with one of VS Code."""
    home = tmp_path / "home"
    for variable in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "APPDATA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("MCP_TAP_HOME", str(tmp_path / "state"))
    shutil.copytree(FOLDER / "cursor", home / ".cursor")
    shutil.copytree(FOLDER / "codex", home / ".codex")
    project = home / "shop"
    shutil.copytree(FOLDER / "vscode", project / ".vscode")
    (project / ".git").mkdir()
    (project / "sub").mkdir()
    monkeypatch.chdir(project / "sub")
    return home


def tree(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "backup" not in path.name
    }


def test_without_a_choice_servers_are_listed_and_nothing_changes(home, capsys):
    before = tree(home)
    assert run(["wrap"]) == 0
    out, err = capsys.readouterr()
    assert "not wrapped  server-name  stdio  ~/.cursor/mcp.json" in out
    assert "not wrapped  github       http   ~/shop/.vscode/mcp.json" in out
    assert "mcp-tap wrap SERVER wraps one" in err
    assert tree(home) == before


def test_one_server_is_wrapped_in_every_client_that_has_it(home, capsys):
    shutil.copy(home / ".cursor" / "mcp.json", home / "shop" / ".cursor.json")
    (home / "shop" / ".cursor").mkdir()
    shutil.move(home / "shop" / ".cursor.json", home / "shop" / ".cursor" / "mcp.json")
    before = tree(home)
    assert run(["wrap", "local"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "wrapped  local  stdio  ~/.cursor/mcp.json",
        "wrapped  local  stdio  ~/shop/.cursor/mcp.json",
    ]
    assert err.count("backup: ") == 2
    after = tree(home)
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {".cursor/mcp.json", "shop/.cursor/mcp.json"}
    server = json.loads(after[".cursor/mcp.json"])["mcpServers"]["local"]
    assert Path(server["command"]).is_absolute()
    assert os.access(server["command"], os.X_OK)
    assert server["args"][:5] == ["stdio", "--label", "local", "--", "python"]
    assert (home / ".cursor" / "mcp.json.mcp-tap-backup").read_bytes() == before[".cursor/mcp.json"]


def test_all_servers_are_wrapped_and_a_second_time_says_so(home, capsys):
    before = tree(home)
    assert run(["wrap", "--all"]) == 0
    out, _ = capsys.readouterr()
    assert "wrapped  figma" in out
    assert "http https://mcp.figma.com/mcp -l " in out
    wrapped = tree(home)
    assert run(["wrap", "--all"]) == 0
    out, _ = capsys.readouterr()
    assert all(
        line.startswith(("already wrapped ", "  start its tap: ")) for line in out.splitlines()
    )
    assert tree(home) == wrapped
    assert run(["unwrap"]) == 0
    assert tree(home) == before


def test_a_dry_run_prints_the_difference_and_writes_nothing(home, tmp_path, capsys):
    before = tree(tmp_path)
    assert run(["wrap", "github", "--dry-run"]) == 0
    out, err = capsys.readouterr()
    assert '-\t\t\t"url": "https://api.githubcopilot.com/mcp/",' in out.splitlines()
    assert any(line.startswith('+\t\t\t"url": "http://127.0.0.1:') for line in out.splitlines())
    assert "wrapped  github" in err
    assert tree(tmp_path) == before
    assert not list(home.rglob("*backup*"))


def test_a_client_s_name_limits_what_is_wrapped(home, capsys):
    before = tree(home)
    assert run(["wrap", "--client", "codex"]) == 0
    after = tree(home)
    assert {name for name in after if after[name] != before[name]} == {".codex/config.toml"}
    assert capsys.readouterr().out.count("wrapped ") == 4


def test_json_says_what_became_of_every_server(home, capsys):
    assert run(["wrap", "figma", "--json"]) == 0
    out, _ = capsys.readouterr()
    document = json.loads(out)
    [file] = [one for one in document["files"] if one["servers"]]
    [server] = file["servers"]
    assert (file["client"], server["state"], server["kind"]) == ("codex", "wrapped", "http")
    assert file["backup"].endswith("config.toml.mcp-tap-backup")
    assert " http https://mcp.figma.com/mcp -l " in " " + server["start"]


def test_a_file_that_cannot_be_read_is_left_and_the_others_are_wrapped(home, capsys):
    broken = home / ".cursor" / "mcp.json"
    broken.write_bytes(b'{"mcpServers": {\n"a": nil}}')
    assert run(["wrap", "--all"]) == 2
    out, err = capsys.readouterr()
    assert "error[config-syntax]: ~/.cursor/mcp.json cannot be read, and was left as it is" in err
    assert "why:  line 2" in err
    assert "wrapped  figma" in out
    assert broken.read_bytes() == b'{"mcpServers": {\n"a": nil}}'


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["wrap", "githup"], "unknown-server", "did you mean github?"),
        (["wrap", "qqq"], "unknown-server", "wrap lists them"),
        (["wrap", "github", "--all"], "usage", "exclude each other"),
        (["wrap", "--config-file", "none.json"], "config-unreadable", "no such file"),
        (["wrap", "--client", "emacs"], "bad-value", "emacs"),
    ],
)
def test_what_cannot_be_done_is_an_error(home, args, code, words, capsys):
    before = tree(home)
    assert run(args) == 2
    _, err = capsys.readouterr()
    assert f"error[{code}]" in err
    assert words in err
    assert tree(home) == before


def test_a_named_server_that_cannot_be_wrapped_is_an_error(home, capsys):
    (home / "c.json").write_text('{"mcpServers": {"a": {"url": "$U"}, "b": {"command": "x"}}}')
    assert run(["wrap", "a", "--config-file", str(home / "c.json")]) == 2
    assert "why:  the host in its URL is a variable" in capsys.readouterr().err


def test_a_read_only_file_is_left_as_it_is(home, capsys):
    path = home / ".cursor" / "mcp.json"
    path.chmod(0o444)
    before = path.read_bytes()
    assert run(["wrap", "local"]) == 2
    assert "error[config-read-only]" in capsys.readouterr().err
    assert path.read_bytes() == before
    assert not list(home.rglob("*backup*"))


def test_a_folder_of_captures_that_a_client_may_not_know_is_warned_of(home, monkeypatch, capsys):
    assert run(["wrap", "local"]) == 0
    assert "warning: MCP_TAP_HOME is set here" in capsys.readouterr().err
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.delenv("MCP_TAP_HOME")
    assert run(["wrap", "server-name"]) == 0
    assert "warning" not in capsys.readouterr().err


def test_where_no_client_is_that_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("MCP_TAP_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    assert run(["wrap"]) == 0
    assert "no client's configuration was found" in capsys.readouterr().err
