from __future__ import annotations

import json

import click
import pytest

from mcp_tap.cli.common import Output
from mcp_tap.cli.door import report
from mcp_tap.errors import InconclusiveCapture, UsageError

ERROR = UsageError("port-taken", "1.2.3.4:5 is in use", where="here", why="so", help="do [this]")


def fault():
    """Give an exception that has been raised, with a secret in its text."""
    with pytest.raises(KeyError) as error:
        {}["s3cret"]
    return error.value


def test_error_for_people_has_its_parts_on_lines(capsys):
    assert report(ERROR, Output(color="never")) == 2
    assert capsys.readouterr().err == (
        "error[port-taken]: 1.2.3.4:5 is in use\n  where: here\n  why:  so\n  help: do [this]\n"
    )


def test_coloured_error_has_the_same_words(capsys):
    report(ERROR, Output(color="always"))
    text = capsys.readouterr().err
    assert "\x1b[1;31merror[port-taken]" in text
    assert click.unstyle(text) == f"{ERROR}\n"


def test_error_in_json_is_one_line_on_stderr(capsys):
    report(ERROR, Output(json=True))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert json.loads(captured.err) == {
        "error": {
            "code": "port-taken",
            "what": "1.2.3.4:5 is in use",
            "where": "here",
            "why": "so",
            "help": "do [this]",
        }
    }


def test_error_brings_its_own_exit_code(capsys):
    assert report(InconclusiveCapture("torn", "x"), Output()) == 4


def test_fault_of_ours_is_short_and_keeps_the_exceptions_text_to_itself(capsys):
    assert report(fault(), Output()) == 3
    text = capsys.readouterr().err
    assert "KeyError" in text
    assert "test_door.py:" in text
    assert "s3cret" not in text
    assert "Traceback" not in text


def test_debug_shows_the_traceback(capsys):
    assert report(fault(), Output(debug=True)) == 3
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "what", "help"),
    [
        (["--prot", "1"], "serve has no option --prot", "did you mean --port?"),
        (["--prt", "1"], "serve has no option --prt", "did you mean --port?"),
        (["--zzz"], "serve has no option --zzz", "serve --help"),
        ([], "serve needs URL", "serve --help"),
        (["u", "v"], "Got unexpected extra argument (v)", "serve --help"),
        (["u", "3"], "Got unexpected extra argument (3)", "serve --help"),
    ],
)
def test_faults_of_the_command_line_are_told_in_our_form(capsys, args, what, help):
    @click.command("serve")
    @click.argument("url")
    @click.option("--port")
    def serve(url, port):
        pass

    with pytest.raises(click.UsageError) as error:
        serve.make_context("serve", args)
    assert report(error.value, Output()) == 2
    assert capsys.readouterr().err == f"error[usage]: {what}\n  help: {help}\n"
