"""An exchange whose asks the tap may answer.

It is an ordinary exchange until an answer comes that asks; all others pass on as they came.

Rules of this file:

- A JSON response is held until it is whole, an event of a stream until it is.
- What is too large to be held, or cannot be read, passes, and the capture says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from mcp_tap.core.coding import CodingError, Decoder, decoder
from mcp_tap.net.heads import Head, StatusLine
from mcp_tap.proxy.answering import asked as reading
from mcp_tap.proxy.answering.asked import MOST_DECODED, MOST_RESPONSE, is_json, may_ask
from mcp_tap.proxy.answering.chain import Chain
from mcp_tap.proxy.answering.gate import ENDS, Gate, Part, data_of
from mcp_tap.proxy.answering.heads import endless
from mcp_tap.proxy.answering.incoming import Incoming
from mcp_tap.proxy.answering.verdicts import HOOK, Round
from mcp_tap.proxy.exchange import HttpExchange

if TYPE_CHECKING:
    from mcp_tap.core.records import How
    from mcp_tap.net.sink import Loss

_EVENTS: Final = "text/event-stream"


class AnsweringExchange(Incoming):
    """A request whose rounds the tap may answer."""

    _held_head: tuple[Head[StatusLine], bool] | None = None
    _gate: Gate | None = None
    _matters: Callable[[bytes], bool] = staticmethod(may_ask)
    """Tells whether whole events have to be looked at one by one."""
    _large = False
    """An event of it was too large to be held."""
    _decoder: Decoder | None = None
    """Undoes the coding of a stream, which is passed on without it."""

    def reads(self, body: bytes) -> reading.Asked | None:
        """Read a response that asks; None for any other message."""
        return reading.read(body) if reading.is_id(self.watched.id) else None

    def upstream_head(self, head: Head[StatusLine], *, to_eof: bool) -> None:
        """Hold a response that may ask; a stream goes on, event by event."""
        if not self._watching or head.line.status < 200:
            super().upstream_head(head, to_eof=to_eof)
            return
        fields = head.fields
        if fields.content_type.startswith(_EVENTS):
            if head.length is None and fields.encoding is None:
                self._flow()
                HttpExchange.upstream_head(self, head, to_eof=to_eof)  # mostly
                return
            if self._can_read(head):
                self._stream(head, to_eof=to_eof)
                return
        if "json" in fields.content_type and self._can_read(head):
            self._held_head = (head, to_eof)
            self._body, self._body_size = [], 0
            self._first_byte = self.tap.now()
            return
        self._watching = False
        super().upstream_head(head, to_eof=to_eof)

    def _flow(self) -> None:
        """Begin a stream of which nothing need be held as long as nothing in it matters."""
        if self._glances:
            self._flows = self._matters
        else:
            self._gate = Gate(MOST_RESPONSE)

    def _stream(self, head: Head[StatusLine], *, to_eof: bool) -> None:
        """Begin a stream; with an end or a coding of its own, nothing could be taken out of it."""
        self._gate = Gate(MOST_RESPONSE)
        coded = head.fields.encoding
        if head.length is None and coded is None:
            super().upstream_head(head, to_eof=to_eof)
            return
        if coded:
            self._decoder = decoder(coded, MOST_DECODED, stream=True)
            self._glances = False
        shown = endless(head)
        self._first_byte = now = self.tap.now()
        self.tap.report(self.records.reframed, self.tape, now, head, shown)
        self._respond(shown, to_eof=False)

    def _can_read(self, head: Head[StatusLine]) -> bool:
        length = head.content_length()
        coded = head.fields.encoding
        if length is not None and length > MOST_RESPONSE:
            self.unexamined(f"it has {length} bytes")
        elif coded and decoder(coded, 1) is None:
            self.unexamined(f"its coding is {coded}")
        else:
            return True
        return False

    def unexamined(self, why: str) -> None:
        """Record that what may ask passes all the same."""
        tap = self.tap
        tap.report(tap.recording.decision, self.tape, tap.t, HOOK, "not-examined", why)

    def upstream_whole(self, head: Head[StatusLine], body: bytes) -> bool:
        """Pass a complete response on in one go, unless it asks."""
        if not self._watching or (head.fields.encoding is None and not may_ask(body)):
            return HttpExchange.upstream_whole(self, head, body)  # mostly
        self.upstream_head(head, to_eof=False)
        self.upstream_data(body)
        whole = self.upstream_end()
        self.upstream_flush()
        return whole

    def upstream_data(self, data: bytes) -> None:
        """Hold, or cut into events."""
        matters = self._flows
        if matters is not None:
            if data.endswith(ENDS) and not matters(data):
                self._pieces.append(data)  # mostly
                if self._out_chunked:
                    self._out += (b"%x\r\n" % len(data), data, b"\r\n")
                else:
                    self._out.append(data)
                return
            self._flows = None
            self._gate = self._gate or Gate(MOST_RESPONSE)
        if self._held_head is not None:
            self._body.append(data)
            self._body_size += len(data)
            if self._body_size > MOST_RESPONSE:
                self.unexamined(f"it has more than {MOST_RESPONSE} bytes")
                self._release()
        elif self._gate is not None:
            for block in self._gate.feed(self._plain(data)):
                if self.done:  # an ask may have ended it
                    break
                if type(block) is Part:
                    self._part(block)
                else:
                    self._block(block)
            self._flows = self._matters if self._glances and self._gate.empty else None
        else:
            self._pass(data)

    def _pass(self, data: bytes) -> None:
        super().upstream_data(data)

    def _plain(self, data: bytes) -> bytes:
        if self._decoder is None:
            return data
        try:
            plain = self._decoder.feed(data)
        except CodingError as error:
            why = f"the stream is not what its Content-Encoding says: {error}"
        else:
            if not self._decoder.stopped:
                return plain
            why = f"one read of the stream gives more than {MOST_DECODED >> 20} MiB when decoded"
        if self._upstream is not None:
            self._upstream.abort()
        self.upstream_lost(why, "cut")
        return b""

    def _block(self, block: bytes) -> None:
        if self._watching and may_ask(block):
            data = data_of(block, MOST_RESPONSE)
            asked = self.reads(data)
            if asked is None:
                self.doubt(data)
            else:
                self._report_pieces()
                round_ = self._round(asked)
                if round_.passes:
                    super().upstream_data(block)
                    self._report_pieces()
                else:
                    self.tap.report(self.records.withheld_event, self.tape, self.tap.t, block)
                self._begin(round_, lambda: self._deliver(block))
                return
        super().upstream_data(block)

    def _part(self, part: bytes) -> None:
        if not self._large:
            self._large = True
            self.unexamined(f"an event has more than {MOST_RESPONSE} bytes")
        super().upstream_data(part)

    def _deliver(self, block: bytes) -> None:
        """Pass an event on after all; its stream may have ended since."""
        self._relay(self.tape, block)
        if self._upstream is None:
            self.conclude("complete")

    def upstream_end(self) -> bool:
        """End as the upstream did, unless its answer asks."""
        if self._flows is not None and self._chain is None:
            return HttpExchange.upstream_end(self)  # mostly
        if self.done:  # with an ask in what came at once
            return False
        if self._held_head is not None:
            asked = self._held_ask()
            if asked is not None:
                self._upstream = None
                round_ = self._round(asked)
                if not round_.passes:
                    self._withhold(round_, *self._held_head)
                    return self.request_done
                self._release()
                self._report_pieces()
                self._begin(round_)
            else:
                self._release()
        elif self._gate is not None:
            if self._goes_on:
                self._leave_stream(self._gate)
                return self.request_done
            self._let_rest_go(self._gate)
        return super().upstream_end()

    def _withhold(self, round_: Round, head: Head[StatusLine], to_eof: bool) -> None:  # noqa: FBT001
        raw = b"".join(self._body)
        self._held_head, self._body = None, []
        self.tap.report(self.records.withheld, self.tape, self.tap.t, head, raw)
        self._begin(round_, lambda: self._relay_body(self.tape, head, raw, to_eof=to_eof))

    def _held_ask(self) -> reading.Asked | None:
        assert self._held_head is not None
        head, _ = self._held_head
        text = b"".join(self._body)
        coded = head.fields.encoding
        if coded:
            undo = decoder(coded, MOST_RESPONSE + 1)
            if undo is not None:
                try:
                    text = undo.feed(text)
                except CodingError as error:
                    self.unexamined(f"it is not {coded}: {error}")
                    return None
                if undo.stopped:
                    self.unexamined(f"it has more than {MOST_RESPONSE} bytes when decoded")
                    return None
        asked = self.reads(text)
        if asked is None and may_ask(text):
            self.doubt(text)
        return asked

    def doubt(self, data: bytes) -> None:
        """Say so where what may ask passes since nobody can tell what it says."""
        if not is_json(data):
            self.unexamined("what it says cannot be read for certain")

    def _release(self) -> None:
        """Let go of what was held, as it came."""
        assert self._held_head is not None
        head, to_eof = self._held_head
        first, body = self._first_byte, self._body
        self._held_head = None
        self._body = []
        super().upstream_head(head, to_eof=to_eof)
        self._first_byte = first
        for data in body:
            super().upstream_data(data)

    def _leave_stream(self, gate: Gate) -> None:
        """See a stream end behind which the client's goes on, whatever event it ended within."""
        self._upstream = None
        self._report_pieces()
        rest = gate.finish()
        if rest:
            self.tap.report(self.records.left_event, self.tape, self.tap.t, rest)
        self._write()

    def _let_rest_go(self, gate: Gate) -> None:
        """Pass on what there is of an event that was cut."""
        rest = gate.finish()
        if rest:
            super().upstream_data(rest)

    def upstream_lost(self, why: str, loss: Loss) -> None:
        """Let the client see the cut, but for what it does not wait for any more."""
        if loss == "ours" and self._chain is not None:
            self.lost(502, "tap-failed", why)
            return
        if self._gate is not None and self._goes_on:
            self.tap.now()
            self._leave_stream(self._gate)
            return
        if self._held_head is not None and loss != "garbled":
            self._release()
        elif self._gate is not None:
            self._let_rest_go(self._gate)
        self._held_head = None
        super().upstream_lost(why, loss)

    # rounds

    def _round(self, asked: reading.Asked) -> Round:
        if self._chain is None:
            self._chain = Chain(self)
        return self._chain.round(asked)

    def _begin(self, round_: Round, deliver: Callable[[], None] | None = None) -> None:
        assert self._chain is not None
        self._watching = False
        self._chain.tell(round_, self.tape)
        self._chain.act(round_, self.tape, deliver)

    # the client

    def client_writable(self, *, writable: bool) -> None:
        """Let the upstream wait while the client takes no more."""
        super().client_writable(writable=writable)
        if self._chain is not None:
            self._chain.pause(paused=not writable)

    def drop(self, how: How, why: str | None = None) -> None:
        """End at once, with what was sent for this exchange."""
        if self.done:
            return
        if self._chain is not None:
            self._chain.stop(how, why)
        if self._held_head is not None:
            self._release()  # what had come is recorded
        elif self._gate is not None:
            self._let_rest_go(self._gate)
        super().drop(how, why)
