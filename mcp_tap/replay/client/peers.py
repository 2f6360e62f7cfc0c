"""A server that things are sent to: what is common to those over HTTP and over stdio."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol, TypeAlias

from msgspec import Struct

from mcp_tap.bridge.messages import Said

Heard: TypeAlias = Callable[[Said], None]
"""Takes what comes before the response: notifications, and what the server asks."""


MOST_ANSWER: Final = 64 << 20
"""Bytes of one body, one event or one line of a server that are taken; all of it is in memory."""


class TooBig(Exception):
    """What a server answers is larger than can be compared; says so in words."""

    def __init__(self) -> None:
        """Say how large that is."""
        super().__init__(f"the answer is larger than {MOST_ANSWER >> 20} MiB, too big to compare")


class Unreachable(Exception):
    """There is no server, or not any more; says why in words."""


class Reply(Struct, frozen=True):
    """What ended a request."""

    said: Said | None
    """The response; None where none came."""
    why: str = ""
    """Why none came."""


class Peer(Protocol):
    """One client's way to the server."""

    async def ask(self, said: Said, heard: Heard) -> Reply:
        """Send a request and wait for its end; to be cancelled means to wait no more.

        Raises:
            Unreachable: there is no server.
            TooBig: the answer is larger than `MOST_ANSWER`, or has no end.
            ValueError: it cannot be sent at all.
        """

    async def tell(self, said: Said) -> None:
        """Send a notification or a response.

        Raises:
            Unreachable: there is no server.
        """

    async def listen(self, heard: Heard) -> None:
        """Listen from now on to what the server says outside of requests."""

    @property
    def over_http(self) -> bool:
        """Whether each request has a connection of its own."""

    @property
    def gone(self) -> str:
        """Why the server takes no more; empty while it does."""

    async def close(self) -> None:
        """End the session, where there is one, and the connection."""
