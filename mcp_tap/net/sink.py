"""What an upstream connection tells whoever asked."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

from mcp_tap.net.heads import Head, StatusLine

Loss: TypeAlias = Literal["cut", "garbled", "ours"]
"""Why a response is not whole: the upstream ended it, what came is no HTTP/1.1, or we failed."""


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
