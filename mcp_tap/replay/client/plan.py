"""What is sent again: the calls of a capture, in order, each whole, and why some of them are not.

Rules of this file:

- A call is its request and all that goes on with it.  Retries that linking could not tell apart go
  on with one of the calls they may belong to: that one's client sent them, or one equal to it.
- What a person masked cannot be sent: neither arguments nor answers.
- A lane is one client to one server: a session, all that is stateless, or a server's own process.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from mcp_tap.answers.fill import has_mask
from mcp_tap.core import spec
from mcp_tap.core.fields import header
from mcp_tap.core.model import Era
from mcp_tap.core.records import HttpRequest, Message
from mcp_tap.replay.client.bodies import INITIALIZED, Push, pushes_of
from mcp_tap.replay.compare.reading import value_said
from mcp_tap.replay.index import Index
from mcp_tap.replay.keys import params_of
from mcp_tap.replay.recorded import RecordedCall, RecordedExchange, RecordedRound
from mcp_tap.replay.saying import run_of

SESSION: Final = "session"
STATELESS: Final = "stateless"
Why: TypeAlias = Literal["masked", "cut", "orphan", "task", "writes", "gone"]
"""Why something is not sent: values are masked; it is not whole in the capture; what it goes on
with is not in it; it is about a task of the recorded server; it may change things; the server is
not there any more."""


class Lane(Struct, kw_only=True, eq=False):
    """One client of the recording."""

    name: str
    era: Era = "unknown"
    opened: RecordedExchange | None = None
    """Notification that ended the beginning of its session."""
    opens: bool = False
    """It began its session in the capture."""
    listens: bool = False
    """It listened to its session's own stream."""
    streamed: int = 0
    """Messages that came on that."""
    pushes: list[Push] = field(default_factory=list)
    """What the server asked in requests of its own, in order."""
    meta: dict[str, Any] | None = None
    """`_meta` that a stateless request of it had."""
    authorised: bool = False
    """It sent credentials."""


class Item(Struct, kw_only=True, eq=False):
    """One call to be made, or one notification to be sent."""

    lane: Lane
    call: RecordedCall | None = None
    """The call, with all rounds that go on with it; None for a notification."""
    note: RecordedExchange | None = None
    t: float = 0.0
    until: float | None = None
    """When the recording had what others may have waited for: its end, or of a stream its first
    message.  None: never."""
    end: float | None = None
    heard: int = 0
    """Messages that came on it; of streams."""
    wanted: bool = True
    """It is compared; what only opens a session for others is not."""
    cannot: Why | None = None
    why: str = ""
    """The same in words."""


class Plan:
    """Everything that would be sent."""

    def __init__(self, index: Index, wanted: Collection[int] | None, *, answered: bool) -> None:
        """Read it off the one capture of an index.

        Args:
            index: holds the capture.
            wanted: numbers of the calls to make; None: all.
            answered: a script may answer where the capture cannot.
        """
        self._index = index
        self._answered = answered
        self.capture = index.captures[0]
        self.whole = wanted is None
        """Nothing of the capture was left out on purpose."""
        self.lanes: dict[str, Lane] = {}
        self.items: list[Item] = []
        self.tools: Mapping[str, Any] = run_of(index, 0).tools or {}
        """Definitions of tools, as they were listed."""
        self._read_lanes()
        calls = [c for c in index.calls if not c.rounds[0].by_tap]
        for call in _joined(calls):
            taken = wanted is None or call.number in wanted
            if taken or call.method == spec.INITIALIZE:
                self.items.append(self._item(call, wanted=taken))
        used = {item.lane.name for item in self.items if item.wanted}
        self.items = [item for item in self.items if item.lane.name in used]
        if wanted is None:
            self.items += self._notes()
        self.items.sort(key=lambda item: item.t)

    @property
    def calls(self) -> list[Item]:
        """The calls that are compared."""
        return [item for item in self.items if item.wanted and item.call is not None]

    def lane_of(self, exchange: RecordedExchange) -> Lane:
        """Give the lane an exchange is in."""
        if self.capture.header.transport == "stdio":
            name = "stdio"
        elif exchange.session is not None:
            name = exchange.session
        else:
            name = STATELESS if exchange.era == "stateless" else SESSION
        lane = self.lanes.get(name)
        if lane is None:
            lane = self.lanes[name] = Lane(name=name)
        return lane

    def _read_lanes(self) -> None:
        stdio = self.capture.header.transport == "stdio"
        for exchange in self.capture.exchanges.values():
            lane = self.lane_of(exchange)
            if exchange.era != "unknown" and lane.era != SESSION:
                lane.era = exchange.era
            if exchange.method == spec.INITIALIZE:
                lane.opens, lane.listens = True, stdio
                lane.era = "session"
            elif exchange.method == INITIALIZED:
                lane.opened = exchange
            if exchange.era == "stateless" and lane.meta is not None and not stdio:
                continue  # nothing is pushed there, and who it is has been seen
            records = self._index.messages(exchange, "upstream")
            if exchange.verb == "GET" and exchange.kind == "http":
                lane.listens = True
                lane.streamed += sum(_is_heard(record) for record in records)
            lane.authorised = lane.authorised or any(map(_is_authorised, records))
            lane.pushes += pushes_of(exchange, records)
            if lane.meta is None and exchange.era == "stateless" and exchange.kind == "request":
                lane.meta = _meta(records)
        self._answer()

    def _answer(self) -> None:
        """Find what clients answered to what they were asked in requests."""
        waiting: dict[tuple[str, str], list[Push]] = {}
        for lane in self.lanes.values():
            for push in lane.pushes:
                waiting.setdefault((lane.name, repr(push.id)), []).append(push)
        for exchange in self.capture.exchanges.values() if waiting else ():
            if exchange.kind != "response":
                continue
            name = self.lane_of(exchange).name
            for record in self._index.messages(exchange, "upstream"):
                if type(record) is not Message or record.sender == "server":
                    continue
                value = value_said(record)
                if type(value) is dict and "method" not in value:
                    found = waiting.get((name, repr(value.get("id"))))
                    if found:
                        found.pop(0).answer = value

    def _item(self, call: RecordedCall, *, wanted: bool) -> Item:
        exchange = call.rounds[0].exchange
        item = Item(
            lane=self.lane_of(exchange),
            call=call,
            t=call.t,
            until=call.end,
            end=call.end,
            wanted=wanted,
        )
        if call.kind == "stream":
            records = self._index.messages(exchange, "upstream")
            times = [record.t for record in records if _is_heard(record)]
            item.until, item.heard = (times[0] if times else call.t), len(times)
            item.end = exchange.end
        cannot = self._cannot(call)
        if cannot is not None:
            item.cannot, item.why = cannot
        return item

    def _cannot(self, call: RecordedCall) -> tuple[Why, str] | None:
        first = call.rounds[0]
        if call.method in spec.TASK_METHODS:
            return "task", "it is about a task that only the recorded server has"
        for round_ in requests_of(call):
            value = self._index.value(call.capture, round_.request_seq)
            if type(value) is not dict:
                return "cut", "its request is not whole in the capture"
            params = {k: v for k, v in params_of(value).items() if k != "_meta"}
            if self._answered:
                params.pop("inputResponses", None)
            if has_mask(params):
                return "masked", "values it would send are masked in the capture"
        if first.link == "ambiguous":
            return "orphan", "nothing tells which call it goes on with"
        if not self._answered and any(
            has_mask(answer)
            for round_ in call.rounds
            for answer in self._index.answers(call, round_).values()
        ):
            return "masked", "answers it would give are masked in the capture"
        return None

    def _notes(self) -> Iterable[Item]:
        """Go through the notifications that say something by themselves."""
        for exchange in self.capture.exchanges.values():
            if exchange.kind != "notification" or exchange.by_tap:
                continue
            if exchange.method in (INITIALIZED, spec.NOTE_CANCELLED, spec.NOTE_PROGRESS):
                continue  # they are sent with what they are about
            lane = self.lane_of(exchange)
            yield Item(lane=lane, note=exchange, t=exchange.t, until=exchange.end, end=exchange.end)


def requests_of(call: RecordedCall) -> list[RecordedRound]:
    """Give the rounds that began with a request of the call's own: not with an answer to an ask."""
    seen: set[int] = set()
    found = []
    for round_ in call.rounds:
        exchange = round_.exchange
        if exchange.number not in seen and exchange.method == call.method:
            found.append(round_)
        seen.add(exchange.number)
    return found


def _joined(calls: list[RecordedCall]) -> list[RecordedCall]:
    """Let retries that may belong to several calls go on with one each."""
    known: dict[int, RecordedCall] = {}
    going: dict[int, int] = {}
    """Number of a retry -> number of the call it goes on with."""
    taken: set[int] = set()
    for call in calls:
        candidates = call.rounds[0].candidates
        before = next((n for n in candidates if n in known and n not in taken), None)
        if before is None:
            known[call.number] = call
            continue
        taken.add(before)
        known[call.number] = call
        going[call.number] = before
    parts: dict[int, list[RecordedCall]] = {}
    for call in calls:
        number = call.number
        while number in going:
            number = going[number]
        parts.setdefault(number, []).append(call)
    return [merged(of) for of in parts.values()]


def merged(parts: Sequence[RecordedCall]) -> RecordedCall:
    """Make one call of those it was taken apart to."""
    first, last = parts[0], parts[-1]
    if first is last:
        return first
    return replace(
        first,
        rounds=tuple(_answered(parts)),
        others=tuple(number for part in parts for number in part.others),
        outcome=last.outcome,
        end=last.end,
    )


def _answered(parts: Sequence[RecordedCall]) -> Iterator[RecordedRound]:
    """Give the rounds of all parts; what the last one of a part asked, the next part answers."""
    for part, following in zip(parts, [*parts[1:], None], strict=True):
        yield from part.rounds[:-1]
        last = part.rounds[-1]
        if following is None:
            yield last
        else:
            seq = following.rounds[0].request_seq
            asks = {
                key: ask if ask.answer_seq is not None else replace(ask, answer_seq=seq)
                for key, ask in last.asks.items()
            }
            yield replace(last, asks=asks)


def _is_heard(record: object) -> bool:
    return type(record) is Message and record.sender == "server"


def _is_authorised(record: object) -> bool:
    return isinstance(record, HttpRequest) and header(record.headers, "authorization") is not None


def _meta(records: Iterable[object]) -> dict[str, Any] | None:
    for record in records:
        value = value_said(record) if type(record) is Message else None
        meta = params_of(value).get("_meta") if type(value) is dict else None
        if type(meta) is dict and spec.META_VERSION in meta:
            return {name: meta[name] for name in meta if name != "progressToken"}
    return None
