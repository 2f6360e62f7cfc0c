"""The client's request once more, with answers in it.

Whatever comes back, or does not, is told to the call it belongs to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_tap.net.heads import Head, RequestLine, StatusLine
from mcp_tap.net.sink import Upstream
from mcp_tap.proxy.answering.asked import MOST_REPEATED
from mcp_tap.proxy.answering.own import OwnRequest

if TYPE_CHECKING:
    from mcp_tap.core.records import How
    from mcp_tap.proxy.answering.chain import Chain

MOST = MOST_REPEATED
"""Bytes of a response, or of one event, that are held."""


class Repeat(OwnRequest):
    """One repeat and its response."""

    def __init__(
        self,
        chain: Chain,
        head: Head[RequestLine],
        body: bytes,
        token: bytes,
        secrets: tuple[tuple[str, ...], ...],
    ) -> None:
        """Write down what will be sent.

        Args:
            chain: the call it belongs to.
            head: as it goes upstream.
            body: likewise.
            token: its id.
            secrets: where in the body values stand that must not be recorded.
        """
        self.chain = chain
        self.token = token
        self.answered = False
        """Its result has been passed on."""
        exchange = chain.exchange
        super().__init__(
            exchange.tap, chain.records, exchange.client.peer, head, body, secrets, MOST
        )

    def _send_on(self, connection: Upstream) -> None:
        if self.chain.exchange.client.full:
            connection.pause()
        super()._send_on(connection)

    def pause(self, *, paused: bool) -> None:
        """Let the upstream wait while the client takes no more."""
        if self._connection is not None:
            if paused:
                self._connection.pause()
            else:
                self._connection.resume()

    def drop(self, how: How, why: str | None) -> None:
        """End at once."""
        self._end(how, why)

    def finish(self) -> None:
        """End, since all that matters of the response has come."""
        self._end("complete", None)

    def upstream_head(self, head: Head[StatusLine], *, to_eof: bool) -> None:
        """Take the head; a stream goes on at once."""
        super().upstream_head(head, to_eof=to_eof)
        if self._gate is not None:
            self.chain.stream_begins(self, head)

    def upstream_flush(self) -> None:
        """Write what one read brought."""
        self.chain.exchange.write_out()

    def _event(self, block: bytes) -> None:
        self.chain.event(self, block)

    def _rest(self, block: bytes) -> None:
        self.chain.rest(self, block)

    def _stream_ends(self) -> None:
        super()._stream_ends()
        self.chain.stream_ends(self)

    def _whole(self, raw: bytes, text: bytes | None) -> None:
        self.chain.whole(self, raw, text)

    def _lost(self, how: How, code: str, why: str) -> None:
        super()._lost(how, code, why)
        self.chain.lost(self, why, code)
