from __future__ import annotations

import pytest

from mcp_tap.cli.called import as_called, called


@pytest.fixture
def program(tmp_path, monkeypatch):
    made = tmp_path / "a venv" / "bin" / "mcp-tap"
    made.parent.mkdir(parents=True)
    made.write_text("#!/bin/sh\n")
    made.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.setattr("sys.argv", ["a venv/bin/mcp-tap", "demo"])
    return made


@pytest.mark.usefixtures("program")
def test_a_program_that_the_shell_would_not_find_is_called_by_its_path():
    assert called() == "'a venv/bin/mcp-tap'"
    assert as_called("mcp-tap replay server x") == "'a venv/bin/mcp-tap' replay server x"
    text = "try mcp-tap show x; /etc/mcp-tap show, mcp-tap itself, mcp-tap.toml, mcp-tap --help"
    assert as_called(text) == (
        "try 'a venv/bin/mcp-tap' show x; /etc/mcp-tap show, mcp-tap itself, mcp-tap.toml,"
        " 'a venv/bin/mcp-tap' --help"
    )


def test_a_program_on_the_path_is_called_by_its_name(program, monkeypatch):
    monkeypatch.setenv("PATH", f"/usr/bin:{program.parent}")
    monkeypatch.setattr("sys.argv", [str(program), "demo"])
    assert called() == "mcp-tap"
    assert as_called("mcp-tap show x") == "mcp-tap show x"


@pytest.mark.usefixtures("program")
@pytest.mark.parametrize("argument", ["mcp-tap", "/gone/mcp-tap", "x/mcp_tap/__main__.py", ""])
def test_otherwise_it_is_called_by_its_name(argument, monkeypatch):
    monkeypatch.setattr("sys.argv", [argument])
    monkeypatch.setenv("PATH", "/usr/bin" if "gone" not in argument else "/nowhere")
    assert called() in ("mcp-tap", argument)
