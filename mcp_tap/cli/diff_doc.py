"""The document of `diff -f json`: a versioned contract, told by the structs of this file.

Adding fields keeps `VERSION`; renaming, removing or changing the meaning of one does not.  The
schema in docs/diff.schema.json and the tables of docs/diff-json.md are made from these structs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from mcp_tap.replay.compare.difference import Change, Difference, What
from mcp_tap.replay.compare.totals import Totals
from mcp_tap.views.machine import document_bytes, ms
from mcp_tap.views.show_doc import CaptureDoc

VERSION: Final = 1


class DifferenceDoc(Struct, frozen=True, kw_only=True):
    """One thing that differs between A and B."""

    what: What
    """What differs: a `tool`, a whole `call`, its `arguments`, a whole `round`, an `ask`, its
    `answer`, the `outcome` (one got a result, the other an error, a task, or nothing), the
    `result` or the `error`, the HTTP `status`, whether a `state` was issued, a `notification`, a
    `finding`, or, if asked for, the `time` the server took."""
    change: Change
    """`added`: in B only; `removed`: in A only; `renamed`: an ask under another key; `moved`:
    notifications in another order."""
    a: int | None
    """Number of the call in A; null where it has none, and outside of calls."""
    b: int | None
    """Number of the call in B."""
    method: str | None
    """JSON-RPC method of the call."""
    target: str | None
    """Tool or prompt name, or resource URI."""
    round: int | None
    """Round in A, or in B where A has none such."""
    name: str
    """Tool, key of the ask, method of the notification, or rule; else empty."""
    at: str
    """JSON pointer into the message, as `--ignore-path` takes it; in tools it begins with
    `/tools/NAME`.  Empty where it is about no single value."""
    left: Any
    """The value in A; null also where there is none."""
    right: Any
    """The value in B."""
    note: str
    """What the values do not say: `required` of a field, the kind of an ask, a rule's name."""


class PairDoc(Struct, frozen=True, kw_only=True):
    """A call of A and that of B which is the same, or a call without a counterpart."""

    a: int | None
    """Its number in A; null where it is in B only."""
    b: int | None
    """Its number in B."""
    method: str
    """JSON-RPC method."""
    target: str | None
    """Tool or prompt name, or resource URI."""
    differences: int
    """How many there are."""
    a_ms: float | None
    """Time the server took in A, over all rounds."""
    b_ms: float | None
    """Time the server took in B."""


class MatchedDoc(Struct, frozen=True, kw_only=True):
    """Values that are not equal, and were taken for that."""

    mask: int
    """One of the two was masked, or both under keys that cannot be compared."""
    timestamps: int
    """They differ in points in time only."""
    uuids: int
    """They differ in UUIDs only."""
    server_version: int
    """They are the version a server says it has."""
    ignored: int
    """They stand where `--ignore-path` says."""


class DiffSummaryDoc(Struct, frozen=True, kw_only=True):
    """How many there are of each."""

    differences: int
    """All of them."""
    equal: int
    """Calls without any."""
    differ: int
    """Calls that are in both and differ."""
    only_a: int
    """Calls in A only."""
    only_b: int
    """Calls in B only."""
    matched: MatchedDoc
    """What was not compared, or equal in a way."""
    a_ms: float
    """Time the server took in A over the calls that are in both."""
    b_ms: float
    """The same in B."""


class DiffDoc(Struct, frozen=True, kw_only=True):
    """The whole document."""

    version: Literal[1]
    """Of this contract."""
    a: CaptureDoc
    """The capture that was named first."""
    b: CaptureDoc
    """The other."""
    differences: list[DifferenceDoc]
    """First those outside of calls, tools before the rest; then those of the calls in A's order."""
    calls: list[PairDoc]
    """All calls, in A's order."""
    summary: DiffSummaryDoc
    """Counts."""


def difference_docs(differences: Iterable[Difference]) -> list[DifferenceDoc]:
    """Describe differences."""
    return [msgspec.convert(d, DifferenceDoc, from_attributes=True) for d in differences]


def matched_doc(matched: Mapping[str, int]) -> MatchedDoc:
    """Describe what was taken for equal, from its counts by name."""
    counts = {name.replace("-", "_"): count for name, count in matched.items()}
    return MatchedDoc(**{name: counts.get(name, 0) for name in MatchedDoc.__struct_fields__})


def diff_document(
    a: CaptureDoc,
    b: CaptureDoc,
    differences: Sequence[Difference],
    calls: list[PairDoc],
    totals: Totals,
) -> bytes:
    """Render the document."""
    doc = DiffDoc(
        version=VERSION,
        a=a,
        b=b,
        differences=difference_docs(differences),
        calls=calls,
        summary=DiffSummaryDoc(
            differences=totals.differences,
            equal=totals.equal,
            differ=totals.differ,
            only_a=totals.only_a,
            only_b=totals.only_b,
            matched=matched_doc(totals.matched),
            a_ms=ms(totals.a_s),
            b_ms=ms(totals.b_s),
        ),
    )
    return document_bytes(doc) + b"\n"


def schema() -> dict[str, Any]:
    """Give the JSON Schema of the document."""
    return msgspec.json.schema(DiffDoc)
