"""How a command speaks: the one door through which its words reach a terminal.

Rules of this file:

- stdout carries what was asked for (`write`, `rows`, `document`), stderr everything else (`say`,
  `warn`, `log`).
- What is said may quote a file name, a variable, a setting or what stood on the command line, and
  any of these may hold what a terminal obeys.  So every line passes `harmless()`, every document
  `json_safe()`; whoever builds a text need not think of it.
- Nothing heavy is imported here at the top: `mcp-tap --help` must start as fast as click does.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

import click

from mcp_tap.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from mcp_tap.errors import TapError
    from mcp_tap.views.look import Row


def harmless(text: str, *, stays: str = "\n") -> str:
    """Spell out what a terminal would obey, hide or reorder; line breaks stay, or what is given."""
    from mcp_tap.core.text import safe

    return "".join(part if part in stays else safe(part) for part in re.split(f"([{stays}])", text))


def printable(path: Path) -> str:
    """Put a path into JSON, whatever its bytes are."""
    return os.fsencode(path).decode(errors="replace")


def dumped(document: object) -> bytes:
    """Write a document as JSON; of a path that is no UTF-8, its bytes as escapes."""
    import json

    return json.dumps(document, indent=2, ensure_ascii=False).encode(errors="backslashreplace")


def why_not(path: Path, error: OSError) -> tuple[str, str]:
    """Say why a file cannot be written, and what to do about it, if that is known."""
    import shlex

    if isinstance(error, FileNotFoundError):
        folder = path.parent
        return f"there is no folder {folder}", f"mkdir -p {shlex.quote(str(folder))}"
    return (error.strerror or "unknown reason").lower(), ""


def stored(target: Path, report: bytes) -> None:
    """Write a report to a file.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        target.write_bytes(report)
    except OSError as error:
        why, help = why_not(target, error)
        raise UsageError(
            "output-unwritable", f"the report cannot be written to {target}", why=why, help=help
        ) from error


def stored_rows(target: Path, rows: Iterable[Row]) -> None:
    """Write rows to a file, as plain text.

    Raises:
        UsageError: it cannot be written.
    """
    from mcp_tap.views.paint import Painter

    plain = Painter(color=False)
    stored(target, "".join(map(plain.line, rows)).encode("utf-8", "backslashreplace"))


class Output:
    """How this command speaks: what it may print, where, and in which look."""

    def __init__(
        self,
        *,
        quiet: bool = False,
        verbose: int = 0,
        json: bool = False,
        color: str = "auto",
        ascii: bool = False,  # noqa: A002 - named as its option
        debug: bool = False,
    ) -> None:
        """Keep the answers to the options of every command."""
        self.quiet = quiet
        self.verbose = verbose
        self.json = json
        self.json_errors = json
        """What goes wrong is told as JSON: `--json`, or a format that is JSON, was asked for."""
        self.color = color
        self.ascii = ascii or "utf" not in (getattr(sys.stdout, "encoding", None) or "").lower()
        """Draw with ASCII only: asked for, or stdout can show nothing else."""
        self.debug = debug

    def colored(self, stream: TextIO) -> bool:
        """Tell whether this stream gets colours, as `--color` or else the environment has it."""
        if self.color != "auto":
            return self.color == "always"
        if os.environ.get("NO_COLOR"):
            return False
        if os.environ.get("FORCE_COLOR"):
            return True
        return stream.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")

    @property
    def cells(self) -> int | None:
        """Cells of a line on stdout; None where that is no terminal."""
        import shutil

        return shutil.get_terminal_size((100, 0)).columns if sys.stdout.isatty() else None

    def console(self, stream: TextIO | None = None) -> Console:
        """Give a rich console for the stream (stdout), which colours only where that is wanted."""
        from rich.console import Console

        stream = stream or sys.stdout
        colored = self.colored(stream)
        return Console(
            file=stream,
            force_terminal=True if colored else None,
            no_color=not colored,
            highlight=False,
            markup=False,
            emoji=False,
        )

    def write(self, text: str) -> None:
        """Print lines of what was asked for."""
        click.echo(harmless(text))

    def write_source(self, text: str) -> None:
        """Print lines of a file, in which tabs have their meaning."""
        click.echo(harmless(text, stays="\n\t"))

    def rows(self, rows: Iterable[Row]) -> None:
        """Print rows of what was asked for, which are harmless, each as soon as it is made.

        What stdout's encoding cannot show stands there by its code.
        """
        from mcp_tap.views.paint import Painter

        painter = Painter(color=self.colored(sys.stdout))
        reconfigure = getattr(sys.stdout, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
        for row in rows:
            sys.stdout.write(painter.line(row))
        sys.stdout.flush()

    def document(self, data: bytes) -> None:
        """Print what was asked for as JSON."""
        from mcp_tap.core.text import json_safe

        click.echo(json_safe(data))

    def say(self, text: str) -> None:
        """Tell the person something beside what was asked for; `--quiet` silences it."""
        if not self.quiet:
            from mcp_tap.cli.called import as_called

            with contextlib.suppress(OSError):  # nobody reads it any more
                click.echo(harmless(as_called(text)), err=True)

    def warn(self, text: str) -> None:
        """Tell the person of something that is probably not as they think."""
        self.say(f"warning: {text}")

    def doubt(self, error: TapError) -> None:
        """Tell of what is wrong and ends nothing here: without what to do about it."""
        words = str(error).replace("error[", "warning[", 1)
        self.say(words.partition("\n  help:")[0])

    def log(self, text: str, level: int = 1) -> None:
        """Tell what goes on, for those who asked with `-v` (level 1) or `-vv` (2)."""
        if self.verbose >= level:
            self.say(text)
