from __future__ import annotations

import pytest

from mcp_tap.cli.main import run

CONFIG = b'{"mcpServers": {"a": {"command": "x"}, "b": {"url": "https://h/p"}}, "z": [ ]}'


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.setenv("MCP_TAP_HOME", str(tmp_path / "state"))
    path = tmp_path / "mcp.json"
    path.write_bytes(CONFIG)
    assert run(["wrap", "--config-file", str(path)]) == 0
    assert path.read_bytes() != CONFIG
    return path


def test_one_server_is_unwrapped_and_the_other_stays(config, capsys):
    assert run(["unwrap", "a", "--config-file", str(config)]) == 0
    assert b'"a": {"command": "x"}' in config.read_bytes()
    assert b"127.0.0.1" in config.read_bytes()
    assert run(["unwrap", "a", "--config-file", str(config)]) == 0
    assert "not wrapped  a" in capsys.readouterr().out


def test_all_are_unwrapped_to_the_byte_after_other_edits(config, capsys):
    edited = config.read_bytes().replace(b"[ ]", b"[ 1 ]")
    config.write_bytes(edited)
    assert run(["unwrap", "--config-file", str(config)]) == 0
    assert config.read_bytes() == CONFIG.replace(b"[ ]", b"[ 1 ]")
    capsys.readouterr()
    assert run(["unwrap", "--config-file", str(config)]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == ("", "nothing is wrapped\n")


def test_a_dry_run_prints_the_way_back(config, capsys):
    before = config.read_bytes()
    capsys.readouterr()
    assert run(["unwrap", "-n", "--config-file", str(config)]) == 0
    out, _ = capsys.readouterr()
    assert "+" + CONFIG.decode() in out.splitlines()
    assert "\\ No newline at end of file" in out
    assert config.read_bytes() == before


def test_a_url_nobody_remembers_is_told_of_with_where_it_may_still_stand(config, tmp_path, capsys):
    (tmp_path / "state" / "wrapped.json").unlink()
    assert run(["unwrap", "b", "--config-file", str(config)]) == 2
    err = capsys.readouterr().err
    assert "error[not-wrappable]" in err
    assert "mcp.json.mcp-tap-backup" in err
