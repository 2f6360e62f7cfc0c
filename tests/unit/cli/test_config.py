from __future__ import annotations

import json
import re

import pytest

from mcp_tap.cli.main import run


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def settings(capsys, *args):
    assert run(["config", "--json", *args]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["version"] == 1
    rows = {(row["command"], row["name"]): row for row in document["settings"]}
    return document["files"], {key: (row["value"], row["source"]) for key, row in rows.items()}


def test_every_setting_has_its_origin(folder, monkeypatch, capsys):
    path = folder / "mcp-tap.toml"
    path.write_text('label = "shop"\n[http]\nlisten = 7000\nredact = ["key:a"]\n')
    monkeypatch.setenv("MCP_TAP_HTTP_MAX_BODY", "1k")
    monkeypatch.setenv("MCP_TAP_HTTP_HEADER", "Authorization: Bearer s3cret")
    files, found = settings(capsys, "http")
    assert {"path": str(path), "used": "decides"} in files
    assert found["http", "label"] == ("shop", str(path))
    assert found["http", "listen"] == (7000, f"{path} [http]")
    assert found["http", "redact"] == (["key:a"], f"{path} [http]")
    assert found["http", "max-body"] == ("1k", "MCP_TAP_HTTP_MAX_BODY")
    assert found["http", "header"] == ("(set, not shown)", "MCP_TAP_HTTP_HEADER")
    assert found["http", "sync"] == (False, "default")
    assert found["http", "rotate"] == (None, "default")


def test_all_commands_are_told_without_a_name(capsys):
    _, found = settings(capsys)
    assert {"http", "show", "config"} <= {command for command, _ in found}


def test_text_is_a_table_without_shared_defaults(folder, capsys):
    (folder / "mcp-tap.toml").write_text("[http]\nsync = true\nquiet = true\n")
    assert run(["config", "http"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "files"
    rows = {line.split()[0]: line.split()[1:] for line in lines[lines.index("http") + 1 :]}
    assert rows["sync"] == ["yes", f"{folder}/mcp-tap.toml", "[http]"]
    assert rows["quiet"] == ["yes", f"{folder}/mcp-tap.toml", "[http]"]
    assert rows["listen"] == ["127.0.0.1:7777", "default"]
    assert rows["label"] == ["-", "default"]
    assert "color" not in rows


def test_what_no_value_means_is_told_in_words(capsys):
    assert run(["config", "http"]) == 0
    out = capsys.readouterr().out
    assert "keep on loopback, else upstream" in out
    assert "console on a terminal without COMMAND, else text" in out
    assert "one in the captures folder" in out
    assert run(["config", "http", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["settings"]
    (row,) = [row for row in rows if row["name"] == "host"]
    assert (row["value"], row["unset"]) == (None, "keep on loopback, else upstream")


def test_all_tables_are_looked_at_here_and_only_here(folder, monkeypatch, capsys):
    monkeypatch.setenv("MCP_TAP_HOME", str(folder))
    (folder / "mcp-tap.toml").write_text("zzzz = 1\n[http]\nlisten = 1\nlisen = 2\n")
    assert run(["list"]) == 0
    assert f'warning: nothing reads "zzzz" in {folder}/mcp-tap.toml\n' in capsys.readouterr().err
    assert run(["config", "show"]) == 2
    assert "error[unknown-setting]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ("[list\n", "--no-config goes on without files"),
        ("[list]\nformt = 1\n", 'did you mean "format"? (--no-config goes on without files)'),
        ('[list]\nformat = "html"\n', "--no-config goes on without files"),
    ],
)
def test_way_past_a_bad_file_is_offered(folder, monkeypatch, capsys, text, help):
    monkeypatch.setenv("MCP_TAP_HOME", str(folder))
    (folder / "mcp-tap.toml").write_text(text)
    assert run(["list"]) == 2
    assert capsys.readouterr().err.endswith(f"  help: {help}\n")
    assert run(["list", "--no-config"]) == 0


def test_refused_value_is_told_here_too(monkeypatch, capsys):
    monkeypatch.setenv("MCP_TAP_HTTP_ROTATE", "much")
    assert run(["config", "http"]) == 2
    assert "where: MCP_TAP_HTTP_ROTATE" in capsys.readouterr().err


def test_unknown_command_is_answered_with_the_nearest(capsys):
    assert run(["config", "htpt"]) == 2
    assert "did you mean mcp-tap config http?" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["replay-server"], ["replay", "server"]])
def test_a_command_of_two_words_is_named_as_it_is_run_or_as_its_table_is(words, capsys):
    _, found = settings(capsys, *words)
    assert found["replay-server", "pace"] == (None, "default")
    assert run(["config", "replay", "serve"]) == 2
    assert "did you mean mcp-tap config replay server?" in capsys.readouterr().err


def test_what_a_table_holds_beside_options_is_listed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mcp-tap.toml").write_text(
        '[check.severity]\nTAP-003 = "note"\n'
        '[[check.suppress]]\nrule = "TAP"\nreason = "known"\nuntil = 2026-12-31\n'
    )
    assert run(["config", "check"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^  severity +TAP-003 = note +\S+mcp-tap\.toml \[check\]$", out, re.MULTILINE)
    assert re.search(r"^  suppress +TAP known 2026-12-31 ", out, re.MULTILINE)
    assert run(["config", "check", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["settings"]}
    assert rows["severity"]["value"] == {"TAP-003": "note"}
    assert rows["suppress"]["value"][0]["until"] == "2026-12-31"
