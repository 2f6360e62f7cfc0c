"""What clients send: requests, which are calls or further rounds of one; notifications; answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mcp_tap.core import spec
from mcp_tap.core.linking.asks import Asks, channel
from mcp_tap.core.linking.calls import Book, answer_ask
from mcp_tap.core.linking.evidence import Retry
from mcp_tap.core.linking.peek import named, peek
from mcp_tap.core.linking.rounds import Linker
from mcp_tap.core.linking.state import Change, Live, Track
from mcp_tap.core.linking.tasks import Tasks
from mcp_tap.core.linking.who import Who
from mcp_tap.core.records import Message
from mcp_tap.core.values import same_id, text_of

_NO_KEYS: frozenset[str] = frozenset()
_NOTHING: dict[str, Any] = {}


class ClientSide:
    """Takes the messages of clients."""

    def __init__(
        self,
        *,
        who: Who,
        book: Book,
        linker: Linker,
        asks: Asks,
        tasks: Tasks,
        live: dict[int, Live],
    ) -> None:
        """Work with the parts of one correlator; `live` is its table of open exchanges."""
        self._who = who
        self._book = book
        self._linker = linker
        self._asks = asks
        self._tasks = tasks
        self._live = live

    def take(self, live: Live, record: Message, value: Any) -> Sequence[Change]:
        """Take one message; a second one in the same exchange changes nothing."""
        exchange = live.exchange
        if exchange.kind != "http":
            return ()
        cut = False
        if type(value) is not dict and record.truncated:
            value, cut = self._peeked(live, record), True
        if type(value) is not dict:
            return self._broken(live, record)
        method = value.get("method")
        if type(method) is str:
            exchange.method = method
            params = value.get("params")
            if type(params) is not dict:
                params = _NOTHING
            if "id" not in value and not cut:
                return self._notification(live, record, method, params)
            return self._request(live, record, method, params, value.get("id"), cut=cut)
        if "result" in value or "error" in value:
            exchange.kind = "response"
            self._who.identify(live, None, None, record.t)
            return self._asks.answer(live, record, value)
        return self._broken(live, record)

    def _broken(self, live: Live, record: Message) -> Sequence[Change]:
        live.exchange.kind = "broken"
        self._who.identify(live, None, None, record.t)
        return (live.exchange,)

    def _peeked(self, live: Live, record: Message) -> dict[str, Any]:
        """Make a request of what a cut payload and the routing headers tell."""
        value = peek(record)
        params = value.get("params")
        known: dict[str, Any] = dict(params) if type(params) is dict else {}
        known.pop("arguments", None)  # not whole
        if "method" not in value and live.method_header is not None:
            value["method"] = live.method_header
        key = spec.NAME_PARAM.get(text_of(value.get("method")))
        if key is not None and key not in known and live.name_header is not None:
            known[key] = named(live.name_header)
        value["params"] = known
        return value

    def _request(
        self,
        live: Live,
        record: Message,
        method: str,
        params: dict[str, Any],
        request_id: Any,
        *,
        cut: bool,
    ) -> Sequence[Change]:
        exchange = live.exchange
        exchange.kind = "request"
        exchange.request_id = request_id
        version = info = None
        meta = params.get("_meta")
        if type(meta) is dict:
            version = meta.get(spec.META_VERSION)
            if type(version) is not str:
                version = None
            info = meta.get(spec.META_CLIENT)
        if method == spec.INITIALIZE:
            info = info or params.get("clientInfo")
            self._who.identify(live, version, info, record.t)
            if exchange.era == "unknown":
                exchange.era = "session"
                offered = params.get("protocolVersion")
                exchange.version = offered if type(offered) is str else None
        else:
            self._who.identify(live, version, info, record.t)
        if method in spec.TASK_METHODS:
            changes = self._tasks.request(live, method, params, record)
            if changes is not None:
                return changes
        elif exchange.era != "session":
            sent, answers = params.get("requestState"), params.get("inputResponses")
            if sent is not None or answers:
                return self._retry(live, record, method, params)
        track = self._book.open(live, method, self._name(method, params), record.t)
        round_ = self._book.begin(track, live, record, params)
        if cut:
            round_.arguments = None
        return (track.call,)

    def _retry(
        self, live: Live, record: Message, method: str, params: dict[str, Any]
    ) -> Sequence[Change]:
        sent, answers = params.get("requestState"), params.get("inputResponses")
        state = None if sent is None else text_of(sent)
        name = self._name(method, params)
        found = self._linker.find(
            Retry(
                (live.client, method, name),
                state,
                frozenset(answers) if type(answers) is dict else _NO_KEYS,
                params.get("arguments"),
                live.principal,
            )
        )
        pending = found.pending
        if pending is None:
            track = self._book.open(live, method, name, record.t)
            # Where nothing can be asked, these members mean nothing.
            track.unlinked = method in spec.MAY_ASK or found.link == "ambiguous"
        else:
            track = pending.track
            if record.sender == "tap":
                self._book.bide(track, record.t)
            self._book.reopen(track, record.t)
        round_ = self._book.begin(track, live, record, params)
        round_.sent_state = state
        round_.answers = answers
        round_.link = found.link
        if found.among:
            round_.candidates = found.candidates
            if found.vague:
                return (track.call,)
            live.retries = found.among
            answered = self._linker.claim(found.among, track.call.number)
            return (track.call, *self._book.let_go(answered, record.t))
        if pending is not None:
            live.retries = [pending]
            round_.answers_round = pending.round.number
            self._linker.answer(pending, state)
            if type(answers) is dict:
                for ask in pending.round.asks:
                    if ask.key in answers:
                        answer_ask(ask, answers[ask.key], record)
        return (track.call,)

    def _name(self, method: str, params: dict[str, Any]) -> str | None:
        key = spec.NAME_PARAM.get(method)
        name = params.get(key) if key is not None else None
        return name if type(name) is str else None

    def _notification(
        self, live: Live, record: Message, method: str, params: dict[str, Any]
    ) -> Sequence[Change]:
        exchange = live.exchange
        exchange.kind = "notification"
        self._who.identify(live, None, None, record.t)
        if method == spec.NOTE_CANCELLED and "requestId" in params:
            track = self._to_cancel(live, params["requestId"])
            if track is not None:
                self._book.join(track, live)
                reason = params.get("reason")
                self._book.give_up(track, record.t, reason if type(reason) is str else None)
                return (track.call,)
        return (exchange,)

    def _to_cancel(self, live: Live, request_id: Any) -> Track | None:
        """Find the one call in progress of this client that a request id names."""
        if live.session is not None:
            return live.session.active.only(request_id)
        here = channel(live)
        found = [
            other.track
            for other in self._live.values()
            if other.track is not None
            and not other.exchange.answered
            and other.exchange.kind == "request"
            and channel(other) == here
            and same_id(other.exchange.request_id, request_id)
            and other.track.call.end is None
        ]
        return found[0] if len(found) == 1 else None
