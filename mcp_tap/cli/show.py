"""`mcp-tap show`: the calls of a capture, as text for people or as documents for programs."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from mcp_tap.cli.common import Output, TapCommand, option, output
from mcp_tap.cli.output import printable
from mcp_tap.errors import CaptureError, UsageError

if TYPE_CHECKING:
    from mcp_tap.capture.reader import CaptureReader
    from mcp_tap.cli.gather import Found, Shelf
    from mcp_tap.core.filters import Filter
    from mcp_tap.core.records import AnyRecord
    from mcp_tap.views.look import Look, Row


_FILE_NAME = re.compile(r"[\w./~ -]+")
"""What may name a capture and is no sign of the filter language."""
DEPTH = click.IntRange(0, 4)
LEGEND = """\
?  asked, and answered    _  waits for the client    .  waits for the server
*  final result           x  error                   /  cancelled
=  open stream            fields a*, b               a is required, b is not
"""
LISTED = """\
Exchanges that belong to no call (notifications, GET, DELETE, ..) are listed
if they failed; others with -d1 or more, or by a filter with kind, status or
text.
"""


class ShowCommand(TapCommand):
    """A command whose help ends with the filter language, as the parser itself describes it."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the marks mean and the filter language below the options."""
        from mcp_tap.core.filters import help_text

        for heading, text in (("Rounds", LEGEND), ("Filters", f"{help_text()}\n\n{LISTED}")):
            with formatter.section(heading):
                for line in text.splitlines():
                    formatter.write(f"  {line}\n" if line else "\n")
        super().format_epilog(ctx, formatter)


@click.command(
    "show",
    cls=ShowCommand,
    epilog="""\
\b
Examples:
  mcp-tap show                        the newest capture
  mcp-tap show run.jsonl -d2 tool:deploy
  mcp-tap show 'state:error | took:>2s' -f json
""",
)
@click.argument("arguments", metavar="[CAPTURE] [FILTER]", nargs=-1)
@option(
    "-d",
    "--detail",
    type=DEPTH,
    metavar="0..4",
    help="0 calls, 1 rounds, 2 asks, answers and results, 3 bodies (strings over 2,000 characters"
    " are cut, in pipes too), 4 bytes, all of them."
    "  [default: 2 for calls with more than one round, with asks or with findings, else 0]",
)
@option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["text", "json", "jsonl"]),
    default="text",
    help="text for people; json: one document; jsonl: one call a line.",
)
def command(arguments: tuple[str, ...], detail: int | None, form: str) -> int:
    """Print the calls of CAPTURE that pass FILTER.

    CAPTURE is a path, a run id, - for standard input, or absent for the newest.  The document of
    -f json is a versioned contract; docs/show-json.md describes it.
    """
    out = output()
    reader, words = _open(arguments)
    if out.json and form == "text":
        form = "json"
    job = Showing(reader, filter_of(words), out)
    if words and len(words) == len(arguments) and _FILE_NAME.fullmatch(words[0]):
        job.word = words[0]
    if form == "text":
        job.text(detail)
    elif form == "json":
        job.json()
    else:
        job.jsonl()
    job.report()
    return 0


def _open(arguments: Sequence[str]) -> tuple[CaptureReader, list[str]]:
    """Find out whether the first argument names a capture, and open it or else the newest."""
    from mcp_tap.capture.reader import open_capture

    words = list(arguments)
    if not words:
        return open_capture(None), []
    first = words[0]
    if (
        first == "-"
        or not first.strip()
        or first.endswith((".jsonl", ".gz"))
        or os.sep in first.partition(":")[0]
    ):
        return open_capture(first), words[1:]
    try:
        return open_capture(first), words[1:]
    except CaptureError as error:
        if error.code != "capture-missing":
            raise
        try:
            filter_of(words)
        except UsageError as unreadable:
            # A typing error in a filter is worth more words than a file that is not there.
            raise (error if _FILE_NAME.fullmatch(first) else unreadable) from None
    if len(words) > 1 and all(map(_FILE_NAME.fullmatch, words)):
        raise UsageError(
            "capture-missing",
            f"there is no capture {first}",
            help=f"to search the newest for words: mcp-tap show {shlex.quote(' '.join(words))}",
        )
    return open_capture(None), words


def open_with_filter(arguments: Sequence[str]) -> tuple[CaptureReader, Filter]:
    """Open the capture and read the filter that arguments name, as `show` takes them."""
    reader, words = _open(arguments)
    return reader, filter_of(words)


def filter_of(words: Sequence[str]) -> Filter:
    """Join the arguments of the shell to one filter; each keeps to itself where it is whole.

    Raises:
        UsageError: they are no filter.
    """
    from mcp_tap.core.filters import parse

    if len(words) > 1:
        try:
            for word in words:
                parse(word)
        except UsageError:
            return parse(" ".join(words))
        return parse(" ".join(f"({word})" for word in words if word.strip()))
    return parse(" ".join(words))


class Showing:
    """One capture on its way to stdout."""

    def __init__(self, reader: CaptureReader, filter_: Filter, out: Output) -> None:
        """Take what is to be shown; nothing is read yet."""
        self.reader = reader
        self.filter = filter_
        self.out = out
        self.records = 0
        self.calls = 0
        self.shown = 0
        self.others = 0
        """Exchanges of no call that were printed."""
        self.incomplete = 0
        self.word = ""
        """Taken for a word to search for, since it named no capture."""

    def text(self, detail: int | None) -> None:
        """Print rows, each call's when nothing more can change in it."""
        self.out.rows(self._lines(detail))

    def _lines(self, detail: int | None) -> Iterator[Row]:
        from mcp_tap.views.look import ASCII, LINES, Look
        from mcp_tap.views.text import local_start
        from mcp_tap.views.timeline import HEADING

        header = self.reader.header
        look = Look(glyphs=ASCII if self.out.ascii else LINES, start=local_start(header.started))
        headed = False
        for found, shelf in self._found(look, records=detail is not None and detail >= 3):
            for row in self._rows(found, look, detail, shelf):
                if not headed:
                    headed = True
                    if not self.out.quiet:
                        yield [(HEADING, "dim")]
                yield row

    def _rows(
        self, found: Found, look: Look, detail: int | None, shelf: Shelf | None
    ) -> Iterable[Row]:
        from mcp_tap.core.model import Exchange
        from mcp_tap.views.found import faulty
        from mcp_tap.views.listing import WIDTH, call_rows, exchange_rows, listed

        now = self._now() if found.end is None else None
        if isinstance(found, Exchange):
            if not listed(found, self.filter, asked=bool(detail)):
                return ()
            self.others += 1
            records = self._records(found, detail, shelf)
            depth = int(faulty(found.findings)) if detail is None else detail
            return exchange_rows(found, look, depth, now=now, records=records)
        several = len(found.rounds) > 1 or any(r.asks for r in found.rounds)
        depth = (2 if several or faulty(found.findings) else 0) if detail is None else detail
        records = self._records(found, detail, shelf)
        cells = shutil.get_terminal_size((WIDTH, 0)).columns
        over = self.reader.clean
        return call_rows(found, look, depth, now=now, over=over, records=records, cells=cells)

    @staticmethod
    def _records(found: Found, detail: int | None, shelf: Shelf | None) -> Iterable[AnyRecord]:
        return shelf.of(found) if shelf is not None and (detail or 0) >= 3 else ()

    def _now(self) -> float | None:
        """Give the time of a run that goes on; of one that does not, nothing is running."""
        from mcp_tap.capture.file import being_written
        from mcp_tap.views.text import local_start

        reader = self.reader
        start = local_start(reader.header.started)
        if reader.clean or start is None or not any(map(being_written, reader.parts)):
            return None
        return (datetime.now(UTC) - start).total_seconds()

    def json(self) -> None:
        """Print one document."""
        from mcp_tap.core.model import Call
        from mcp_tap.views import machine

        calls: list[bytes] = []
        exchanges: list[bytes] = []
        for found, _ in self._found():
            if isinstance(found, Call):
                calls.append(machine.encode(machine.call_doc(found)))
            else:
                exchanges.append(machine.encode(machine.exchange_doc(found)))
        self.others = len(exchanges)
        self._check_word()
        path = self.reader.path
        capture = machine.capture_doc(
            self.reader, path=printable(path) if path else None, records=self.records
        )
        click.echo(machine.document_bytes(machine.show_document(capture, calls, exchanges)))

    def jsonl(self) -> None:
        """Print one call a line."""
        from mcp_tap.core.model import Call
        from mcp_tap.views import machine

        for found, _ in self._found():
            if isinstance(found, Call):
                click.echo(machine.encode(machine.call_doc(found)))

    def _found(
        self, look: Look | None = None, *, records: bool = False
    ) -> Iterator[tuple[Found, Shelf | None]]:
        from mcp_tap.cli.gather import Shelf, gather
        from mcp_tap.core.filters import Scope
        from mcp_tap.core.model import Call
        from mcp_tap.pipeline.spine import Pipeline
        from mcp_tap.views.text import local_start

        shelf = Shelf() if records or self.filter.uses("text") else None
        start = look.start if look else local_start(self.reader.header.started)
        scope = Scope(start=start, bodies=shelf.texts if shelf else None)
        for found in gather(self.reader, Pipeline(), shelf=shelf, see=self._see):
            call = isinstance(found, Call)
            self.calls += call
            if self.filter.matches(found, scope):
                self.shown += call
                yield found, shelf
            if shelf is not None:
                shelf.release(found)
        self.incomplete = shelf.incomplete if shelf else 0

    def _see(self, _: AnyRecord) -> None:
        self.records += 1

    def _check_word(self) -> None:
        """Refuse a word that is neither a capture nor in one: it was probably meant as the former.

        Raises:
            UsageError: nothing was found.
        """
        if not self.word or self.shown or self.others:
            return
        nothing, named = f'nothing has the text "{self.word}"', "of that name"
        if str(self.filter) != self.word:
            nothing, named = f"nothing passes the filter {self.filter}", self.word
        raise UsageError(
            "nothing-found",
            f"{nothing}, and there is no capture {named}",
            where=self.reader.name,
            help="mcp-tap list",
        )

    def report(self) -> None:
        """Say on stderr what was read and what is wrong with it."""
        from mcp_tap.core.text import plural

        reader, out = self.reader, self.out
        sys.stdout.flush()
        self._check_word()
        if reader.torn is not None:
            out.say(
                f"warning[capture-torn]: {reader.torn.name} stops in the middle of line"
                f" {reader.torn.line}\n"
                f"  why:  the run was killed while writing; the {self.records} records before it"
                " are sound"
            )
        if reader.lost:
            out.say(
                f"warning[records-lost]: {plural(reader.lost, 'record')} of this run"
                f" {'is' if reader.lost == 1 else 'are'} missing\n"
                "  why:  what they said is not shown, and calls they belong to may look unfinished"
            )
        if self.incomplete:
            out.say(
                f"warning[not-all-kept]: {plural(self.incomplete, 'long call')} could not be"
                " searched or printed whole, to stay within memory"
            )
        of = f"{self.shown} of " if self.filter else ""
        words = of + plural(self.calls, "call")
        if self.others:
            words += f" and {plural(self.others, 'exchange')}"
        words += f", {plural(self.records, 'record')}, {reader.name}"
        if not reader.clean and reader.torn is None:
            words += "; no footer: the run goes on, or was killed"
        out.say(words)
