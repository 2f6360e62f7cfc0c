"""What `mcp-tap export` does, once it is known what is asked for."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TypeAlias

from mcp_tap import __version__
from mcp_tap.cli.checking import display
from mcp_tap.cli.gather import Found, Shelf, gather
from mcp_tap.cli.output import Output
from mcp_tap.cli.show import open_with_filter
from mcp_tap.cli.target import STDOUT, write_new
from mcp_tap.core import clock
from mcp_tap.core.filters import Scope
from mcp_tap.core.model import Call
from mcp_tap.core.records import AnyRecord
from mcp_tap.core.text import plural
from mcp_tap.errors import UsageError
from mcp_tap.pipeline.spine import Pipeline
from mcp_tap.views.machine import capture_doc
from mcp_tap.views.show_doc import CaptureDoc
from mcp_tap.views.text import local_start

Item: TypeAlias = tuple[Found, list[AnyRecord]]
"""A call, or an exchange that belongs to none, with its records."""


class Export:
    """One capture on its way to a document."""

    def __init__(self, arguments: Sequence[str], form: str, *, max_body: int) -> None:
        """Open the capture.

        Args:
            arguments: capture and filter, as `show` takes them.
            form: `har`, `html`, `mermaid` or `otlp`.
            max_body: bytes of a message that a page shows.

        Raises:
            TapError: they cannot be used, or the format cannot hold such a capture.
        """
        self._reader, self._filter = open_with_filter(arguments)
        self._form = form
        self._max_body = max_body
        self._records = 0
        self._calls = 0
        self._others = 0
        self._shelf = Shelf()
        if form == "har" and self._reader.header.transport != "http":
            raise UsageError(
                "har-needs-http",
                f"{self._reader.name} was recorded over stdio, and a HAR holds HTTP exchanges",
                why="entries made up for lines would say things of a wire that there was not",
                help=shlex.join(
                    ["mcp-tap", "export", display(self._reader.path) or "-", "-f", "html"]
                ),
            )

    def run(self, target: str, out: Output) -> int:
        """Write the document; always 0.

        Raises:
            TapError: nothing passes the filter, the capture cannot be read, the file not written.
        """
        found = self._found()
        first = list(islice(found, 1))
        if not first and (self._filter or self._form == "mermaid"):
            passes = f" that passes the filter {self._filter}" if self._filter else ""
            raise UsageError(
                "nothing-found",
                f"there is no call in {self._reader.name}{passes}",
                help="mcp-tap show lists the calls, mcp-tap list the captures",
            )
        write_new(target, self._blocks(chain(first, found), target))
        self._say(target, out)
        return 0

    def _blocks(self, found: Iterable[Item], target: str) -> Iterator[bytes]:
        header = self._reader.header
        if self._form == "mermaid":
            from mcp_tap.exporting.mermaid import mermaid_document

            calls = [call for call, _ in found if isinstance(call, Call)]
            several = len(calls) != 1 or target.endswith(".md")
            yield from mermaid_document(calls, several=several)
        elif self._form == "har":
            from mcp_tap.exporting.har import har_document

            yield from har_document(header, found, __version__)
        elif self._form == "otlp":
            from mcp_tap.exporting.otlp import otlp_document

            yield from otlp_document(header, found, __version__)
        else:
            from mcp_tap.exporting.html import html_document

            start = clock.read(header.started)
            yield from html_document(
                found,
                about=self._about,
                start=clock.utc(start) if start else None,
                most_body=self._max_body,
            )

    def _found(self) -> Iterator[Item]:
        shelf = self._shelf
        scope = Scope(start=local_start(self._reader.header.started), bodies=shelf.texts)
        ended = gather(self._reader, Pipeline(), shelf=shelf, see=self._see)
        for found in chain(ended, shelf.left()):
            if self._filter.matches(found, scope) and self._holds(found):
                self._calls += isinstance(found, Call)
                self._others += not isinstance(found, Call)
                yield found, shelf.of(found)
            shelf.release(found)

    def _holds(self, found: Found) -> bool:
        """Tell whether the format has a place for it."""
        return self._form != "mermaid" or isinstance(found, Call)

    def _see(self, _: AnyRecord) -> None:
        self._records += 1

    def _about(self) -> CaptureDoc:
        return capture_doc(self._reader, path=None, records=self._records)

    def _say(self, target: str, out: Output) -> None:
        reader = self._reader
        if reader.torn is not None or reader.lost:
            out.say(
                f"warning[capture-torn]: {reader.name} is not whole; what is missing is not in it"
            )
        if self._shelf.incomplete:
            out.say(
                f"warning[not-all-kept]: {plural(self._shelf.incomplete, 'long call')} could not be"
                " written whole, to stay within memory"
            )
        words = plural(self._calls, "call")
        if self._others:
            words += f" and {plural(self._others, 'exchange')}"
        where = "" if target == STDOUT else f", written to {target}"
        out.say(f"{words}, {reader.name}{where}")
