"""Payload bytes of an exchange, as they come, turned into records: whole, in blocks, or cut."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any, TypeAlias

from msgspec import Raw

from mcp_tap.core.coding import CodingError
from mcp_tap.core.records import (
    AnyRecord,
    Body,
    Decision,
    Digest,
    Mask,
    Message,
    Noise,
    Sender,
    Sse,
)
from mcp_tap.core.redact import Redactor
from mcp_tap.core.redact_records import masked_fields, masked_payload
from mcp_tap.core.sse import SseBlock
from mcp_tap.core.wire import (
    LARGE,
    UNPARSED,
    carrier,
    dumps,
    spliced,
    spliced_line,
    whole_value,
)
from mcp_tap.net.heads import AnyHead
from mcp_tap.proxy.tape import Tape, Way

Emit: TypeAlias = Callable[[tuple[AnyRecord, Any]], None]
"""Takes a record with the parsed value of its payload, so that nobody has to parse it again."""


class Payloads:
    """Makes the records of what is in the bodies."""

    def __init__(
        self, emit: Emit, redactor: Redactor, limit: int, next_seq: Callable[[], int]
    ) -> None:
        """Give records to `emit`; keep payloads whole up to `limit` bytes."""
        self._emit = emit
        self._redactor = redactor
        self._limit = limit
        self._next_seq = next_seq

    def begin(self, head: AnyHead, *, stream: bool) -> Way:
        """Begin one direction of an exchange; `stream`: it may be an event stream."""
        return Way(head, self._limit, stream=stream)

    def whole(  # noqa: PLR0917 (reports wait in a queue as tuples)
        self,
        tape: Tape,
        t: float,
        sender: Sender,
        head: AnyHead,
        payload: bytes,
        value: Any = UNPARSED,
    ) -> Digest:
        """Record a payload that came in one piece, the short way where nothing is special.

        Args:
            tape: of the exchange.
            t: when.
            sender: whose it is.
            head: of its message.
            payload: as it came.
            value: it parsed, where `spliced()` has done that already.
        """
        if not payload:
            return Digest(bytes=0, sha256=_EMPTY)
        fields = head.fields
        plain = (
            fields.encoding is None
            and not self._redactor.touches_bodies
            and len(payload) <= self._limit
            and not tape.secrets
            and not fields.content_type.startswith("text/event-stream")
        )
        if plain and self.message(tape, t, sender, payload, value or spliced(payload)):
            return Digest(bytes=len(payload), sha256=sha256(payload).hexdigest())
        way = self.begin(head, stream=sender == "server")
        if plain:
            self._payload(tape, way, t, sender, payload, {})
            return Digest(bytes=len(payload), sha256=sha256(payload).hexdigest())
        self.data(tape, way, t, payload)
        self.end(tape, way, t, sender, whole=True)
        return way.total()

    def instead(self, tape: Tape, t: float, payload: bytes, value: Any) -> bool:
        """Record what went upstream instead of the newest message; tell whether that could be.

        It can where that message was recorded the short way, being sound JSON on one line.

        Args:
            tape: of the exchange.
            t: when.
            payload: that message with members in it replaced.
            value: what of it anybody looks at.
        """
        if not tape.sound or self._redactor.touches_bodies:
            return False
        message = Message(
            seq=self._next_seq(),
            t=t,
            sender="tap",
            exchange=tape.exchange,
            body=Raw(payload),
            leg="upstream",
            replaces=tape.heard,
        )
        tape.heard = message.seq
        self._emit((message, value))
        return True

    def read(self, tape: Tape, way: Way, t: float, pieces: tuple[bytes, ...]) -> None:
        """Take what one read brought; of an event stream that is mostly whole events."""
        sse = way.sse
        if sse is None or way.decoder is not None or self._redactor.touches_bodies:
            for piece in pieces:
                self.data(tape, way, t, piece)
            return
        for piece in pieces:
            usual = sse.usual(piece)
            if usual is not None:
                data, fields = usual
                if self.message(tape, t, "server", data, spliced_line(data), sse=fields):
                    continue
            for block in sse.feed(piece):
                self._block(tape, way, t, block)
        whole = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        way.bytes += len(whole)
        if way.digest is None:
            way.digest = sha256(whole)
        else:
            way.digest.update(whole)

    def data(self, tape: Tape, way: Way, t: float, data: bytes) -> None:
        """Take bytes of a payload as they were transferred."""
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

    def message(
        self,
        tape: Tape,
        t: float,
        sender: Sender,
        payload: bytes,
        value: Any,
        *,
        sse: Sse | None = None,
    ) -> bool:
        """Record a message with nothing special about it; tell whether the payload was one."""
        if not value or "jsonrpc" not in value:
            return False  # a message that does not say so is looked at more closely
        body = Raw(payload)
        seq = tape.heard = self._next_seq()
        tape.sound = True
        if tape.leg is None:
            message = Message(
                seq=seq, t=t, sender=sender, exchange=tape.exchange, body=body, sse=sse
            )
        else:
            message = Message(
                seq=seq,
                t=t,
                sender=sender,
                exchange=tape.exchange,
                body=body,
                sse=sse,
                leg=tape.leg,
                replaces=tape.replaces,
            )
        self._emit((message, value))
        return True

    def _undecodable(self, tape: Tape, way: Way, t: float, why: str) -> None:
        decision = Decision(
            seq=self._next_seq(),
            t=t,
            exchange=tape.exchange,
            hook="recorder",
            verdict="undecodable",
            why=f"{way.encoding}: {why}",
        )
        self._emit((decision, UNPARSED))
        self.end(tape, way, t, way.sender, whole=False)
        way.decoder = way.sse = way.collector = None

    def end(self, tape: Tape, way: Way, t: float, sender: Sender, *, whole: bool) -> None:
        """Record what has not been recorded yet; `whole`: the payload was not cut."""
        if way.sse is not None:
            for block in way.sse.finish():
                self._block(tape, way, t, block)
            return
        collector = way.collector
        if collector is None or not collector.size:
            return
        payload = collector.kept()
        truncated = collector.truncated
        plain = way.encoding is None and not self._redactor.touches_bodies
        plain = plain and whole and not truncated and not tape.secrets
        if plain and self.message(tape, t, sender, payload, spliced(payload)):
            return
        stopped = way.decoder is not None and way.decoder.stopped
        facts: dict[str, Any] = {}
        if truncated or stopped or not whole:
            facts = {"truncated": True}
            if whole and not stopped:
                facts |= {"size": collector.size, "sha256": collector.sha256()}
        self._payload(tape, way, t, sender, payload, facts)

    def _block(self, tape: Tape, way: Way, t: float, block: SseBlock) -> None:
        shown, beside = masked_fields(self._redactor, block.fields)
        facts: dict[str, Any] = {"sse": shown}
        if block.size is not None:
            facts |= {"truncated": True, "size": block.size, "sha256": block.sha256}
        if block.kind == "cut":
            facts["truncated"] = True
        if block.kind == "comment" or not block.data:
            payload, _, masks = self._redactor.other(block.data, UNPARSED, way.content_type)
            fields, _ = carrier(payload)
            if "body" in fields:  # noise is never JSON, whatever it looks like
                fields = {"text": payload.decode()}
            seq = tape.heard = self._next_seq()
            noise = Noise(
                seq=seq,
                t=t,
                exchange=tape.exchange,
                sender="server",
                sse=shown,
                masked=[*beside, *masks],
                truncated=block.size is not None,
                size=block.size,
                leg=tape.leg,
                replaces=tape.replaces,
                **fields,
            )
            self._emit((noise, UNPARSED))
            return
        self._payload(tape, way, t, "server", block.data, facts, event=beside)

    def _payload(  # noqa: PLR0917 (one place, called twice)
        self,
        tape: Tape,
        way: Way,
        t: float,
        sender: Sender,
        payload: bytes,
        facts: dict[str, Any],
        *,
        event: list[Mask] | None = None,
    ) -> None:
        """Record a payload; `event`: it is the data of one, and this was masked beside it."""
        fields, value = carrier(payload)
        if len(payload) > LARGE and (self._redactor.touches_bodies or not _is_message(value)):
            value = whole_value(payload)  # masking looks everywhere
        truncated = "truncated" in facts
        is_message = _is_message(value) or (
            value is UNPARSED and (event is not None or "json" in way.content_type)
        )
        masked, masked_value, masks = masked_payload(
            self._redactor, payload, value, way.content_type, tape.head.line.target
        )
        if tape.secrets and masked_value is not UNPARSED:
            masked_value, more = self._redactor.pointed(masked_value, tape.secrets)
            masked, masks = dumps(masked_value), [*masks, *more]
        if masks:
            fields, _ = carrier(masked)
            value = masked_value
        seq = tape.heard = self._next_seq()
        common: dict[str, Any] = {
            "seq": seq,
            "t": t,
            "exchange": tape.exchange,
            "sender": sender,
            "encoding": way.encoding,
            "masked": [*event, *masks] if event else masks,
            "leg": tape.leg,
            "replaces": tape.replaces,
        }
        record: Message | Body
        if is_message and not (truncated and "size" not in facts):
            record = Message(**common, **fields, **facts)
        else:
            kind = self._redactor.hidden(way.content_type)
            record = Body(**common, **fields, **facts, content_type=kind or None)
        self._emit((record, UNPARSED if truncated else value))


def _is_message(value: Any) -> bool:
    if isinstance(value, dict):
        return "jsonrpc" in value or "method" in value or "result" in value
    return isinstance(value, list)


_EMPTY = sha256(b"").hexdigest()
