"""From linked records to findings: builds what rules look at, and lets them look.

Runs right after the correlator on the same record, live and offline alike, so that a finding stands
beside the call it belongs to.  What the tap itself wrote is never judged, and neither is a payload
that is not whole: the record cap cut it, or it is so large that only its outline was read.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from mcp_tap.core import spec
from mcp_tap.core.facts.ask import Answer, Ask, Origin, asks_in
from mcp_tap.core.facts.flow import MODERN, Flow, band_of
from mcp_tap.core.facts.message import Message
from mcp_tap.core.facts.retry import Asking, Retry
from mcp_tap.core.facts.seen import Run
from mcp_tap.core.finding import Finding
from mcp_tap.core.linking.state import Live
from mcp_tap.core.model import Exchange
from mcp_tap.core.records import (
    AnyRecord,
    Body,
    Closed,
    Header,
    HttpRequest,
    HttpResponse,
    Noise,
    pointer,
)
from mcp_tap.core.records import Message as MessageRecord
from mcp_tap.core.wire import LARGE
from mcp_tap.rules.engine import Engine, Step

MOST_KEPT: Final = 100
"""Findings kept with one call or exchange."""
_NOTHING: Final[list[Finding]] = []
_PROCESS: Final = "stdio"


class Judge:
    """Judges one run."""

    def __init__(self) -> None:
        """Begin with nothing seen."""
        self._engine = Engine()
        self._run = Run()
        self._http = True
        self._upstream = ""
        self._endpoint: str | None = None

    def take(self, record: AnyRecord, value: Any, live: Live | None) -> list[Finding]:
        """Judge what a record adds.

        Args:
            record: that the correlator has just taken.
            value: its payload.
            live: the exchange it was about, as the correlator left it.
        """
        kind = type(record)
        if kind is MessageRecord or kind is Body:
            if live is None:
                return _NOTHING
            found = self._message(live, record, value)  # type: ignore[arg-type]
        elif kind is HttpRequest:
            found = self._request(live, record) if live is not None else _NOTHING
        elif kind is HttpResponse:
            found = self._response(live, record) if live is not None else _NOTHING
        elif kind is Closed:
            if live is None:
                return _NOTHING
            found = self._closed(live)
            _keep(live, found)
            live.flow = None
            return found
        elif kind is Header:
            self._begin(record)  # type: ignore[arg-type]
            return _NOTHING
        elif kind is Noise:
            found = self._line(record)
        else:
            return _NOTHING
        if found and live is not None:
            _keep(live, found)
        return found

    def finish(self) -> list[Finding]:
        """Judge what can be told only now that no more records come."""
        found: list[Finding] = []
        for seen in self._run.clients.values():
            flow = Flow(Exchange(number=0, t=0.0), seen, http=self._http, upstream=self._upstream)
            flow.band = seen.band
            found += self._engine.judge(flow, None, (("end", None, seen),))
        return found

    def _begin(self, header: Header) -> None:
        self._http = header.transport == "http"
        self._upstream = header.upstream
        if self._http:
            try:
                self._endpoint = urlsplit(header.upstream).path or "/"
            except ValueError:
                self._endpoint = None

    def _flow(self, live: Live) -> Flow:
        """Begin an exchange, or one whose beginning was lost."""
        flow: Flow | None = live.flow
        if flow is None:
            key = _PROCESS if not self._http else _key(live)
            seen = self._run.client(key, live.exchange.t)
            flow = Flow(live.exchange, seen, http=self._http, upstream=self._upstream)
            flow.is_endpoint = self._endpoint is None or (
                live.exchange.path.partition("?")[0] == self._endpoint
            )
            flow.credential, flow.principal = live.credential, live.principal
            live.flow = flow
        return flow

    def _request(self, live: Live, record: Any) -> list[Finding]:
        if record.method == "POST":
            # Whose it is will be known with its message.
            live.head = record
            return _NOTHING
        flow = self._flow(live)
        flow.head = record
        flow.band = self._band(live, flow)
        return self._engine.judge(flow, None, (("http", None, flow),))

    def _response(self, live: Live, record: Any) -> list[Finding]:
        flow = self._flow(live)
        if flow.head is None:
            flow.head = live.head
        flow.reply = record
        if record.sender == "tap":
            return _NOTHING
        return self._engine.judge(flow, None, (("head", None, flow),))

    def _closed(self, live: Live) -> list[Finding]:
        flow = self._flow(live)
        if flow.head is None:
            flow.head = live.head
        found = self._engine.judge(flow, None, (("closed", None, flow),))
        flow.seen.closed(flow)
        return found

    def _line(self, record: Any) -> list[Finding]:
        """Judge a line of a stdio run that is no message."""
        if self._http or record.exchange is not None:
            return _NOTHING
        seen = self._run.client(_PROCESS, record.t)
        exchange = Exchange(number=0, t=record.t)
        flow = Flow(exchange, seen, http=False, upstream=self._upstream)
        flow.band = seen.band
        message = Message(record, None, flow)
        found = self._engine.judge(flow, message, (("line", None, message),))
        seen.note("line", message)
        return found

    def _band(self, live: Live, flow: Flow) -> Any:
        version = live.exchange.version
        if version is None and not self._http:
            return flow.seen.band
        return band_of(version)

    def _message(self, live: Live, record: MessageRecord | Body, value: Any) -> list[Finding]:
        flow = self._flow(live)
        if flow.head is None:
            flow.head = live.head
        if record.sender == "tap" or record.truncated or _is_outline(record):
            return _NOTHING
        if type(record) is Body and (type(value) is not dict or not flow.is_endpoint):
            return _NOTHING
        track = live.track
        flow.call = track.call if track is not None else None
        flow.round = live.round
        message = Message(record, value, flow)
        event = message.event
        if record.sender == "client":
            flow.band = self._band(live, flow)
            if flow.sent is None:
                flow.sent = message
            if event == "request":
                if flow.request is None:
                    flow.request = message
                flow.seen.band = flow.band
        elif event in ("result", "error"):
            if message.method == spec.INITIALIZE:
                flow.band = self._band(live, flow)
                self._settle(live, flow)
            elif not self._http and flow.request is None:
                flow.band = flow.seen.band
        elif not self._http and flow.request is None:
            flow.band = flow.seen.band
        steps = self._steps(live, flow, message)
        found = self._engine.judge(flow, message, steps)
        if event in ("result", "error"):
            flow.responses += 1
            if flow.response is None:
                flow.response = message
        for step in steps:
            if step[2] is message:
                flow.seen.note(step[0], message)
        if track is not None and event == "request" and track.first is None:
            track.first = message
        return found

    def _settle(self, live: Live, flow: Flow) -> None:
        """Keep what `initialize` showed for the session it opened."""
        session_id = live.session_id or live.new_session
        key = ("session", session_id) if session_id else (None, live.user_agent, live.peer)
        self._run.clients.put(key, flow.seen, live.exchange.t)

    def _steps(self, live: Live, flow: Flow, message: Message) -> list[Step]:
        """List what there is to judge, a message's own event first."""
        event, method = message.event, message.method
        steps: list[Step] = [("message", None, message), (event, method, message)]
        if event == "request":
            params = message.params
            if "inputResponses" in params or "requestState" in params:
                steps.append(("retrying", method, message))
                self._answering(live, flow, message, steps)
        elif event == "result":
            self._asking(live, flow, message, steps)
        elif event == "server_request":
            ask = Ask(message, str(message.id), message.value, "pushed", "")
            steps.append(("ask", ask.kind, ask))
            flow.seen.session.push(ask)
        elif event == "server_notification" and method == spec.NOTE_TASK:
            requests = message.params.get("inputRequests")
            _ask(steps, asks_in(message, requests, "task", "/params/inputRequests"))
        elif event == "client_response":
            pushed = flow.seen.session.pushed(message.id)
            if pushed is not None:
                failed = message.result is None and message.error is not None
                value = message.error if failed else message.value.get("result")
                path = "/error" if failed else "/result"
                answer = Answer(message, pushed, value, path, error=failed)
                steps.append(("answer", pushed.kind, answer))
        return steps

    def _asking(self, live: Live, flow: Flow, message: Message, steps: list[Step]) -> None:
        result = message.result
        if result is None or flow.band != MODERN:
            return
        origin: Origin = "input_required"
        if result.get("resultType") == spec.INPUT_REQUIRED:
            steps.append(("input_required", message.method, message))
        elif message.method == spec.TASKS_GET and "inputRequests" in result:
            origin = "task"
        else:
            return
        asks = asks_in(message, result.get("inputRequests"), origin, "/result/inputRequests")
        _ask(steps, asks)
        track = live.track
        if track is not None and track.pending and track.pending[-1].round is live.round:
            first = track.first or message.request
            if first is not None:
                track.pending[-1].asking = Asking(message, first, {a.key: a for a in asks})

    def _answering(self, live: Live, flow: Flow, message: Message, steps: list[Step]) -> None:
        answers = message.params.get("inputResponses")
        asked: dict[str, Ask] = {}
        if message.method == spec.TASKS_UPDATE:
            asked = flow.seen.tasks.asked(message.params.get("taskId"))
        elif (
            len(live.retries) == 1
            and flow.call is not None
            and flow.round is not None
            and flow.round.link != "ambiguous"
        ):
            pending = live.retries[0]
            asking: Asking | None = pending.asking
            if asking is None:
                return
            steps.append(
                (
                    "retry",
                    message.method,
                    Retry(message, asking, flow.call, flow.round, pending.round),
                )
            )
            asked = asking.asks
        if type(answers) is not dict:
            return
        for key, value in answers.items():
            ask = asked.get(key)
            if ask is not None:
                path = "/params/inputResponses" + pointer(key)
                steps.append(("answer", ask.kind, Answer(message, ask, value, path, error=False)))


def _ask(steps: list[Step], asks: list[Ask]) -> None:
    steps.extend(("ask", ask.kind, ask) for ask in asks)


def _key(live: Live) -> Any:
    """Say whose memory an exchange adds to: a session's, else a client's."""
    if live.session_id and live.exchange.era != "stateless":
        return ("session", live.session_id)
    return live.client


def _is_outline(record: MessageRecord | Body) -> bool:
    text = record.text
    return text is not None and len(text) > LARGE // 4 and len(text.encode()) > LARGE


def _keep(live: Live, found: list[Finding]) -> None:
    """Put findings beside the call or exchange they are about."""
    flow: Flow | None = live.flow
    call = flow.call if flow is not None else None
    kept = call.findings if call is not None else live.exchange.findings
    kept.extend(found[: MOST_KEPT - len(kept)])
