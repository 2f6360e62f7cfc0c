"""What an upstream connection and whoever asked have to say to each other."""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeAlias

from mcp_tap.net.heads import Head, StatusLine

Loss: TypeAlias = Literal["cut", "garbled", "down", "ours"]
"""Why a response is not whole: the upstream ended it, what came is no HTTP/1.1, there is no
upstream to be had, or we failed."""


class ResponseSink(Protocol):
    """Who asked: gets the response's parts, in order, from the connection's thread."""

    def upstream_head(self, head: Head[StatusLine], *, to_eof: bool) -> None:
        """Take the head; `to_eof`: the body ends with the connection."""

    def upstream_whole(self, head: Head[StatusLine], body: bytes) -> bool:
        """Take a complete response; tell whether the request had gone up whole."""

    def upstream_data(self, data: bytes) -> None:
        """Take bytes of the body."""

    def upstream_flush(self) -> None:
        """All that one read brought has been handed over."""

    def upstream_end(self) -> bool:
        """The response is complete; tell whether the request had gone up whole."""

    def upstream_lost(self, why: str, loss: Loss) -> None:
        """The connection ended before the response was complete."""

    def upstream_writable(self, *, writable: bool) -> None:
        """More may be written, or should wait."""


class Upstream(Protocol):
    """One exchange with an upstream, as whoever asks sees it."""

    def begin(self, sink: ResponseSink, *, no_body: bool) -> None:
        """Begin; `no_body`: the response has none whatever its head says (HEAD)."""

    def write(self, data: bytes) -> None:
        """Send bytes of the request."""

    def abort(self) -> None:
        """End at once: the client went away."""

    def pause(self) -> None:
        """Hand over no more for now."""

    def resume(self) -> None:
        """Go on."""


class Pool(Protocol):
    """Where exchanges get their upstream from."""

    def take(self) -> Upstream | None:
        """Give one that is ready, if there is one."""

    async def connect(self) -> Upstream:
        """Give a new one; raise `OSError` or `TimeoutError`."""

    def put_back(self, connection: Any) -> None:
        """Take back one whose exchange ended well."""

    def close(self) -> None:
        """End what is not in use."""
