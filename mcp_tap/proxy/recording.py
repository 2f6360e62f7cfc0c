"""From what the data path reports to records, masked and in order.

No socket, no clock, no file: every call carries its time, every record goes to `emit` together with
the parsed value of its payload, so that nothing downstream has to parse it again.
"""

from __future__ import annotations

from operator import length_hint
from typing import Any, Final

from mcp_tap.core.lines import Line
from mcp_tap.core.records import (
    HTTP_1_1,
    Closed,
    Decision,
    Headers,
    How,
    HttpRequest,
    HttpResponse,
    Leg,
    Mask,
    Sender,
)
from mcp_tap.core.redact import Redactor
from mcp_tap.core.wire import UNPARSED
from mcp_tap.net.heads import AnyHead, Head, RequestLine, StatusLine
from mcp_tap.proxy.payloads import Emit, Payloads
from mcp_tap.proxy.stdio.recording import stderr_record
from mcp_tap.proxy.tape import Tape

_MOST: Final = 1 << 62
"""Records of a run: more than can be."""


class Recording:
    """Makes the records of a run."""

    def __init__(self, emit: Emit, redactor: Redactor, max_body: int) -> None:
        """Give records to `emit`; keep payloads whole up to `max_body` bytes."""
        self.emit = emit
        self._redactor = redactor
        self._seqs = iter(range(1, _MOST))
        self.next_seq = self._seqs.__next__
        """Counts one record on."""
        self.payloads = Payloads(emit, redactor, max_body, self.next_seq)
        self.exchanges = 0

    @property
    def seq(self) -> int:
        """Number of the newest record."""
        return _MOST - 1 - length_hint(self._seqs)

    def stderr(self, t: float, line: bytes) -> None:
        """Record a line of the server's stderr."""
        record = stderr_record(self._redactor, self.next_seq(), t, Line(line))
        self.emit((record, UNPARSED))

    def request_head(self, tape: Tape, t: float) -> None:
        """Record the head of a request as the client sent it."""
        self.exchanges += 1
        tape.request = self.payloads.begin(tape.head, stream=False)
        tape.seq = self.request_line(tape, t, tape.head, None, None)

    def upstream_request_head(self, tape: Tape, t: float, head: Head[RequestLine]) -> None:
        """Record the head that went upstream instead, where the tap changed it."""
        self.request_line(tape, t, head, "upstream", tape.seq)

    def request_line(
        self, tape: Tape, t: float, head: Head[RequestLine], leg: Leg | None, replaces: int | None
    ) -> int:
        """Record the head of a request; give the record's number."""
        method, target, version = head.line
        path, masked_path = self._redactor.target(target.decode("latin-1"))
        shown, masked = self._fields(head)
        seq = self.next_seq()
        record = HttpRequest(
            seq=seq,
            t=t,
            exchange=tape.exchange,
            conn=tape.conn,
            peer=tape.peer,
            method=method.decode("latin-1"),
            path=path,
            version=HTTP_1_1 if version == HTTP_1_1 else version,
            headers=shown,
            masked=masked_path + masked if masked_path else masked,
            leg=leg,
            replaces=replaces,
        )
        self.emit((record, UNPARSED))
        return seq

    def response_head(self, tape: Tape, t: float, head: Head[StatusLine], sender: Sender) -> None:
        """Record the head of a response."""
        if head.line.status >= 200:
            tape.response = self.payloads.begin(head, stream=True)
        self.status_line(tape, t, head, sender)

    def status_line(self, tape: Tape, t: float, head: Head[StatusLine], sender: Sender) -> None:
        """Record the head of a response, and nothing of its body."""
        status, reason, version = head.line
        shown, masked = self._fields(head)
        seq = tape.reply_seq = self.next_seq()
        record = HttpResponse(
            seq=seq,
            t=t,
            exchange=tape.exchange,
            status=status,
            reason=reason.decode("latin-1"),
            version=HTTP_1_1 if version == HTTP_1_1 else version,
            headers=shown,
            masked=masked,
            sender=sender,
            leg=tape.leg,
            replaces=tape.replaces,
        )
        self.emit((record, UNPARSED))

    def request(self, tape: Tape, t: float, body: bytes) -> None:
        """Record a request that came in one piece."""
        self.exchanges += 1
        tape.seq = self.request_line(tape, t, tape.head, None, None)
        tape.sent = self.payloads.whole(tape, t, "client", tape.head, body, tape.value)
        tape.value = UNPARSED
        if tape.goes is not None:
            self.edited(tape, t, *tape.goes)
            tape.goes = None

    def edited(self, tape: Tape, t: float, body: bytes, shown: Any = None) -> None:
        """Record a request as it went upstream; `shown`: what of it anybody looks at."""
        if shown is not None and self.payloads.instead(tape, t, body, shown):
            return
        tape.leg, tape.replaces = "upstream", tape.heard
        self.payloads.whole(tape, t, "tap", tape.head, body)
        tape.leg = tape.replaces = None

    def response(  # noqa: PLR0917 (reports wait in a queue as tuples)
        self,
        tape: Tape,
        t: float,
        head: Head[StatusLine],
        body: bytes,
        sent: float | None,
        held: float,
    ) -> None:
        """Record a response that came in one piece, and with it the exchange's end."""
        self.status_line(tape, t, head, "server")
        tape.received = self.payloads.whole(tape, t, "server", head, body)
        self.closed(tape, t, "complete", None, sent, t, held)

    def request_data(self, tape: Tape, t: float, data: bytes) -> None:
        """Take body bytes of a request."""
        if tape.request is not None:
            self.payloads.data(tape, tape.request, t, data)

    def response_data(self, tape: Tape, t: float, *pieces: bytes) -> None:
        """Take body bytes of a response, in the pieces in which they came."""
        if tape.response is not None:
            self.payloads.read(tape, tape.response, t, pieces)

    def request_end(self, tape: Tape, t: float) -> None:
        """Record the payload of a request that is complete."""
        self._request_ends(tape, t, whole=True)

    def cut_request(self, tape: Tape, t: float) -> None:
        """Record what came of a request that was cut."""
        self._request_ends(tape, t, whole=False)

    def response_end(self, tape: Tape, t: float, sender: Sender, whole: bool) -> None:  # noqa: FBT001
        """Record the payload of a response; `whole`: it was not cut."""
        if tape.response is not None:
            self.payloads.end(tape, tape.response, t, sender, whole=whole)
            tape.received = tape.response.total()

    def _request_ends(self, tape: Tape, t: float, *, whole: bool) -> None:
        if tape.request is not None:
            self.payloads.end(tape, tape.request, t, "client", whole=whole)
            tape.sent = tape.request.total()

    def closed(  # noqa: PLR0917 (reports wait in a queue as tuples)
        self,
        tape: Tape,
        t: float,
        how: How,
        why: str | None,
        sent: float | None,
        first_byte: float | None,
        held: float,
    ) -> None:
        """Record how an exchange ended."""
        record = Closed(
            seq=self.next_seq(),
            t=t,
            exchange=tape.exchange,
            how=how,
            why=why,
            request=tape.sent,
            response=tape.received,
            sent=sent,
            first_byte=first_byte,
            held=held,
        )
        self.emit((record, UNPARSED))

    def decision(  # noqa: PLR0917 (reports wait in a queue as tuples)
        self,
        tape: Tape,
        t: float,
        hook: str,
        verdict: str,
        why: str,
        entry: str | None = None,
        key: str | None = None,
    ) -> None:
        """Record what the tap decided about an exchange, or about an ask in it."""
        record = Decision(
            seq=self.next_seq(),
            t=t,
            exchange=tape.exchange,
            hook=hook,
            verdict=verdict,
            why=why,
            entry=entry,
            key=key,
        )
        self.emit((record, UNPARSED))

    def _fields(self, head: AnyHead) -> tuple[Headers, list[Mask]]:
        """Mask the fields of a head; a block that was seen before is not looked at again."""
        fields = head.fields
        if fields.shown is None:
            fields.shown = self._redactor.headers(head.headers)
        shown, masked = fields.shown
        at = fields.length_at
        if at is not None and head.length is not None:
            shown = shown.copy()
            shown[at] = (shown[at][0], head.length.decode("latin-1"))
        return shown, masked
