"""The server's side of a run in which the tap answered, so that it can be replayed behind a tap.

A client saw only what the tap let through; the server saw, and said, more.  What is given here is
what a tap behind that tap would have recorded: the requests as they went upstream, the tap's own as
any client's, and every response as it came.

Each record keeps its number and its place in the file.  What was on the client's side only is
replaced by a `decision` that says so, which means nothing to linking.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from msgspec.structs import replace

from mcp_tap.core.records import (
    AnyRecord,
    Body,
    Decision,
    HttpRequest,
    HttpResponse,
    Message,
    Noise,
    Payload,
    Stderr,
)

LEGGED: Final = (HttpRequest, HttpResponse, Payload)
_Legged: TypeAlias = HttpRequest | HttpResponse | Message | Body | Noise | Stderr


def differs(record: AnyRecord) -> bool:
    """Tell whether the two sides of the tap differ in a record."""
    return isinstance(record, LEGGED) and record.leg is not None


def behind(records: Iterable[AnyRecord]) -> Iterator[AnyRecord]:
    """Give the records of a run as seen from its server; they are gone through twice."""
    records = list(records)
    edited = {
        record.replaces: record
        for record in records
        if isinstance(record, LEGGED) and record.leg == "upstream" and record.replaces is not None
    }
    for record in records:
        if record.seq in edited:  # where it stood, since that is where the server got it
            yield _seen(edited[record.seq], record.seq, record.t)
        elif not isinstance(record, LEGGED) or record.leg is None:
            yield record
        elif record.leg == "client" or record.replaces is not None:
            yield Decision(
                seq=record.seq,
                t=record.t,
                hook="tap",
                verdict="left-out",
                why="it was on the client's side only",
            )
        else:
            yield _seen(record, record.seq, record.t)


def _seen(record: _Legged, seq: int, t: float) -> AnyRecord:
    """Give a record of the upstream leg as a tap there would have made it."""
    if isinstance(record, Message) and record.sender == "tap":
        record = replace(record, sender="client")
    seen: AnyRecord = replace(record, seq=seq, t=t, leg=None, replaces=None)
    return seen
