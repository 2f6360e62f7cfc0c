"""What recorded runs said, read back through an `Index`, in the structs that are compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from mcp_tap.core.finding import Finding
from mcp_tap.core.records import AnyRecord, Leg
from mcp_tap.pipeline.spine import Pipeline
from mcp_tap.replay.compare.matching import Heard
from mcp_tap.replay.compare.reading import (
    Asked,
    Head,
    Step,
    note_of,
    params_of_record,
    said_call,
    value_said,
)
from mcp_tap.replay.compare.runs import SaidRun
from mcp_tap.replay.compare.said import SaidCall, SaidFinding, SaidNote
from mcp_tap.replay.compare.tools import tools_of
from mcp_tap.replay.index import Index
from mcp_tap.replay.recorded import RecordedCall, RecordedRound

_LISTING: Final = "tools/list"
_OF_THE_TAP: Final = "TAP-"
"""Rules about the recording itself: what they find is nothing that was said."""


class Findings:
    """What rules find in captures while an index reads them: its `see`."""

    def __init__(self) -> None:
        """Begin with nothing found."""
        self._judges: dict[int, Pipeline] = {}
        self._found: dict[tuple[int, int | None], list[SaidFinding]] = {}

    def see(self, capture: int, record: AnyRecord) -> None:
        """Judge the next record of a capture."""
        judge = self._judges.get(capture)
        if judge is None:
            judge = self._judges[capture] = Pipeline()
        self._keep(capture, judge.feed(record))

    def finish(self) -> None:
        """Take note that all captures were read."""
        for capture, judge in self._judges.items():
            self._keep(capture, judge.finish())

    def of(self, capture: int, call: int | None) -> tuple[SaidFinding, ...]:
        """Give the findings of a call; of None, those of no call."""
        return tuple(self._found.get((capture, call), ()))

    def _keep(self, capture: int, changes: Iterable[Any]) -> None:
        for finding in changes:
            if type(finding) is Finding and not finding.rule.startswith(_OF_THE_TAP):
                found = self._found.setdefault((capture, finding.call), [])
                found.append(_finding(finding))


def run_of(
    index: Index, capture: int, *, findings: Findings | None = None, leg: Leg = "upstream"
) -> SaidRun:
    """Give a run of an index; its calls are read when it is their turn.

    Args:
        index: holds the run.
        capture: which of its captures it is.
        findings: what rules found, where that shall be compared.
        leg: the side of the tap to look at; that of the client has no round the tap itself sent.
    """
    calls = [call for call in index.calls if call.capture == capture and _seen(call, leg)]

    def read(at: int) -> SaidCall:
        number = calls[at].number
        found = findings.of(capture, number) if findings is not None else ()
        return call_of(index, calls[at], findings=found, leg=leg)

    return SaidRun(
        calls=[_heard(index, call) for call in calls],
        read=read,
        tools=tools_of(_listings(index, calls)),
        server_notes=list(_notes(index, capture, calls, leg)),
        client_notes=list(_client_notes(index, capture, leg)),
        findings=findings.of(capture, None) if findings is not None else (),
    )


def call_of(
    index: Index,
    call: RecordedCall,
    *,
    findings: Sequence[SaidFinding] = (),
    leg: Leg = "upstream",
) -> SaidCall:
    """Read what a recorded call said.

    Args:
        index: holds the call.
        call: the call.
        findings: what rules found in it.
        leg: as in `run_of`.
    """
    capture = index.captures[call.capture]
    steps = [_step(rounds) for rounds in _rounds(call, leg)]
    head = Head(
        number=call.number,
        method=call.method,
        target=call.target,
        kind=call.kind,
        outcome=call.outcome,
        steps=steps,
        task_seq=call.task_seq,
        others=call.others,
        findings=tuple(findings),
    )
    return said_call(
        head,
        capture.source.record,
        lambda number: (
            index.messages(capture.exchanges[number], leg) if number in capture.exchanges else ()
        ),
    )


def _seen(call: RecordedCall, leg: Leg) -> bool:
    return leg == "upstream" or not call.rounds[0].by_tap


def _rounds(call: RecordedCall, leg: Leg) -> Iterator[list[RecordedRound]]:
    """Give the rounds of a call, each with those the tap sent that a client took for its end."""
    together: list[RecordedRound] = []
    for round_ in call.rounds:
        if together and not (round_.by_tap and leg == "client"):
            yield together
            together = []
        together.append(round_)
    yield together


def _step(rounds: list[RecordedRound]) -> Step:
    first, last = rounds[0], rounds[-1]
    return Step(
        number=first.number,
        exchange=first.exchange.number,
        request_seq=first.request_seq,
        response_seq=last.response_seq,
        status=first.exchange.status,
        has_state=last.has_state,
        asks=[
            Asked(
                key=key,
                method=ask.method,
                kind=ask.kind,
                seq=ask.seq,
                pushed=ask.pushed,
                error=ask.action == "error",
                answer_seq=ask.answer_seq,
            )
            for key, ask in last.asks.items()
        ],
    )


def _heard(index: Index, call: RecordedCall) -> Heard:
    record, seq = index.captures[call.capture].source.record, call.rounds[0].request_seq
    return Heard(
        number=call.number,
        method=call.method,
        target=call.target,
        key=call.key,
        params=lambda: params_of_record(record(seq)),
    )


def _listings(index: Index, calls: Sequence[RecordedCall]) -> Iterator[tuple[bool, Any]]:
    for call in calls:
        if call.method != _LISTING or call.rounds[-1].response_seq is None:
            continue
        read = index.captures[call.capture].source.record
        first = "cursor" not in params_of_record(read(call.rounds[0].request_seq))
        value = value_said(read(call.rounds[-1].response_seq))
        yield first, value.get("result") if type(value) is dict else None


def _notes(
    index: Index, capture: int, calls: Sequence[RecordedCall], leg: Leg
) -> Iterator[SaidNote]:
    """Give what the server notified of in exchanges of no call."""
    mine = {round_.exchange.number for call in calls for round_ in call.rounds}
    mine |= {number for call in calls for number in call.others}
    for exchange in index.captures[capture].exchanges.values():
        if exchange.number not in mine and exchange.kind != "request":
            found = (note_of(record) for record in index.messages(exchange, leg))
            yield from (note for note in found if note is not None)


def _client_notes(index: Index, capture: int, leg: Leg) -> Iterator[SaidNote]:
    for exchange in index.captures[capture].exchanges.values():
        if exchange.kind == "notification":
            found = (note_of(record, "client") for record in index.messages(exchange, leg))
            yield from (note for note in found if note is not None)


def _finding(finding: Finding) -> SaidFinding:
    return SaidFinding(
        rule=finding.rule,
        name=finding.name,
        severity=finding.severity,
        spot=finding.spot,
        message=finding.message,
        method=finding.method,
        round=finding.round,
        path=finding.path,
    )
