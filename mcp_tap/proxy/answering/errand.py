"""A request of the tap's own whose response no client gets: an answer on its way to the server.

It does not end when the client leaves: what was decided is delivered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from mcp_tap.net.heads import Head, RawHeaders, RequestLine, replaced
from mcp_tap.proxy.answering import asked as reading
from mcp_tap.proxy.answering.gate import data_of
from mcp_tap.proxy.answering.own import OwnRequest

if TYPE_CHECKING:
    from mcp_tap.core.records import How
    from mcp_tap.proxy.answering.records import Records
    from mcp_tap.proxy.tap import Tap

WITHIN: Final = 60.0
"""Seconds a server has to say that it got an answer."""
MOST: Final = 4 << 20
"""Bytes of its response that are looked at."""
_OWN: Final = frozenset(
    {
        b"accept",
        b"content-encoding",
        b"content-length",
        b"content-type",
        b"expect",
        b"last-event-id",
        b"mcp-method",
        b"mcp-name",
        b"transfer-encoding",
    }
)
"""Fields of a request that do not hold for what is sent beside it."""


class Outcome(Struct, frozen=True, kw_only=True):
    """What came of it."""

    status: int | None
    """None where no response came."""
    message: bytes | None = None
    """The JSON-RPC response, where there was one."""
    why: str | None = None
    """What went wrong, in words."""
    sent: bool = True
    """The server may have it."""

    @property
    def taken(self) -> bool:
        """The server says that it has it."""
        return self.status is not None and 200 <= self.status < 300


Done: TypeAlias = Callable[[Outcome], None]


class Errand(OwnRequest):
    """One answer and what the server says to it."""

    def __init__(  # noqa: PLR0917 (one place for each)
        self,
        tap: Tap,
        records: Records,
        peer: str,
        head: Head[RequestLine],
        body: bytes,
        done: Done,
        among: set[Errand],
        secrets: tuple[tuple[str, ...], ...] = (),
    ) -> None:
        """Write down what will be sent.

        Args:
            tap: that sends it.
            records: where it is recorded.
            peer: address of the client for which it is sent.
            head: as it goes upstream.
            body: likewise.
            done: is told what came of it, once.
            among: holds it for as long as it is under way.
            secrets: where in the body values stand that must not be recorded.
        """
        self._done: Done | None = done
        self._among = among
        among.add(self)
        self._timer = asyncio.get_running_loop().call_later(WITHIN, self._expire)
        super().__init__(tap, records, peer, head, body, secrets, MOST)

    def drop(self, how: How, why: str | None) -> None:
        """End at once, and tell nobody."""
        self._done = None
        self._end(how, why)

    def _event(self, block: bytes) -> None:
        message = data_of(block, MOST)
        if message and reading.is_response(message):
            self._tell(message)

    def _whole(self, raw: bytes, text: bytes | None) -> None:
        del raw
        message = text if text and reading.is_response(text) else None
        self._end("complete", None, message)

    def _expire(self) -> None:
        self.tap.now()
        self._lost(
            "timeout", "upstream-timeout", f"the server has not answered within {WITHIN:g} s"
        )

    def _end(self, how: How, why: str | None, message: bytes | None = None) -> None:
        if self.over:
            return
        super()._end(how, why)
        self._among.discard(self)
        self._timer.cancel()
        self._tell(message, why)

    def _tell(self, message: bytes | None, why: str | None = None) -> None:
        done, self._done = self._done, None
        if done is None:
            return
        status = self.head.line.status if self.head is not None else None
        if status is not None and status >= 400:
            why = f"the server answered with status {status}"
        done(Outcome(status=status, message=message, why=why, sent=self._sent is not None))


def errand_head(
    tap: Tap,
    head: Head[RequestLine],
    length: int,
    own: RawHeaders,
    target: bytes | None = None,
) -> Head[RequestLine]:
    """Make the head of what is sent beside a request: with its fields, as far as they hold for it.

    Args:
        tap: that sends it.
        head: of the client's request.
        length: of the body.
        own: further fields.
        target: where it goes; None: where the request went.
    """
    fields = [f for f in head.headers if f[0].lower() not in _OWN]
    wanted = [
        (b"Accept", b"application/json, text/event-stream"),
        (b"Content-Type", b"application/json"),
        (b"Content-Length", b"%d" % length),
        *own,
    ]
    line = RequestLine(b"POST", target or head.line.target, "1.1")
    return tap.upstream_head(tap.heads.read(line, replaced(fields, wanted)))
