from __future__ import annotations

import json

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


def test_refused_value_is_told_here_too(monkeypatch, capsys):
    monkeypatch.setenv("MCP_TAP_HTTP_ROTATE", "much")
    assert run(["config", "http"]) == 2
    assert "where: MCP_TAP_HTTP_ROTATE" in capsys.readouterr().err


def test_unknown_command_is_answered_with_the_nearest(capsys):
    assert run(["config", "htpt"]) == 2
    assert "did you mean mcp-tap config http?" in capsys.readouterr().err
