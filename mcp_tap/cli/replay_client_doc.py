"""The document of `replay client -f json`: a versioned contract, told by the structs of this file.

Adding fields keeps `VERSION`; renaming, removing or changing the meaning of one does not.  The
schema in docs/replay-client.schema.json and the tables of docs/replay-client-json.md are made from
these structs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from mcp_tap.cli.diff_doc import DifferenceDoc, MatchedDoc, difference_docs, matched_doc
from mcp_tap.replay.client.outcome import State, Verdict
from mcp_tap.replay.client.plan import Item, Why
from mcp_tap.replay.compare.difference import Difference
from mcp_tap.replay.compare.said import SaidCall
from mcp_tap.views.machine import document_bytes, ms
from mcp_tap.views.show_doc import CaptureDoc

VERSION: Final = 1


class SentDoc(Struct, frozen=True, kw_only=True):
    """A recorded call, and what became of it."""

    call: int
    """Its number in the capture."""
    new: int | None
    """Its number in the new run; null where it was not sent."""
    method: str
    """JSON-RPC method."""
    target: str | None
    """Tool or prompt name, or resource URI."""
    state: State | Literal["would-send"]
    """`same`, `differs`; `cut-short`: nothing differs till where it could not be gone on with;
    `not-sent`; with --dry-run `would-send`."""
    reason: Why | None
    """Why it was not sent: values are `masked`, it is `cut` in the capture, an `orphan` goes on
    with nothing, it is about a `task` of the recorded server, its tool `writes`, or the server is
    `gone`."""
    why: str
    """The same in words, or why it was not gone on with; empty where it came to its end."""
    differences: int
    """How many there are."""
    rounds: int | None
    """Rounds it took now."""
    recorded_ms: float | None
    """Time the server took then, over all rounds."""
    new_ms: float | None
    """Time the server took now."""


class ReplaySummaryDoc(Struct, frozen=True, kw_only=True):
    """How many there are of each."""

    differences: int
    """All of them."""
    same: int
    """Calls without any, made to their end."""
    differs: int
    """Calls with some."""
    cut_short: int
    """Calls without any that could not be gone on with."""
    not_sent: int
    """Calls that were not made, or with --dry-run would not be."""
    matched: MatchedDoc
    """What was not compared, or equal in a way."""


class ReplayDoc(Struct, frozen=True, kw_only=True):
    """The whole document."""

    version: Literal[1]
    """Of this contract."""
    capture: CaptureDoc
    """The recording."""
    to: str | None
    """URL or command line of the server; null with --dry-run."""
    recorded: list[str]
    """Captures of the new run, where they were kept."""
    calls: list[SentDoc]
    """The calls that were to be sent, in order."""
    differences: list[DifferenceDoc]
    """First those outside of calls, then those of each call; `a` is the recording, `b` the new
    run."""
    summary: ReplaySummaryDoc
    """Counts."""


def sent_doc(verdict: Verdict) -> SentDoc:
    """Describe what became of a call."""
    played, compared = verdict.played, verdict.compared
    assert played is not None
    a, b = (None, None) if compared is None else (compared.a, compared.b)
    return _doc(
        played.item,
        state=verdict.state,
        why=played.why,
        new=None if b is None else b.number,
        differences=0 if compared is None else len(compared.differences),
        rounds=None if b is None else len(b.rounds),
        recorded_ms=_ms(a),
        new_ms=_ms(b),
    )


def planned_doc(item: Item) -> SentDoc:
    """Describe what would become of a call."""
    return _doc(
        item,
        state="would-send" if item.cannot is None else "not-sent",
        why=item.why,
        new=None,
        differences=0,
        rounds=None,
        recorded_ms=None,
        new_ms=None,
    )


def document(
    capture: CaptureDoc,
    to: str | None,
    recorded: list[str],
    calls: list[SentDoc],
    differences: Sequence[Difference],
    *,
    matched: Mapping[str, int],
) -> bytes:
    """Render the document."""
    states = [call.state for call in calls]
    doc = ReplayDoc(
        version=VERSION,
        capture=capture,
        to=to,
        recorded=recorded,
        calls=calls,
        differences=difference_docs(differences),
        summary=ReplaySummaryDoc(
            differences=len(differences),
            same=states.count("same"),
            differs=states.count("differs"),
            cut_short=states.count("cut-short"),
            not_sent=states.count("not-sent"),
            matched=matched_doc(matched),
        ),
    )
    return document_bytes(doc) + b"\n"


def schema() -> dict[str, Any]:
    """Give the JSON Schema of the document."""
    return msgspec.json.schema(ReplayDoc)


def _doc(item: Item, **given: Any) -> SentDoc:
    call = item.call
    assert call is not None
    return SentDoc(
        call=call.number, method=call.method, target=call.target, reason=item.cannot, **given
    )


def _ms(call: SaidCall | None) -> float | None:
    return None if call is None else ms(call.server_s)
