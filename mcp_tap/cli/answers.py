"""`mcp-tap answers`: draft a script from a capture, try one on it, or look one through."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

import click
from click.core import ParameterSource

from mcp_tap.cli.common import TapCommand, option, output
from mcp_tap.errors import InconclusiveCapture, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_tap.capture.reader import CaptureReader
    from mcp_tap.core.model import Call, Exchange

VERBS: Final = ("new", "test", "lint")


@click.command(
    "answers",
    cls=TapCommand,
    epilog="""\
\b
Exit codes:
  0  drafted; every ask is answered; nothing to say against the script
  1  test: an ask has no answer; lint: something can never be as written
  2  wrong usage, or a script or capture that cannot be read
  4  cannot say: nothing is asked, or a capture is torn or lacks records

\b
Examples:
  mcp-tap answers new run.jsonl > answers.toml
  mcp-tap answers new run.jsonl --call 16 >> answers.toml
  mcp-tap answers test answers.toml run.jsonl
  mcp-tap answers lint answers.toml
""",
)
@click.argument("verb", metavar="new|test|lint", type=click.Choice(VERBS))
@click.argument("arguments", metavar="[SCRIPT]... [CAPTURE]", nargs=-1)
@option(
    "--call",
    type=click.IntRange(min=1),
    metavar="N",
    help="new, test: only the asks of this call; show has the numbers.",
)
@option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    help="test, lint: for people or for programs.",
)
def command(verb: str, arguments: tuple[str, ...], call: int | None, form: str) -> int:
    """Draft, try out or look through scripts that answer what servers ask.

    \b
    new [CAPTURE]             write one that says what the capture's client said;
                              with --call only entries, to be added to one
    test SCRIPT... [CAPTURE]  tell for each ask which entry wins, and the first
                              condition that each other one failed
    lint SCRIPT...            find mistakes without a capture

    CAPTURE is a path, a run id, - for standard input, or absent for the newest.
    docs/answers.md describes scripts.
    """  # noqa: D301 - click wants the character itself
    if verb == "new":
        return _new(arguments, call)
    json = form == "json" or output().json
    if verb == "lint":
        source = click.get_current_context().get_parameter_source("call")
        if source is ParameterSource.COMMANDLINE:
            raise UsageError(
                "usage", "--call is for new and test", help="mcp-tap answers lint answers.toml"
            )
        return _lint(arguments, json=json)
    return _test(arguments, call, json=json)


def _new(arguments: tuple[str, ...], number: int | None) -> int:
    from mcp_tap.answers.draft import draft
    from mcp_tap.answers.recall import asked
    from mcp_tap.capture.reader import open_capture
    from mcp_tap.core.text import plural

    if len(arguments) > 1:
        raise UsageError(
            "usage", "answers new takes one capture", help="mcp-tap answers new run.jsonl"
        )
    reader = open_capture(arguments[0] if arguments else None)
    calls = [asked(found) for found in _asking(reader, number)]
    asks = [pair for call in calls for pair in call]
    _need_asks(len(asks), reader, number)
    path = str(reader.path) if reader.path else None
    text = draft(calls, source=reader.name, capture=path, only=number)
    sys.stdout.write(text)
    sys.stdout.flush()
    open_ = sum(answer is None for _, answer in asks)
    said = f"{plural(text.count('[[answer]]'), 'answer')} for {plural(len(asks), 'ask')}"
    output().say(said + (f"; {open_} of them nobody had answered" if open_ else ""))
    return 0


def _lint(scripts: tuple[str, ...], *, json: bool) -> int:
    from mcp_tap.cli.answers_show import lint_document, lint_rows
    from mcp_tap.cli.scripting import look_through

    if not scripts:
        raise UsageError(
            "usage", "answers lint takes a script", help="mcp-tap answers lint answers.toml"
        )
    errors, remarks, entries = look_through(scripts, os.environ)
    if json:
        output().document(lint_document(errors, remarks))
    else:
        for error in errors:
            output().write(str(error))
        output().rows(lint_rows(remarks))
        if not errors and not remarks:
            from mcp_tap.core.text import plural

            output().say(f"{plural(entries, 'answer')}, nothing to say against them")
    if errors:
        return 2
    return int(any(remark.severity == "warning" for remark in remarks))


def _test(arguments: tuple[str, ...], number: int | None, *, json: bool) -> int:
    from mcp_tap.capture.reader import open_capture
    from mcp_tap.cli.answers_show import Trial, trial_document, trial_rows
    from mcp_tap.cli.scripting import open_book

    scripts = [word for word in arguments if word.endswith(".toml")]
    others = [word for word in arguments if not word.endswith(".toml")]
    if not scripts and len(others) in (1, 2):  # a script may be called anything
        scripts, others = others[:1], others[1:]
    if not scripts or len(others) > 1:
        raise UsageError(
            "usage",
            "answers test takes a script, and a capture to try it on",
            help="mcp-tap answers test answers.toml run.jsonl",
        )
    book = open_book(scripts)
    reader = open_capture(others[0] if others else None)
    book.source = others[0] if others else reader.name
    trial = Trial(book, whole=number is None)
    for found in _asking(reader, number):
        trial.add(found)
    _need_asks(len(trial.asks), reader, number)
    if json:
        output().document(trial_document(trial, scripts, reader.name))
    else:
        output().rows(trial_rows(trial))
        output().say(trial.summary())
    if trial.failed:
        return 1
    _need_whole(reader)
    return 0


def _asking(reader: CaptureReader, number: int | None) -> Sequence[Call | Exchange]:
    """Read the calls that are meant, and what asks for none where all are."""
    from mcp_tap.cli.scripting import asking, calls_of

    if number is None:
        return list(asking(reader))
    found = [call for call in calls_of(reader) if call.number == number]
    if not found:
        raise UsageError(
            "call-missing",
            f"{reader.name} has no call {number}",
            help="mcp-tap show lists its calls with their numbers",
        )
    return found


def _need_asks(count: int, reader: CaptureReader, number: int | None) -> None:
    if not count:
        where = reader.name if number is None else f"call {number} of {reader.name}"
        raise InconclusiveCapture(
            "no-asks", f"nothing is asked in {where}", help="mcp-tap show lists what is in it"
        )


def _need_whole(reader: CaptureReader) -> None:
    if reader.torn is not None or reader.lost:
        raise InconclusiveCapture(
            "capture-torn" if reader.torn is not None else "records-lost",
            f"{reader.name} is not whole",
            why="every ask in it is answered, but there may have been more",
        )
