"""From linked records to findings: builds what rules look at, and lets them look.

Runs right after the correlator on the same record, live and offline alike, so that a finding stands
beside the call it belongs to.  What the tap itself wrote is never judged, and neither is a payload
that is not whole: the record cap cut it, or it is so large that only its outline was read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from mcp_tap.core import spec
from mcp_tap.core.facts.flow import MODERN, Band, Flow, band_of
from mcp_tap.core.facts.message import Message, speaks
from mcp_tap.core.facts.plain import is_flat
from mcp_tap.core.facts.seen import Run
from mcp_tap.core.facts.steady import Rest
from mcp_tap.core.finding import Finding
from mcp_tap.core.linking.state import Live
from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.records import (
    Body,
    Closed,
    Decision,
    Gap,
    Header,
    HttpRequest,
    HttpResponse,
    Noise,
)
from mcp_tap.core.records import Message as MessageRecord
from mcp_tap.pipeline.sparing import Sparing
from mcp_tap.pipeline.steps import (
    client_key,
    endpoint_of,
    is_meant,
    is_numbered,
    is_outline,
    steps_of,
    subject_of,
)
from mcp_tap.rules.engine import Engine, silent

MOST_KEPT: Final = 100
"""Findings kept with one call or exchange."""
_NOTHING: Final[list[Finding]] = []
_PROCESS: Final = "stdio"
_RESPONSES: Final = frozenset({"result", "error"})


Sift: TypeAlias = Callable[[Finding, Call | Exchange | None], Finding | None]
"""Says of a finding, and the call or exchange it is about, as what it counts; None: it does not."""


class Judge:
    """Judges one run."""

    def __init__(self, sift: Sift | None = None, *, steady: bool = True) -> None:
        """Begin with nothing seen.

        Args:
            sift: decides which findings count, as they are found; None: all do.
            steady: spare steady rules the messages in which they would find nothing; what is found
                is the same without, and takes longer.
        """
        self._sift = sift
        self._engine = Engine()
        self._run = Run()
        self._sparing = Sparing(self._engine, self._run, on=steady)
        self._http = True
        self._upstream = ""
        self._endpoint: str | None = None
        self.handlers: dict[type, Callable[[Any, Any, Any], list[Finding]]] = {
            MessageRecord: self._message,
            HttpRequest: self._request,
            HttpResponse: self._response,
            Closed: self._closed,
            Body: self._body,
            Noise: self._line,
            Header: self._begin,
            Gap: self._gap,
            Decision: self._decision,
        }
        """Who judges what a record adds, by its kind, once the correlator has taken it.

        They take the exchange it was about, as the correlator left it, the record, and its payload.
        What they find, `keep` has to be told.
        """

    def finish(self) -> list[Finding]:
        """Judge what can be told only now that no more records come."""
        found: list[Finding] = []
        for seen in self._run.clients.values():
            flow = Flow(Exchange(number=0, t=0.0), seen, http=self._http, upstream=self._upstream)
            flow.band = seen.band
            found += self._engine.judge(flow, None, (("end", None, seen),))
        return self.keep(None, found)

    def keep(self, live: Live | None, found: list[Finding]) -> list[Finding]:
        """Sift findings, and put those that count beside the call or exchange they are about."""
        subject = None if live is None else subject_of(live)
        if self._sift is not None:
            sifted = [self._sift(finding, subject) for finding in found]
            found = [finding for finding in sifted if finding is not None]
        if subject is not None:
            subject.findings.extend(found[: MOST_KEPT - len(subject.findings)])
        if live is not None and live.flow is not None and live.flow.closed is not None:
            live.flow = None
        return found

    def _begin(self, _: Live | None, header: Header, __: Any) -> list[Finding]:
        self._http = header.transport == "http"
        self._upstream = header.upstream
        if self._http:
            self._endpoint = endpoint_of(header)
        return _NOTHING

    def _flow(self, live: Live) -> Flow:
        """Give what is known of an exchange; begins it, also where its own beginning was lost."""
        if live.flow is not None:
            return live.flow
        exchange = live.exchange
        key = _PROCESS if not self._http else client_key(live) if live.session_id else live.client
        seen = self._run.clients.get(key) or self._run.client(key, exchange.t)
        if exchange.method == spec.INITIALIZE and self._http and seen.session.begun:
            # Another session of the same client: what was settled in the first is not its own.
            self._run.clients.pop(key)
            seen = self._run.client(key, exchange.t)
        path = exchange.path
        if path != self._endpoint:
            path = path.partition("?")[0]
        live.flow = flow = Flow(
            exchange,
            seen,
            http=self._http,
            upstream=self._upstream,
            credential=live.credential,
            principal=live.principal,
            # Without its head, which may be lost, a path is not known.
            is_endpoint=not path or self._endpoint in (None, path),
            head=live.head,
        )
        live.head = None
        return flow

    def _request(self, live: Live | None, record: HttpRequest, _: Any) -> list[Finding]:
        if live is None:
            return _NOTHING
        if record.method == "POST":
            # Whose it is will be known with its message.
            live.head = record
            return _NOTHING
        flow = self._flow(live)
        flow.head = record
        band = flow.band = self._band(live, flow)
        if not flow.is_endpoint and band == "ambiguous":
            flow.band = self._run.band  # nobody declares one where no message is sent
        found = self._engine.judge(flow, None, (("http", None, flow),))
        flow.band = band
        return found

    def _response(self, live: Live | None, record: HttpResponse, _: Any) -> list[Finding]:
        if live is None:
            return _NOTHING
        flow = live.flow or self._flow(live)
        flow.reply = record
        if record.sender == "tap" or flow.spent:
            return _NOTHING
        if flow.known is not None and self._sparing.head(flow):
            return _NOTHING
        found = self._engine.judge(flow, None, (("head", None, flow),))
        if found and self._engine.restless:
            flow.known = None
        return found

    def _closed(self, live: Live | None, record: Closed, _: Any) -> list[Finding]:
        if live is None:
            return _NOTHING
        flow = live.flow or self._flow(live)
        held = self._run.held
        held.over(flow)
        flow.closed = record
        found = _NOTHING
        if not (live.exchange.from_tap or flow.spent or self._sparing.end(flow)):
            found = self._engine.judge(flow, None, (("closed", None, flow),))
        flow.seen.closed(flow, known=flow.settled)
        flow.release()
        if not found:
            live.flow = None  # else `keep` has to know of which call it was
        if held.bytes > held.most:
            held.settle()
        return found

    def _gap(self, _: Live | None, record: Gap, __: Any) -> list[Finding]:
        if record.lost:
            self._run.whole = False
        return self._engine.judge(self._nowhere(record), None, (("gap", None, record),))

    def _decision(self, live: Live | None, record: Decision, _: Any) -> list[Finding]:
        flow = self._flow(live) if live is not None else self._nowhere(record)
        return self._engine.judge(flow, None, (("decision", None, record),))

    def _nowhere(self, record: Gap | Decision) -> Flow:
        """Make do where something belongs to no exchange."""
        exchange = Exchange(number=0, t=record.t, request_seq=record.seq)
        seen = self._run.client(None, record.t)
        return Flow(exchange, seen, http=self._http, upstream=self._upstream)

    def _line(self, live: Live | None, record: Noise, _: Any) -> list[Finding]:
        """Judge a line of a stdio run that is no message."""
        if self._http or record.exchange is not None:
            if live is not None and is_numbered(record.sse):
                self._flow(live).event_fields = True
            return _NOTHING
        seen = self._run.client(_PROCESS, record.t)
        exchange = Exchange(number=0, t=record.t)
        flow = Flow(exchange, seen, http=False, upstream=self._upstream)
        flow.band = seen.band
        message = Message(record, None, flow)
        found = self._engine.judge(flow, message, (("line", None, message),))
        seen.note("line", message)
        return found

    def _band(self, live: Live, flow: Flow) -> Band:
        version = live.exchange.version
        return flow.seen.band if version is None and not self._http else band_of(version)

    def _body(self, live: Live | None, record: Body, value: Any) -> list[Finding]:
        """Judge what stands where a message must be, and is none."""
        if live is None:
            return _NOTHING
        flow = live.flow or self._flow(live)
        if is_meant(record, value, flow):
            return self._message(live, record, value)
        if record.sender == "server" and not flow.is_endpoint:
            self._run.links.learn(live.exchange.path, value)
        return _NOTHING

    def _message(
        self, live: Live | None, record: MessageRecord | Body, value: Any
    ) -> list[Finding]:
        if live is None:
            return _NOTHING
        flow = live.flow or self._flow(live)
        sender = record.sender
        if (
            sender == "tap"
            or record.replaces is not None
            or not flow.is_endpoint
            or record.truncated
            or record.text is not None
        ) and (found := self._odd(flow, record, value)) is not None:
            return found
        message = Message(record, value, flow)
        track = live.track
        flow.call = track.call if track is not None else None
        flow.round = live.round
        if sender != "server":
            self._sent(live, flow, message)
        elif record.sse is not None or message.request is None or message.method == spec.INITIALIZE:
            self._received(live, flow, message)
        rest = None if flow.spent else self._sparing.rest(flow, message)
        if rest is None:
            found = self._in_full(live, flow, message)
        else:
            found = self._in_part(live, flow, message, rest)
        held = self._run.held
        if message is flow.sent or message is flow.response:
            held.weigh(flow, message)
        if track is not None and track.first is None and message.event == "request":
            track.first = message
        if held.bytes > held.most:
            held.settle()
        return found

    def _odd(self, flow: Flow, record: MessageRecord | Body, value: Any) -> list[Finding] | None:
        """Deal with a message that is not to be judged; None for one that is."""
        if record.replaces is not None or (record.sender == "tap" and record.leg != "upstream"):
            flow.went_instead(record, value)
            return _NOTHING
        if not (flow.is_endpoint or speaks(value)):
            return _NOTHING
        if record.truncated or is_outline(record):
            self._run.whole = self._run.whole and self._http
            return self._engine.judge(flow, None, (("cut", None, record),))
        return None

    def _in_full(self, live: Live, flow: Flow, message: Message) -> list[Finding]:
        """Let everybody look at a message."""
        steps = steps_of(live, flow, message)
        found = _NOTHING
        if not flow.spent:
            found = self._engine.judge(flow, message, steps)
            self._sparing.learn(flow, message)
        if message.event in _RESPONSES:
            flow.responses += 1
            if flow.response is None and not flow.spent:
                flow.response = message
        note = flow.seen.note
        for event, _, subject in steps:
            if subject is message:
                note(event, message)
        return found

    def _in_part(self, live: Live, flow: Flow, message: Message, rest: Rest) -> list[Finding]:
        """Spare steady rules a message that is equal to one before."""
        found = _NOTHING
        request, result = message.request, message.result
        judges = rest.of_flat if result is not None and is_flat(result) else rest.judges
        if (request is not None and request.fired) or not silent(judges, message):
            steps = steps_of(live, flow, message)
            found = self._engine.judge(flow, message, steps, known=True)
        if result is not None:
            flow.responses += 1
            flow.response = message
        for note in rest.notes:
            note(message)
        return found

    def _sent(self, live: Live, flow: Flow, message: Message) -> None:
        """Learn from a client's message which rules hold for its exchange."""
        is_modern = live.exchange.version == MODERN
        band = flow.band = MODERN if is_modern else self._band(live, flow)
        if not flow.spent:
            flow.sent = flow.sent or message
        if message.event == "request":
            if flow.request is None and not flow.spent:
                flow.request = message
            flow.seen.band = self._run.band = band

    def _received(self, live: Live, flow: Flow, message: Message) -> None:
        """Learn the same from a server's message, where the client's said nothing of it."""
        if is_numbered(message.record.sse):
            flow.event_fields = True
        if flow.spent and message.event in _RESPONSES:
            message.method = live.exchange.method
        if message.method == spec.INITIALIZE and message.event in _RESPONSES:
            flow.band = flow.seen.band = self._band(live, flow)
            self._settle(live, flow)
        elif not (self._http or flow.spent) and flow.request is None:
            flow.band = flow.seen.band

    def _settle(self, live: Live, flow: Flow) -> None:
        """Keep what `initialize` showed for the session it opened."""
        session_id = live.session_id or live.new_session
        key = ("session", session_id) if session_id else (None, live.user_agent, live.peer)
        self._run.clients.put(key, flow.seen, live.exchange.t)
