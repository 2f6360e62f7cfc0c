"""What is under way between the two sides: who waits for which response."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from mcp_tap.core import spec
from mcp_tap.core.values import id_key
from mcp_tap.core.wire import dumps, loads
from mcp_tap.proxy.replies import error_of
from mcp_tap.proxy.stdio.steps import ToClient, ToServer

if TYPE_CHECKING:
    from mcp_tap.proxy.answering.answering import Answering
    from mcp_tap.proxy.stdio.answering.calls import LineCall
    from mcp_tap.proxy.stdio.steps import Step

MOST: Final = 10_000
"""Requests whose responses are waited for; what comes beyond passes and is not answered for."""

Key: TypeAlias = tuple[bool, str]


class Awaiting(Protocol):
    """Waits for a response."""

    def came(self, line: bytes, t: float) -> Sequence[Step]:
        """Take the response."""

    def unread(self, code: str, why: str, t: float) -> Sequence[Step]:
        """Take note that it came, and nobody could read it: an error's short name, and words."""


class Board:
    """What is under way."""

    def __init__(self, answering: Answering) -> None:
        """Begin with nothing."""
        self.answering = answering
        self.calls: dict[Key, LineCall] = {}
        """Calls the client waits for, by its own id."""
        self.closed = False
        """The client has closed its end, and with it the server's input."""
        self._waiting: dict[Key, Awaiting] = {}
        self._own: set[Key] = set()
        """Ids of requests of the tap's own."""
        self._numbers = 0

    @property
    def full(self) -> bool:
        """Nothing more can be waited for."""
        return len(self._waiting) >= MOST

    @property
    def asks(self) -> bool:
        """A response to a request of the tap's own is to come."""
        return bool(self._own)

    def number(self) -> int:
        """Give what tells a client's request from all others."""
        self._numbers += 1
        return self._numbers

    def wait(self, token: bytes, awaiting: Awaiting, *, own: bool = False) -> None:
        """Wait for the response to a request.

        Args:
            token: its id.
            awaiting: who waits.
            own: the request is the tap's.
        """
        key = key_of(token)
        self._waiting[key] = awaiting
        if own:
            self._own.add(key)

    def answered(self, token: bytes) -> Awaiting | None:
        """Give who waits for a response with this id, and wait for it no more."""
        try:
            key = key_of(token)
        except ValueError:  # a number no float can hold
            return None
        self._own.discard(key)
        return self._waiting.pop(key, None)


def key_of(token: bytes) -> Key:
    """Make a key of the token of an id.

    Raises:
        ValueError: it is no JSON.
    """
    return id_key(loads(token))


def whole(body: bytes) -> bytes:
    """Write a message as a line."""
    return body if body.endswith(b"\n") else body + b"\n"


def error_line(token: bytes, code: str, why: str, number: int) -> ToClient:
    """Tell the client, in the tap's own words, that there will be no result."""
    error = dumps(error_of(code, why, number))
    return ToClient(b'{"jsonrpc":"2.0","id":%b,"error":%b}\n' % (token, error), "tap")


def cancelling(token: bytes, why: str) -> ToServer:
    """Tell the server that a request is not wanted any more."""
    line = b'{"jsonrpc":"2.0","method":"%b","params":{"requestId":%b,"reason":%b}}\n' % (
        spec.NOTE_CANCELLED.encode(),
        token,
        dumps(f"mcp-tap: {why}"),
    )
    return ToServer(line, "tap")
