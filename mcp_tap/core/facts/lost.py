"""Requests whose stream or connection ended without a response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from msgspec import Struct

from mcp_tap.core import spec
from mcp_tap.core.bounded import Bounded
from mcp_tap.core.facts.topic import Topic
from mcp_tap.core.values import digest, id_key

if TYPE_CHECKING:
    from mcp_tap.core.facts.flow import Flow
    from mcp_tap.core.facts.message import Message

MOST_LOST: Final = 64
LONGEST: Final = 3600.0
MOST_SIZE: Final = 256 << 10
"""Bytes of a request that is summed up."""

_BEGINS: Final = frozenset({spec.INITIALIZE, spec.DISCOVER})
"""What a client that was started anew may send first, with the id its last run began with."""
_BROKEN: Final = frozenset({"upstream_cut", "client_gone", "timeout"})


class LostRequest(Struct, frozen=True):
    """A request that got no response."""

    id: int | None
    """Its id, where that is a number."""
    method: str | None
    params: bytes | None
    """Digest of its parameters, `_meta` aside; None where they cannot be compared."""
    value: bytes | None
    """Digest of the whole message."""
    t: float
    """When its exchange ended."""
    silent: bool
    """Not a byte of a response had come."""


class Lost(Topic):
    """Requests whose stream or connection ended without a response."""

    wants: ClassVar = ("request", "closed")
    steady: ClassVar = ("closed",)

    def __init__(self) -> None:
        """Begin with none."""
        self._lost: Bounded[tuple[bool, str], LostRequest] = Bounded(MOST_LOST, LONGEST)
        self.any = False
        """A request was ever lost."""

    def of(self, request_id: Any) -> LostRequest | None:
        """Give the lost request that had an id."""
        return self._lost.get(id_key(request_id)) if len(self._lost) else None

    def closed(self, flow: Flow) -> None:
        """Take note of an exchange that ended without a response."""
        if flow.responses:
            return
        request, exchange = flow.request, flow.exchange
        if request is None or exchange.answered or exchange.from_tap:
            return
        if request.method in _BEGINS or exchange.size > MOST_SIZE:
            return
        status = flow.status
        if status is not None and status != 200:
            return  # a response of a kind
        if exchange.how == "client_gone" and flow.streams:
            return  # that cancels it, and its id is free again
        if exchange.how in _BROKEN or (exchange.how == "complete" and flow.streams):
            t = exchange.end if exchange.end is not None else exchange.t
            self._lost.expire(t)
            lost = LostRequest(
                request.id if type(request.id) is int else None,
                request.method,
                own_params(request),
                digest(request.value),
                t,
                status is None,
            )
            self._lost.put(id_key(request.id), lost, t)
            self.any = True

    def note(self, message: Message) -> None:
        """Forget what the client has taken up again, and all of it where it was started anew."""
        if not self.any:
            return
        number = message.id
        if message.method in _BEGINS:
            self._lost = Bounded(MOST_LOST, LONGEST)
        elif type(number) is int:
            for lost in self._lost.values():
                if lost.id is not None and number <= lost.id:  # ids only ever grow within a run
                    self._lost.pop(id_key(lost.id))
        else:
            self._lost.pop(id_key(number))


def own_params(request: Message) -> bytes | None:
    """Sum up the parameters of a request, `_meta` aside; None where that cannot be done."""
    return digest({name: value for name, value in request.params.items() if name != "_meta"})
