"""What the client gets of a call that the tap answers, whatever it was given before.

A stream that is open gets the result as an event; else the result comes with its own head.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mcp_tap.core.model import NO_ANSWER
from mcp_tap.core.records import Sse
from mcp_tap.core.spec import INTERNAL_ERROR
from mcp_tap.core.splice import SpliceError
from mcp_tap.core.sse import event
from mcp_tap.net.heads import Head, StatusLine
from mcp_tap.proxy.answering import asked as reading
from mcp_tap.proxy.answering.gate import with_data
from mcp_tap.proxy.answering.heads import STREAM, endless, with_body
from mcp_tap.proxy.exchange import HttpExchange
from mcp_tap.proxy.replies import make_reply

if TYPE_CHECKING:
    from mcp_tap.core.records import How
    from mcp_tap.proxy.answering.chain import Chain
    from mcp_tap.proxy.answering.records import Records
    from mcp_tap.proxy.answering.repeat import Repeat
    from mcp_tap.proxy.answering.request import Watched
    from mcp_tap.proxy.tape import Tape, Way

_OWN: Final = Sse(event="message")
"""Fields of an event of our own."""
_HOWS: Final[dict[str, How]] = {
    "upstream-down": "upstream_down",
    "upstream-timeout": "timeout",
    "tap-failed": "tap_failed",
}


class Outlet(HttpExchange):
    """The client's side of an exchange."""

    records: Records
    watched: Watched
    """The request, where its answer is looked at."""
    _chain: Chain | None
    _way: Way | None = None

    @property
    def _goes_on(self) -> bool:
        """What the client gets does not end with the first response."""
        return self._chain is not None and self._chain.goes_on

    def write_out(self) -> None:
        """Write what there is for the client."""
        if not self.done:
            self._report_pieces()
        self._write()

    def _frame(self, data: bytes) -> None:
        if self._out_chunked:
            self._out += (b"%x\r\n" % len(data), data, b"\r\n")
        else:
            self._out.append(data)

    def relay_head(self, repeat: Repeat, head: Head[StatusLine]) -> None:
        """Begin the response with the head of a stream."""
        if self.responding or self.done:
            return
        to_eof = repeat.to_eof
        if head.length is not None or head.fields.encoding:
            head, to_eof = endless(head), False
        self._way = self.records.begin(head, stream=True)
        self.tap.report(self.records.relayed_head, self.tape, self.tap.t, repeat.tape, head)
        self._respond(head, to_eof=to_eof)

    def relay_event(self, repeat: Repeat, block: bytes, data: bytes) -> None:
        """Pass an event on, with the client's id where it has the tap's."""
        if self.done:
            return
        if data and reading.is_response(data):
            try:
                told = reading.with_id(data, repeat.token, self.watched.id)
            except SpliceError as error:
                self._garbled(str(error))
                return
            if told is not data:
                block = with_data(block, told)
        self._relay(repeat.tape, block)

    def deliver(self, repeat: Repeat, block: bytes, data: bytes) -> None:
        """Pass an event on after all; its stream may have ended since."""
        self.relay_event(repeat, block, data)
        if repeat.over:
            self.conclude("complete")

    def _relay(self, source: Tape, block: bytes) -> None:
        if self._way is None:
            self._way = self.records.begin(STREAM, stream=True)
        facts = (source, self._way, block)
        self.tap.report(self.records.relayed_event, self.tape, self.tap.t, *facts)
        self._frame(block)

    def relay_whole(self, repeat: Repeat, raw: bytes, text: bytes | None) -> None:
        """End the response with that to a repeat."""
        if self.done or repeat.head is None:
            return
        told, head = raw, repeat.head
        if text is None and "json" in head.fields.content_type:
            self._garbled(f"nobody reads it here as {head.fields.encoding}")
            return
        try:
            if text is not None and reading.is_response(text):
                told = reading.with_id(text, repeat.token, self.watched.id)
            elif self.responding:
                self.lost(502, "no-response", f"the server answered with status {head.line.status}")
                return
        except SpliceError as error:
            self._garbled(str(error))
            return
        if self.responding:
            self._relay(repeat.tape, event(told, _OWN))
            self.conclude("complete")
            return
        if told is not raw:
            head = with_body(head, told)
        self._relay_body(repeat.tape, head, told, to_eof=repeat.to_eof)

    def _relay_body(
        self, source: Tape, head: Head[StatusLine], body: bytes, *, to_eof: bool
    ) -> None:
        self.tap.report(self.records.relayed, self.tape, self.tap.t, source, head, body)
        self._respond(head, to_eof=to_eof)
        if body:
            self._frame(body)
        self.conclude("complete")

    def _garbled(self, why: str) -> None:
        self.lost(502, "cannot-pass-on", f"the server's answer cannot be passed on: {why}")

    def cut(self, why: str) -> None:
        """Let the client see that the server broke off behind its result."""
        if not self.done:
            self._finish("upstream_cut", why)

    def fail(
        self, status: int, code: str, why: str, how: How = "refused", *, no_answer: bool = False
    ) -> None:
        """Tell the client, in the tap's own words, that there will be no result."""
        if self.done:
            return
        number = NO_ANSWER if no_answer else INTERNAL_ERROR
        request = self.watched.body
        reply = make_reply(status, code, why, request, number=number)
        tap = self.tap
        tap.say_once(code, why)
        if self.responding:
            tap.report(self.records.own_event, self.tape, tap.t, reply.body)
            self._frame(event(reply.body, _OWN))
        else:
            head = tap.own_heads.read(reply.line, reply.headers)
            tap.report(self.records.own, self.tape, tap.t, head, reply.body)
            self.responding = True
            self._out.append(reply.head(close=not self.keep_alive) + reply.body)
        self.conclude(how, why)

    def lost(self, status: int, code: str, why: str) -> None:
        """Tell the client that the server's answer did not come."""
        self.fail(status, code, why, _HOWS.get(code, "upstream_cut"))

    def conclude(self, how: How, why: str | None = None) -> None:
        """End the response in order."""
        if self.done:
            return
        if self._out_chunked:
            self._out.append(b"0\r\n\r\n")
        self._finish(how, why, sender_is_tap=how != "complete")

    def _finish(self, how: How, why: str | None = None, *, sender_is_tap: bool = False) -> None:
        """End, once, and with it all that is under way for the client."""
        if self.done:
            return
        if self._chain is not None:
            self._chain.close()
        HttpExchange._finish(self, how, why, sender_is_tap=sender_is_tap)  # noqa: SLF001 - its own
        self._leave()

    def _leave(self) -> None:
        """Wait for nothing any more."""
