"""What calls said, read from their records: of a recorded call as of one that was just made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from msgspec import Struct

from mcp_tap.core import spec
from mcp_tap.core.model import AskKind, Call, CallKind, Outcome
from mcp_tap.core.records import AnyRecord, Message, Payload
from mcp_tap.core.wire import UNPARSED, whole_value
from mcp_tap.replay.compare.said import (
    End,
    SaidAnswer,
    SaidAsk,
    SaidCall,
    SaidFinding,
    SaidNote,
    SaidRound,
    Steps,
)
from mcp_tap.replay.keys import matched

RELATED_TASK: Final = "io.modelcontextprotocol/related-task"
_TOKENS: Final = frozenset({"progressToken", spec.META_SUBSCRIPTION, RELATED_TASK})
_IDS: Final = frozenset({"progressToken", "requestId", "elicitationId", "taskId"})
_ASKING: Final = frozenset({"requestState", "inputRequests"})


class Asked(Struct, frozen=True, kw_only=True):
    """An ask, by the records it is in."""

    key: str
    method: str
    kind: AskKind
    seq: int
    pushed: bool
    error: bool
    """It was answered with an error."""
    answer_seq: int | None


class Step(Struct, frozen=True, kw_only=True):
    """A round, by the records it is in."""

    number: int
    exchange: int
    request_seq: int
    response_seq: int | None
    asks: Sequence[Asked]
    status: int | None
    has_state: bool


class Head(Struct, frozen=True, kw_only=True):
    """A call, by the records it is in."""

    number: int
    method: str
    target: str | None
    kind: CallKind
    outcome: Outcome
    steps: Sequence[Step]
    task_seq: int | None
    others: Sequence[int] = ()
    """Exchanges that belong to it beside those of its rounds."""
    findings: tuple[SaidFinding, ...] = ()


def said_call(
    head: Head,
    record: Callable[[int], AnyRecord],
    messages: Callable[[int], Iterable[AnyRecord]],
) -> SaidCall:
    """Read what a call said.

    Args:
        head: says which records it is in.
        record: gives a record by its `seq`.
        messages: gives the records of an exchange, in order.
    """
    return _Reading(head, record, messages).call()


def said_fresh(call: Call, records: Iterable[AnyRecord]) -> SaidCall:
    """Read what a call said that the correlator has just put together.

    Args:
        call: it, ended.
        records: those of its exchanges, or more, in order.
    """
    known = {record.seq: record for record in records}
    of: dict[int, list[AnyRecord]] = {}
    for each in known.values():
        number = getattr(each, "exchange", None)
        if number is not None:
            of.setdefault(number, []).append(each)
    return said_call(head_of(call), known.__getitem__, lambda number: of.get(number, ()))


def head_of(call: Call) -> Head:
    """Say which records a call is in."""
    return Head(
        number=call.number,
        method=call.method,
        target=call.name,
        kind=call.kind,
        outcome=call.outcome,
        task_seq=call.task_seq,
        others=call.other_exchanges,
        steps=[
            Step(
                number=round_.number,
                exchange=round_.exchange,
                request_seq=round_.request_seq,
                response_seq=round_.response_seq,
                status=round_.status,
                has_state=round_.state is not None,
                asks=[
                    Asked(
                        key=ask.key,
                        method=ask.method,
                        kind=ask.kind,
                        seq=ask.seq,
                        pushed=ask.pushed,
                        error=ask.action == "error",
                        answer_seq=ask.answer_seq,
                    )
                    for ask in round_.asks
                ],
            )
            for round_ in call.rounds
        ],
    )


def params_of_record(record: AnyRecord) -> dict[str, Any]:
    """Give the parameters that tell a request from others, without the id of a task.

    One that is longer than the record cap is told by its hash.
    """
    if isinstance(record, Payload) and record.truncated:
        return {"sha256": record.sha256}
    request = value_said(record)
    params: dict[str, Any] = matched(request).get("params", {})
    if type(request) is dict and request.get("method") in spec.TASK_METHODS:
        params = {name: value for name, value in params.items() if name != "taskId"}
    return params


def value_said(record: AnyRecord) -> Any:
    """Parse all of a payload; `UNPARSED` for what is cut, or no JSON."""
    if not isinstance(record, Payload) or record.truncated:
        return UNPARSED
    return whole_value(record.payload())


class _Reading:
    def __init__(
        self,
        head: Head,
        record: Callable[[int], AnyRecord],
        messages: Callable[[int], Iterable[AnyRecord]],
    ) -> None:
        self._head = head
        self._record = record
        self._messages = messages

    def call(self) -> SaidCall:
        head = self._head
        notes = self._notes()
        return SaidCall(
            number=head.number,
            method=head.method,
            target=head.target if head.method not in spec.TASK_METHODS else None,
            params=params_of_record(self._record(head.steps[0].request_seq)),
            rounds=tuple(
                self._round(step, tuple(notes[index]), last=step is head.steps[-1])
                for index, step in enumerate(head.steps)
            ),
            kind=head.kind,
            outcome=head.outcome,
            findings=head.findings,
        )

    def _notes(self) -> list[list[SaidNote]]:
        """Give the notifications of each round: of those on one exchange, up to each one's end."""
        steps = self._head.steps
        found: list[list[SaidNote]] = [[] for _ in steps]
        for number in dict.fromkeys((*(step.exchange for step in steps), *self._head.others)):
            mine = [i for i, step in enumerate(steps) if step.exchange == number]
            mine = mine or list(range(len(steps)))
            for record in self._messages(number):
                note = note_of(record)
                if note is None:
                    continue
                ends = ((i, steps[i].response_seq) for i in mine)
                at = next((i for i, end in ends if end is None or record.seq <= end), mine[-1])
                found[at].append(note)
        return found

    def _round(self, step: Step, notes: tuple[SaidNote, ...], *, last: bool) -> SaidRound:
        asks = tuple(self._ask(ask) for ask in step.asks)
        seq = self._head.task_seq if last and self._head.task_seq is not None else step.response_seq
        record = self._cut(step) if seq is None else self._record(seq)
        end, said, at = _said(record, bool(asks))
        cut = record.sha256 if isinstance(record, Payload) and record.truncated else None
        took = None if record is None else record.t - self._record(step.request_seq).t
        return SaidRound(
            number=step.number,
            asks=asks,
            notes=notes,
            end=end,
            said=said,
            at=at,
            status=step.status,
            has_state=step.has_state,
            cut=cut,
            took=took,
        )

    def _cut(self, step: Step) -> AnyRecord | None:
        """Find a response of which only the beginning was recorded: nothing says that it is one."""
        found = (
            record
            for record in self._messages(step.exchange)
            if isinstance(record, Payload) and record.truncated and record.sender == "server"
        )
        return next(found, None)

    def _ask(self, ask: Asked) -> SaidAsk:
        value = value_said(self._record(ask.seq))
        if ask.pushed:
            entry, at = value, ()
        else:
            entry, at = _entry(value, ask.key)
        params = entry.get("params") if type(entry) is dict else None
        return SaidAsk(
            key="" if ask.pushed else ask.key,
            method=ask.method,
            kind=ask.kind,
            params=_without(params, _IDS | {"mode"}) if type(params) is dict else {},
            at=(*at, "params"),
            answer=self._answer(ask),
        )

    def _answer(self, ask: Asked) -> SaidAnswer | None:
        if ask.answer_seq is None:
            return None
        value = value_said(self._record(ask.answer_seq))
        if type(value) is not dict:
            return None
        if ask.pushed:
            name = "error" if ask.error else "result"
            return SaidAnswer(value=value.get(name), at=(name,), error=ask.error)
        params = value.get("params")
        given = params.get("inputResponses") if type(params) is dict else None
        if type(given) is not dict or ask.key not in given:
            return None
        at = ("params", "inputResponses", ask.key)
        return SaidAnswer(value=given[ask.key], at=at, error=ask.error)


def note_of(record: AnyRecord, sender: str = "server") -> SaidNote | None:
    """Read a notification of a server, or of the other `sender`; None for everything else."""
    if type(record) is not Message or record.sender != sender:
        return None
    value = value_said(record)
    if type(value) is not dict or "id" in value or type(value.get("method")) is not str:
        return None
    params = value.get("params")
    return SaidNote(
        method=value["method"], params=_without(params, _IDS) if type(params) is dict else {}
    )


def _said(record: AnyRecord | None, asks: bool) -> tuple[End, Any, Steps]:  # noqa: FBT001 - private
    value = UNPARSED if record is None else value_said(record)
    if type(value) is not dict:
        return ("asks" if asks else "none"), None, ("result",)
    if "error" in value:
        return "error", value["error"], ("error",)
    task = value.get("params") if value.get("method") == spec.NOTE_TASK else value.get("result")
    at: Steps = ("params",) if value.get("method") == spec.NOTE_TASK else ("result",)
    if "method" in value and at == ("result",):
        return "asks", None, at  # a pushed ask ended it
    if type(task) is not dict:
        return "result", task, at
    kind = task.get("resultType")
    if kind == spec.INPUT_REQUIRED or (asks and "inputRequests" in task):
        return "asks", _without(task, _ASKING | _task_ids(task)), at
    end: End = "task" if _task_ids(task) else "result"
    return end, _without(task, _ASKING | _task_ids(task)), at


def _task_ids(result: dict[str, Any]) -> frozenset[str]:
    """Name what stands for a task, where the result is one."""
    is_task = type(result.get("taskId")) is str and type(result.get("status")) is str
    return frozenset({"taskId"}) if is_task else frozenset()


def _entry(value: Any, key: str) -> tuple[Any, Steps]:
    """Find an ask in the message that lists it."""
    for outer in ("result", "params"):
        holder = value.get(outer) if type(value) is dict else None
        requests = holder.get("inputRequests") if type(holder) is dict else None
        if type(requests) is dict and key in requests:
            return requests[key], (outer, "inputRequests", key)
    return None, ("result", "inputRequests", key)


def _without(members: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Leave out what is never the same, in `_meta` as well; an empty `_meta` is none."""
    found = {name: value for name, value in members.items() if name not in names}
    meta = found.get("_meta")
    if type(meta) is dict and not _TOKENS.isdisjoint(meta):
        found["_meta"] = {name: value for name, value in meta.items() if name not in _TOKENS}
        if not found["_meta"]:
            del found["_meta"]
    return found
