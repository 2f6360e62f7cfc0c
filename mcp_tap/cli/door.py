"""The top door: every exception ends here, as words for a person (or JSON) and an exit code.

0 done, 1 findings, 2 usage, 3 our bug, 4 cannot say, 130 interrupted.  No one else prints errors.
"""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Iterable
from difflib import get_close_matches

import click

from mcp_tap.cli.called import as_called
from mcp_tap.cli.output import Output, harmless
from mcp_tap.core.text import cut, json_safe, safe
from mcp_tap.errors import TapError, UsageError

OUR_BUG = 3
_PARTS = ("code", "what", "where", "why", "help")
_LONGEST = 2000
"""Characters of one part of a message."""


def report(error: BaseException, output: Output) -> int:
    """Print what went wrong to stderr and give the exit code."""
    if isinstance(error, click.ClickException):
        error = _from_click(error)
    with contextlib.suppress(OSError):  # a closed stderr changes no exit code
        if output.debug and not isinstance(error, TapError):
            click.echo(harmless("".join(traceback.format_exception(error)).rstrip()), err=True)
        _show(error if isinstance(error, TapError) else _bug(error), output)
    return error.exit_code if isinstance(error, TapError) else OUR_BUG


def _from_click(error: click.ClickException) -> TapError:
    """Say in our words what click found wrong with the command line."""
    ctx = getattr(error, "ctx", None)
    path = ctx.command_path if ctx else "mcp-tap"
    what, help = error.format_message().rstrip("."), f"{path} --help"
    if isinstance(error, click.NoSuchOption):
        what = f"{path} has no option {error.option_name}"
        near = _nearest(error.option_name, error.possibilities or ())
        if near:
            help = f"did you mean {near}?"
    elif isinstance(error, click.MissingParameter) and error.param is not None:
        what = f"{path} needs {error.param.human_readable_name}"
    elif isinstance(error, click.BadParameter) and error.param is not None:
        what = f"{error.param.human_readable_name}: {error.message.rstrip('.')}"
    return UsageError("usage", what, help=help)


def _nearest(name: str, options: Iterable[str]) -> str | None:
    """Choose the option that was probably meant; the dashes all have are no likeness."""
    plain = {option.lstrip("-"): option for option in options}
    near = get_close_matches(name.lstrip("-"), plain, 1)
    return plain[near[0]] if near else None


def _bug(error: BaseException) -> TapError:
    """Describe an exception nobody expected, without its text, which could hold a secret."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return TapError(
        "internal",
        f"mcp-tap itself failed ({type(error).__name__})",
        where=where,
        why="this is a fault in mcp-tap, not in your client or server",
        help="run it again with --debug for the traceback",
    )


def _show(error: TapError, output: Output) -> None:
    error.help = as_called(error.help)
    if output.json_errors:
        import json

        document = json.dumps({"error": {part: getattr(error, part) for part in _PARTS}})
        click.echo(json_safe(document.encode()), err=True)
        return
    shown = TapError(**{part: _line(getattr(error, part)) for part in _PARTS})
    if output.colored(sys.stderr):
        from rich.text import Text

        head, *rest = str(shown).split("\n")
        text = Text.assemble((head.partition(":")[0], "bold red"), ":", head.partition(":")[2])
        for line in rest:
            label, _, words = line.partition(":")
            text.append("\n").append(f"{label}:", style="dim").append(words)
        output.console(sys.stderr).print(text, soft_wrap=True)
    else:
        click.echo(str(shown), err=True)


def _line(part: str) -> str:
    """Make a part one harmless line: it may quote anything, at any length."""
    return cut(safe(part[:_LONGEST]), _LONGEST)
