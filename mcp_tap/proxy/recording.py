"""From what the data path reports to records, masked and in order.

No socket, no clock, no file: every call carries its time, every record goes to `emit` together with
the parsed value of its payload, so that nothing downstream has to parse it again.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any, TypeAlias

from mcp_tap.core.coding import CodingError
from mcp_tap.core.records import (
    HTTP_1_1,
    AnyRecord,
    Body,
    Closed,
    Decision,
    Headers,
    How,
    HttpRequest,
    HttpResponse,
    Leg,
    Mask,
    Message,
    Noise,
    Sender,
)
from mcp_tap.core.redact import Redactor
from mcp_tap.core.sse import SseBlock
from mcp_tap.core.wire import UNPARSED, carrier
from mcp_tap.net.heads import Head
from mcp_tap.proxy.tape import Tape, Way

Emit: TypeAlias = Callable[[AnyRecord, Any], None]


class Recording:
    """Makes the records of a run."""

    def __init__(self, emit: Emit, redactor: Redactor, max_body: int) -> None:
        """Give records to `emit`; keep payloads whole up to `max_body` bytes."""
        self._emit = emit
        self._redactor = redactor
        self._limit = max_body
        self.seq = 0
        self.exchanges = 0

    def next_seq(self) -> int:
        """Count one record on."""
        self.seq += 1
        return self.seq

    def request_head(self, tape: Tape, t: float) -> None:
        """Record the head of a request as the client sent it."""
        self.exchanges += 1
        tape.request.begin(tape.head, self._limit, stream=False)
        tape.seq = self._request(tape, t, tape.head, None, None)

    def upstream_request_head(self, tape: Tape, t: float, head: Head) -> None:
        """Record the head that went upstream instead, where the tap changed it."""
        self._request(tape, t, head, "upstream", tape.seq)

    def _request(
        self, tape: Tape, t: float, head: Head, leg: Leg | None, replaces: int | None
    ) -> int:
        path, masked_path = self._redactor.target(tape.target.decode("latin-1"))
        shown, masked = self._fields(head)
        seq = self.next_seq()
        self._emit(
            HttpRequest(
                seq=seq,
                t=t,
                exchange=tape.exchange,
                conn=tape.conn,
                peer=tape.peer,
                method=tape.method.decode("latin-1"),
                path=path,
                version=HTTP_1_1 if tape.version == HTTP_1_1 else tape.version,
                headers=shown,
                masked=masked_path + masked if masked_path else masked,
                leg=leg,
                replaces=replaces,
            ),
            UNPARSED,
        )
        return seq

    def response_head(  # noqa: PLR0917 (reports wait in a queue as tuples)
        self,
        tape: Tape,
        t: float,
        status: int,
        reason: bytes,
        version: str,
        head: Head,
        sender: Sender,
    ) -> None:
        """Record the head of a response."""
        if status >= 200:
            tape.response.begin(head, self._limit, stream=True)
        shown, masked = self._fields(head)
        self._emit(
            HttpResponse(
                seq=self.next_seq(),
                t=t,
                exchange=tape.exchange,
                status=status,
                reason=reason.decode("latin-1"),
                version=HTTP_1_1 if version == HTTP_1_1 else version,
                headers=shown,
                masked=masked,
                sender=sender,
            ),
            UNPARSED,
        )

    def request_data(self, tape: Tape, t: float, data: bytes) -> None:
        """Take body bytes of a request."""
        self._data(tape, tape.request, t, data)

    def response_data(self, tape: Tape, t: float, data: bytes) -> None:
        """Take body bytes of a response."""
        self._data(tape, tape.response, t, data)

    def request_end(self, tape: Tape, t: float) -> None:
        """Record the payload of a request that is complete."""
        self._end(tape, tape.request, t, "client", whole=True)

    def response_end(self, tape: Tape, t: float, sender: Sender, whole: bool) -> None:  # noqa: FBT001
        """Record the payload of a response; `whole`: it was not cut."""
        self._end(tape, tape.response, t, sender, whole=whole)

    def cut_request(self, tape: Tape, t: float) -> None:
        """Record what came of a request that was cut."""
        self._end(tape, tape.request, t, "client", whole=False)

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
        self._emit(
            Closed(
                seq=self.next_seq(),
                t=t,
                exchange=tape.exchange,
                how=how,
                why=why,
                request=tape.request.total(),
                response=tape.response.total(),
                sent=sent,
                first_byte=first_byte,
                held=held,
            ),
            UNPARSED,
        )

    def decision(self, tape: Tape, t: float, hook: str, verdict: str, why: str) -> None:
        """Record what the tap decided about an exchange."""
        self._emit(
            Decision(
                seq=self.next_seq(),
                t=t,
                exchange=tape.exchange,
                hook=hook,
                verdict=verdict,
                why=why,
            ),
            UNPARSED,
        )

    def _fields(self, head: Head) -> tuple[Headers, list[Mask]]:
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

    def _data(self, tape: Tape, way: Way, t: float, data: bytes) -> None:
        way.bytes += len(data)
        if way.digest is None:
            way.digest = sha256(data)
        else:
            way.digest.update(data)
        if way.decoder is not None:
            try:
                data = way.decoder.feed(data)
            except CodingError as error:
                self._undecodable(tape, way, t, str(error))
                return
            if way.sse is not None and way.decoder.stopped:
                self._undecodable(tape, way, t, f"one read gives more than {self._limit} bytes")
                return
        if way.sse is not None:
            for block in way.sse.feed(data):
                self._block(tape, way, t, block)
        elif way.collector is not None:
            way.collector.add(data)

    def _undecodable(self, tape: Tape, way: Way, t: float, why: str) -> None:
        self.decision(tape, t, "recorder", "undecodable", f"{way.encoding}: {why}")
        self._end(tape, way, t, "client" if way is tape.request else "server", whole=False)
        way.decoder = way.sse = way.collector = None

    def _end(self, tape: Tape, way: Way, t: float, sender: Sender, *, whole: bool) -> None:
        if way.sse is not None:
            for block in way.sse.finish():
                self._block(tape, way, t, block)
            return
        collector = way.collector
        if collector is None or not collector.size:
            return
        payload = collector.kept()
        truncated = collector.truncated
        if whole and not truncated and way.encoding is None and not self._redactor.touches_bodies:
            fields, value = carrier(payload)
            if _is_message(value):  # what nearly all payloads are, without detours
                self._emit(
                    Message(
                        seq=self.next_seq(), t=t, sender=sender, exchange=tape.exchange, **fields
                    ),
                    value,
                )
                return
        stopped = way.decoder is not None and way.decoder.stopped
        facts: dict[str, Any] = {}
        if truncated or stopped or not whole:
            facts = {"truncated": True}
            if whole and not stopped:
                facts |= {"size": collector.size, "sha256": collector.sha256()}
        self._payload(tape, way, t, sender, payload, facts)

    def _block(self, tape: Tape, way: Way, t: float, block: SseBlock) -> None:
        facts: dict[str, Any] = {"sse": block.fields}
        if block.size is not None:
            facts |= {"truncated": True, "size": block.size, "sha256": block.sha256}
        if block.kind == "cut":
            facts["truncated"] = True
        if block.kind == "comment" or not block.data:
            payload, _, masks = self._redactor.message(block.data, UNPARSED)
            fields, _ = carrier(payload)
            if "body" in fields:  # noise is never JSON, whatever it looks like
                fields = {"text": payload.decode()}
            self._emit(
                Noise(
                    seq=self.next_seq(),
                    t=t,
                    exchange=tape.exchange,
                    sender="server",
                    sse=block.fields,
                    masked=masks,
                    truncated=block.size is not None,
                    size=block.size,
                    **fields,
                ),
                UNPARSED,
            )
            return
        self._payload(tape, way, t, "server", block.data, facts, event=True)

    def _payload(  # noqa: PLR0917 (reports wait in a queue as tuples)
        self,
        tape: Tape,
        way: Way,
        t: float,
        sender: Sender,
        payload: bytes,
        facts: dict[str, Any],
        *,
        event: bool = False,
        leg: Leg | None = None,
    ) -> None:
        fields, value = carrier(payload)
        truncated = "truncated" in facts
        is_message = _is_message(value) or (
            value is UNPARSED and (event or "json" in way.content_type)
        )
        if is_message and (value is not UNPARSED or event or b'"jsonrpc"' in payload):
            masked_payload, masked_value, masks = self._redactor.message(payload, value)
        else:
            masked_payload, masked_value, masks = self._redactor.other(
                payload, value, way.content_type
            )
        if masks:
            fields, _ = carrier(masked_payload)
            value = masked_value
        common: dict[str, Any] = {
            "seq": self.next_seq(),
            "t": t,
            "exchange": tape.exchange,
            "sender": sender,
            "encoding": way.encoding,
            "leg": leg,
            "masked": masks,
        }
        record: Message | Body
        if is_message and not (truncated and "size" not in facts):
            record = Message(**common, **fields, **facts)
        else:
            record = Body(**common, **fields, **facts, content_type=way.content_type or None)
        self._emit(record, UNPARSED if truncated else value)


def _is_message(value: Any) -> bool:
    if isinstance(value, dict):
        return "jsonrpc" in value or "method" in value or "result" in value
    return isinstance(value, list)
