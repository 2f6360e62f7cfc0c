from __future__ import annotations

import io

import click
import pytest

from mcp_tap.cli.common import FILE, Output, TapCommand, option, output
from mcp_tap.errors import ConfigError, TapError, UsageError


@click.group(context_settings={"auto_envvar_prefix": "MCP_TAP"})
def root():
    pass


@root.command("serve", cls=TapCommand, takes_command=True)
@click.argument("url", required=False)
@option("--port", type=int, default=1, help="A number.", panel="Traffic")
@option("--max-body", default="1k", help="A size.", panel="Recording")
@option("--tag", multiple=True, help="Words.", panel="Recording")
@option("--redact", multiple=True, adds_up=True, help="Masks.")
@option("--file", type=FILE, help="A file.")
@option("--sync", is_flag=True, help="A flag.")
@click.pass_context
def serve(ctx, url, **options):
    return {**options, "url": url, "child": ctx.command_line, "origins": ctx.origins}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*args):
    with root.make_context("mcp-tap", ["serve", *args]) as ctx:
        return root.invoke(ctx)


def test_flag_beats_variable_beats_file_beats_default(folder, monkeypatch):
    def port():
        result = run(*flags)
        return result["port"], result["origins"]["port"]

    flags: list[str] = []
    assert port() == (1, "default")
    (folder / "mcp-tap.toml").write_text("[serve]\nport = 2\n")
    assert port() == (2, f"{folder}/mcp-tap.toml [serve]")
    monkeypatch.setenv("MCP_TAP_SERVE_PORT", "3")
    assert port() == (3, "MCP_TAP_SERVE_PORT")
    flags = ["--port", "4"]
    assert port() == (4, "command line")


def test_redact_of_all_origins_adds_up(folder, monkeypatch):
    (folder / "mcp-tap.toml").write_text('redact = ["key:file"]\n')
    monkeypatch.setenv("MCP_TAP_SERVE_REDACT", "key:one\nkey:two words")
    result = run("--redact", "key:flag")
    assert result["redact"] == ("key:flag", "key:one", "key:two words", "key:file")
    assert result["origins"]["redact"] == (
        f"command line, MCP_TAP_SERVE_REDACT, {folder}/mcp-tap.toml"
    )
    monkeypatch.delenv("MCP_TAP_SERVE_REDACT")
    assert run()["redact"] == ("key:file",)


def test_other_lists_replace_each_other(folder):
    (folder / "mcp-tap.toml").write_text('[serve]\ntag = ["a", "b c"]\n')
    assert run()["tag"] == ("a", "b c")
    assert run("--tag", "x")["tag"] == ("x",)


def test_config_option_names_the_file_and_no_config_reads_none(folder, monkeypatch):
    (folder / "mcp-tap.toml").write_text("[serve]\nport = 2\n")
    (folder / "other.toml").write_text("[serve]\nport = 9\n")
    assert run("--config", "other.toml")["port"] == 9
    assert run("--no-config")["port"] == 1
    monkeypatch.setenv("MCP_TAP_CONFIG", "other.toml")
    assert run()["port"] == 9
    monkeypatch.setenv("MCP_TAP_SERVE_NO_CONFIG", "1")
    assert run()["port"] == 1


def test_help_is_shown_although_the_file_is_broken(folder, capsys):
    (folder / "mcp-tap.toml").write_text("[serve\n")
    with pytest.raises(click.exceptions.Exit):
        run("--help")
    assert "Usage: mcp-tap serve [OPTIONS] [URL] [-- COMMAND...]" in capsys.readouterr().out
    with pytest.raises(ConfigError):
        run()


def test_help_has_sections_and_every_option_has_words(capsys):
    with pytest.raises(click.exceptions.Exit):
        run("-h")
    text = capsys.readouterr().out
    headings = [line for line in text.splitlines() if line and line[0] != " "]
    assert headings[1:] == ["Traffic:", "Recording:", "Options:", "Everywhere:"]


@pytest.mark.parametrize(
    ("origin", "kind", "where"),
    [
        ("flag", UsageError, ""),
        ("variable", ConfigError, "MCP_TAP_SERVE_PORT"),
        ("file", ConfigError, "mcp-tap.toml [serve]"),
    ],
)
def test_refused_value_is_traced_to_its_origin(folder, monkeypatch, origin, kind, where):
    if origin == "file":
        (folder / "mcp-tap.toml").write_text('[serve]\nport = "x"\n')
    if origin == "variable":
        monkeypatch.setenv("MCP_TAP_SERVE_PORT", "x")
    with pytest.raises(kind) as error:
        run(*(["--port", "x"] if origin == "flag" else []))
    assert error.value.code == "bad-value"
    assert error.value.what.startswith("--port: ")
    assert error.value.where.endswith(where)


def test_what_follows_two_dashes_is_another_commands_line():
    result = run("http://x", "--port", "4", "--", "pytest", "--port", "5", "--", "-x")
    assert (result["port"], result["url"]) == (4, "http://x")
    assert result["child"] == ["pytest", "--port", "5", "--", "-x"]
    assert run("http://x")["child"] is None


def test_extra_argument_is_answered_with_the_two_dashes():
    with pytest.raises(UsageError) as error:
        run("http://x", "pytest")
    assert error.value.help == "a command to run stands after --"


def test_path_in_a_file_is_taken_from_there(folder, monkeypatch):
    (folder / ".git").mkdir()
    (folder / "below").mkdir()
    (folder / "mcp-tap.toml").write_text('[serve]\nfile = "x/y"\n')
    monkeypatch.chdir(folder / "below")
    assert run()["file"] == str(folder / "x" / "y")


def test_variable_that_nothing_reads_is_warned_of(monkeypatch, capsys):
    monkeypatch.setenv("MCP_TAP_SERVE_PROT", "1")
    monkeypatch.setenv("MCP_TAP_HOME", "/tmp")
    monkeypatch.setenv("MCP_TAP_SERVE_MAX_BODY", "1")
    run()
    captured = capsys.readouterr()
    assert captured.err == (
        "warning: nothing reads MCP_TAP_SERVE_PROT; did you mean MCP_TAP_SERVE_PORT?\n"
    )
    run("-q")
    assert capsys.readouterr().err == ""


def test_variable_of_another_command_is_read_by_that_also_where_its_name_is_two_words(
    monkeypatch, capsys
):
    @root.command("play-back", cls=TapCommand)
    @option("--pace", help="How fast.")
    def play_back(pace):
        pass

    monkeypatch.setenv("MCP_TAP_PLAY_BACK_PACE", "2")
    run()
    del root.commands["play-back"]
    assert capsys.readouterr().err == ""


def test_shared_options_come_as_output():
    seen = []

    @root.command("look", cls=TapCommand)
    def look():
        seen.append(output())

    with root.make_context("mcp-tap", ["look", "-qvv", "--color", "never", "--json"]) as ctx:
        root.invoke(ctx)
    assert (seen[0].quiet, seen[0].verbose, seen[0].color, seen[0].json) == (True, 2, "never", True)
    del root.commands["look"]


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("color", "environ", "stream", "colored"),
    [
        ("auto", {"TERM": "xterm"}, Terminal(), True),
        ("auto", {"TERM": "dumb"}, Terminal(), False),
        ("auto", {"TERM": "xterm"}, io.StringIO(), False),
        ("auto", {"TERM": "xterm", "NO_COLOR": "1"}, Terminal(), False),
        ("auto", {"TERM": "xterm", "NO_COLOR": ""}, Terminal(), True),
        ("auto", {"FORCE_COLOR": "1"}, io.StringIO(), True),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, io.StringIO(), False),
        ("always", {"NO_COLOR": "1"}, io.StringIO(), True),
        ("never", {"FORCE_COLOR": "1"}, Terminal(), False),
    ],
)
def test_colour_is_decided_by_flag_then_environment_then_terminal(
    monkeypatch, color, environ, stream, colored
):
    monkeypatch.delenv("TERM", raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    out = Output(color=color)
    assert out.colored(stream) is colored
    out.console(stream).print("x", style="red")
    assert ("\x1b[" in stream.getvalue()) is colored


def test_quiet_silences_what_was_not_asked_for(capsys):
    loud, quiet = Output(verbose=1), Output(quiet=True, verbose=2)
    for out in (loud, quiet):
        out.say("said")
        out.warn("warned")
        out.log("logged")
        out.log("detail", 2)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "said\nwarning: warned\nlogged\n"


def test_errors_of_options_are_ours():
    assert issubclass(ConfigError, TapError)
