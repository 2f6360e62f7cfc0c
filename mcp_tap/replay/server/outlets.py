"""Where a replay speaks, as far as it is the same over HTTP and stdio."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from mcp_tap.core.records import Headers, Sse

Later: TypeAlias = Callable[[float, Callable[[], None]], "Handle"]
"""Calls something in so many seconds."""


class Handle(Protocol):
    """Something that is to be called later."""

    def cancel(self) -> None:
        """Do not call it."""


class Outlet(Protocol):
    """Takes what answers one request."""

    def head(self, status: int, reason: str, headers: Headers) -> None:
        """Begin a response; stdio has none."""

    def message(self, data: bytes, sse: Sse | None) -> None:
        """Send a JSON-RPC message."""

    def other(self, data: bytes, sse: Sse | None, *, comment: bool) -> None:
        """Send what is no message: a body, an event without data, a comment."""

    def flush(self) -> None:
        """Nothing more comes for now."""

    def end(self) -> None:
        """The response is complete."""

    def cut(self) -> None:
        """Break off."""


def say(outlet: Outlet, status: int, reason: str, message: bytes = b"") -> None:
    """Answer in the replay's own words."""
    outlet.head(status, reason, [("Content-Type", "application/json")] if message else [])
    if message:
        outlet.message(message, None)
    outlet.end()
