"""The one way from records to what people see: fed live by a proxy, offline by a reader.

There is no `if live` in here.  Whoever feeds it says what time it is with the records themselves,
so that the same records always give the same calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from mcp_tap.core.finding import Finding
from mcp_tap.core.linking.correlator import Correlator
from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.records import AnyRecord, Body, Message
from mcp_tap.core.wire import UNPARSED, value_of
from mcp_tap.pipeline.judge import Judge, Sift

Change: TypeAlias = Call | Exchange | Finding
"""What a record changed, and what is wrong with it.  An exchange is reported only where it belongs
to no call; a finding after the call or exchange it is about, which holds it by then."""

_CARRIERS: Final = frozenset((Message, Body))
"""Kinds with a payload that may be JSON; asked by type, since `isinstance` is slow on structs."""


class Pipeline:
    """Records in, changes out.

    The objects it reports go on living after they ended; the pipeline itself lets go of them.
    """

    def __init__(
        self, *, label: str | None = None, judging: bool = True, sift: Sift | None = None
    ) -> None:
        """Begin an empty run.

        Args:
            label: name of the server, where the user gave one; else the capture's own is used.
            judging: run the rules; without, nothing is found.
            sift: decides which findings count, as they are found; None: all do.
        """
        self._correlator = Correlator(label=label)
        self._judge = Judge(sift) if judging else None

    @property
    def retired(self) -> int:
        """Things that were let go before their end was seen: too many, or too old."""
        return self._correlator.retired

    def feed(self, record: AnyRecord, value: Any = UNPARSED) -> Sequence[Change]:
        """Take the next record; give what it changed.

        Args:
            record: the next record of the run, in the order of `seq`.
            value: its payload, where the caller has parsed that already.
        """
        kind = type(record)
        if value is UNPARSED and kind in _CARRIERS:
            value = value_of(record)  # type: ignore[arg-type]
        correlator = self._correlator
        changes = correlator.feed(record, value)
        judge = self._judge
        if judge is None or (looks := judge.handlers.get(kind)) is None:
            return changes
        live = correlator.touched
        found = looks(live, record, value)
        return (*changes, *judge.keep(live, found)) if found else changes

    def exchange_of(self, record: AnyRecord) -> int | None:
        """Number the exchange of the record fed last; on stdio only linking knows it."""
        number: int | None = getattr(record, "exchange", None)
        live = self._correlator.touched
        return live.exchange.number if number is None and live is not None else number

    def advance(self, now: float) -> Sequence[Change]:
        """Let time pass up to `now`, a record's time; gives what changed by that alone."""
        self._correlator.advance(now)
        return ()

    def finish(self) -> Sequence[Change]:
        """Take note that no more records come; what is open stays open."""
        changes = self._correlator.finish()
        return changes if self._judge is None else (*changes, *self._judge.finish())
