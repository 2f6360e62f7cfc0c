"""What captures hold that can be served or sent again, found in one pass over each.

Rules of this file:

- Bodies stay in the file: of a record its `seq` is kept, of what is matched a digest.
- Linking is the correlator's.  Nothing is judged: findings say nothing about what to play.
- An exchange holds all its records, of both legs; `Index.messages()` gives those of one leg.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

from mcp_tap.core.records import AnyRecord, Leg, Payload
from mcp_tap.core.wire import UNPARSED, value_of
from mcp_tap.replay.keys import params_of
from mcp_tap.replay.reading import Reading
from mcp_tap.replay.recorded import Captured, RecordedCall, RecordedExchange, RecordedRound
from mcp_tap.replay.source import Source


class Index:
    """Calls and exchanges of captures, by which they are found again.

    It holds the files open: use it as a context, or `close()` it.
    """

    def __init__(self) -> None:
        """Begin without any; `of` reads captures in."""
        self.captures: list[Captured] = []
        self.calls: list[RecordedCall] = []
        """Of each capture in the order in which they began; all requests are calls here."""

    @classmethod
    def of(
        cls, specs: Sequence[str], *, see: Callable[[int, AnyRecord], object] | None = None
    ) -> Index:
        """Read captures.

        Args:
            specs: paths, run ids, `-` for standard input.
            see: told of each record, with the index of its capture, in the one pass there is.

        Raises:
            CaptureError: one of them cannot be read.
        """
        index = cls()
        try:
            for spec in specs:
                index._add(Source(spec), see)
        except BaseException:
            index.close()
            raise
        return index

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def messages(self, exchange: RecordedExchange, leg: Leg = "client") -> list[AnyRecord]:
        """Read the records of an exchange again: what passed on one side of the tap, in order.

        Raises:
            CaptureError: the file was changed meanwhile.
        """
        other = "upstream" if leg == "client" else "client"
        records = self.captures[exchange.capture].source.again(exchange.seqs)
        return [record for record in records if getattr(record, "leg", None) != other]

    def value(self, capture: int, seq: int) -> Any:
        """Read the payload of a message again; `UNPARSED` for what is no whole JSON."""
        record = self.captures[capture].source.record(seq)
        return value_of(record) if isinstance(record, Payload) else UNPARSED

    def answers(self, call: RecordedCall, round_: RecordedRound) -> dict[str, Any]:
        """Give what the asks of a round were answered with, by key; an error's object for `error`.

        Asks nobody answered are left out.
        """
        found: dict[str, Any] = {}
        for key, ask in round_.asks.items():
            if ask.answer_seq is None:
                continue
            value = self.value(call.capture, ask.answer_seq)
            if type(value) is not dict:
                continue
            if ask.pushed:
                found[key] = value.get("error" if ask.action == "error" else "result")
            else:
                given = params_of(value).get("inputResponses")
                if type(given) is dict and key in given:
                    found[key] = given[key]
        return found

    def close(self) -> None:
        """Close the files."""
        for capture in self.captures:
            capture.source.close()

    def _add(self, source: Source, see: Callable[[int, AnyRecord], object] | None) -> None:
        capture = Captured(source=source)
        self.captures.append(capture)
        reading = Reading(len(self.captures) - 1, capture)
        calls = reading.read(source.records(), see)
        source.keep_open()
        self.calls += calls
