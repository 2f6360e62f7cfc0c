from __future__ import annotations

import importlib
import json
import subprocess
import sys
import types

import click
import pytest

from mcp_tap import __version__
from mcp_tap.cli import main
from mcp_tap.cli.common import TapCommand, TapOption, output
from tests.bounds import BOUND

HEAVY = ("asyncio", "aiohttp", "msgspec", "rich", "httptools", "uvloop", "pathlib")


def command(body):
    """Put a command called `watch` in place of the real one, for the length of a test."""
    return types.SimpleNamespace(command=click.command("watch", cls=TapCommand)(body))


@pytest.fixture
def watch(monkeypatch):
    def place(body):
        monkeypatch.setitem(sys.modules, "mcp_tap.cli.watch", command(body))

    return place


def test_help_lists_every_command_and_imports_none_of_them():
    code = (
        "import sys\nfrom mcp_tap.cli.main import run\nassert run(['--help']) == 0\n"
        f"print([m for m in {HEAVY} if m in sys.modules], file=sys.stderr)\n"
        "print([m for m in sys.modules if m.startswith('mcp_tap.cli.')], file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=BOUND, check=True
    )
    for name in main.COMMANDS:
        assert f"\n  {name.replace('-', ' ')} " in done.stdout
    heavy, ours = done.stderr.splitlines()
    assert heavy == "[]", "mcp-tap --help must start as fast as click does"
    assert ours == str(
        [f"mcp_tap.cli.{m}" for m in ("streams", "output", "values", "common", "main")]
    )


@pytest.mark.parametrize("name", main.COMMANDS)
def test_every_command_has_its_module_and_help_for_every_option(name):
    found = importlib.import_module(f"mcp_tap.cli.{name.replace('-', '_')}").command
    assert isinstance(found, TapCommand)
    assert found.help
    for param in found.params:
        if isinstance(param, click.Option):
            assert param.help, f"{name} {param.opts} has no help"
            assert isinstance(param, TapOption) or param.name == "version"


@pytest.mark.parametrize("name", [None, *main.COMMANDS])
def test_help_fits_80_columns(name, capsys):
    assert main.run([*([name] if name else []), "--help"]) == 0
    assert max(len(line) for line in capsys.readouterr().out.splitlines()) <= 80


@pytest.mark.parametrize("args", [["-V"], ["--version"], ["http", "-V"]])
def test_the_version_is_told_wherever_it_is_asked_for(args, capsys):
    assert main.run(args) == 0
    assert capsys.readouterr().out == f"mcp-tap {__version__}\n"


def test_without_a_command_it_is_watch(watch):
    seen = []

    def body():
        out = output()
        seen.append((out.quiet, out.verbose, out.json, out.color, out.ascii))

    watch(body)
    assert main.run([]) == 0
    assert main.run(["-qv", "--color", "never", "--ascii", "--json"]) == 0
    assert main.run(["--color=always"]) == 0
    assert [row[:4] for row in seen] == [
        (False, 0, False, "auto"),
        (True, 1, True, "never"),
        (False, 0, False, "always"),
    ]


def test_shared_options_may_stand_before_the_command(watch):
    seen = []
    watch(lambda: seen.append(output().verbose))
    assert main.run(["-vv", "watch"]) == 0
    assert main.run(["watch", "-v"]) == 0
    assert seen == [2, 1]


@pytest.mark.parametrize("returned", [0, 1, 4, None])
def test_what_a_command_returns_is_the_exit_code(watch, returned):
    watch(lambda: returned)
    assert main.run(["watch"]) == (returned or 0)


@pytest.mark.parametrize(
    ("args", "help"),
    [
        (["htpt"], "did you mean mcp-tap http?"),
        (["http://localhost:3000/mcp"], "did you mean mcp-tap http http://localhost:3000/mcp?"),
        (["zzz"], "mcp-tap --help lists the commands"),
    ],
)
def test_unknown_command_is_answered_with_what_was_meant(args, help, capsys):
    assert main.run(args) == 2
    assert capsys.readouterr().err == (
        f"error[unknown-command]: mcp-tap has no command {args[0]}\n  help: {help}\n"
    )


def test_file_as_a_command_is_answered_with_show(tmp_path, capsys):
    path = tmp_path / "run.jsonl"
    path.touch()
    assert main.run([str(path)]) == 2
    assert f"did you mean mcp-tap show {path}?" in capsys.readouterr().err


def test_unknown_option_before_the_command(capsys):
    assert main.run(["--colour", "never", "watch"]) == 2
    assert "did you mean --color?" in capsys.readouterr().err


def test_json_is_heeded_for_errors_in_the_command_line_itself(capsys):
    assert main.run(["--json", "htpt"]) == 2
    assert json.loads(capsys.readouterr().err)["error"]["code"] == "unknown-command"
    assert main.run(["diff", "--json"]) == 2
    assert json.loads(capsys.readouterr().err)["error"]["what"] == "mcp-tap diff needs A"


def test_json_from_a_variable_is_heeded_once_the_command_runs(watch, monkeypatch, capsys):
    def body():
        raise ValueError

    watch(body)
    monkeypatch.setenv("MCP_TAP_WATCH_JSON", "1")
    assert main.run(["watch"]) == 3
    assert json.loads(capsys.readouterr().err)["error"]["code"] == "internal"


def test_interruption_is_130_without_a_word(watch, capsys):
    def body():
        raise KeyboardInterrupt

    watch(body)
    assert main.run(["watch"]) == 130
    assert capsys.readouterr().err == ""


def test_reader_that_leaves_ends_it_quietly_and_not_as_a_success():
    code = (
        "import sys\nfrom mcp_tap.cli import main\n"
        "main.group.get_command = lambda ctx, name: command\n"
        "import click\nfrom mcp_tap.cli.common import TapCommand\n"
        "@click.command('watch', cls=TapCommand)\n"
        "def command():\n    [print('x' * 1000) for _ in range(10_000)]\n"
        "sys.exit(main.run(['watch']))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        child.stdout.read(10)
        child.stdout.close()
        assert child.stderr.read() == b""
        assert child.wait(timeout=BOUND) == -13


@pytest.mark.parametrize("name", ["", *main.COMMANDS])
def test_help_fits_a_terminal_and_shows_no_markup(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main.run([*filter(None, [name]), "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    for markup in ("\\b", "x<=", "x>=", "``"):
        assert not [line for line in lines if markup in line]


@pytest.mark.parametrize("flags", [["-f", "json"], ["-fjsonl"], ["--format=json"], ["--json"]])
@pytest.mark.parametrize("words", [["too:x"], ["--nope"]])
def test_who_asked_for_json_gets_errors_in_json(flags, words, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("MCP_TAP_HOME", str(tmp_path))
    assert main.run(["show", *words, *flags]) == 2
    assert json.loads(capsys.readouterr().err)["error"]["code"] in ("unknown-key", "usage")
    assert main.run(["show", *words, "-f", "text"]) == 2
    assert capsys.readouterr().err.startswith("error[")


def test_a_format_from_a_variable_counts_for_errors_too(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("MCP_TAP_HOME", str(tmp_path))
    monkeypatch.setenv("MCP_TAP_SHOW_FORMAT", "json")
    assert main.run(["show", "too:x"]) == 2
    assert json.loads(capsys.readouterr().err)["error"]["code"] == "unknown-key"


def test_verbose_says_where_settings_come_from_and_no_value(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("MCP_TAP_HOME", str(tmp_path))
    (tmp_path / "tap.toml").write_text('[list]\nformat = "json"\n')
    for flags, told in (
        ([], []),
        (["-v"], [f"settings from {tmp_path / 'tap.toml'}"]),
        (["-v", "--no-config"], ["settings from no file"]),
    ):
        config = [] if "--no-config" in flags else ["--config", str(tmp_path / "tap.toml")]
        assert main.run(["list", *flags, *config]) == 0
        assert [e for e in capsys.readouterr().err.splitlines() if "settings" in e] == told
    assert main.run(["list", "-vv", "--config", str(tmp_path / "tap.toml")]) == 0
    err = capsys.readouterr().err
    assert f"--format set by {tmp_path / 'tap.toml'} [list]\n" in err
    assert "--verbose set by command line\n" in err


def test_a_suggested_command_is_written_as_the_program_was_called(capsys, monkeypatch, tmp_path):
    program = tmp_path / "bin" / "mcp-tap"
    program.parent.mkdir()
    program.touch()
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("sys.argv", [str(program)])
    assert main.run(["htpt"]) == 2
    assert f"help: did you mean {program} http?\n" in capsys.readouterr().err
    monkeypatch.setenv("MCP_TAP_HOME", str(tmp_path / "home"))
    assert main.run(["list"]) == 0
    assert f"; {program} http URL records one\n" in capsys.readouterr().err
