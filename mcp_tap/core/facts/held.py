"""How much of what strangers wrote memory holds on to, in all of a run.

Every topic bounds its entries in number, and names by what makes them short.  What has to be kept
as it was written may still be large, and there may be thousands of it: that is weighed.  Where it
is too much together, the oldest lets go of what it holds.  It stays known, without what rules would
need to compare, and so they say nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final, Protocol
from weakref import ref

from mcp_tap.core.linking.calls import payload_size

if TYPE_CHECKING:
    from mcp_tap.core.facts.flow import Flow
    from mcp_tap.core.facts.message import Message
    from mcp_tap.core.records import HttpRequest, HttpResponse

MOST_BYTES: Final = 24 << 20
"""As they were on the wire; as objects they take several times that."""
SMALL: Final = 2 << 10
"""Bytes of a request and its head that are not weighed each by itself."""
ROOM: Final = 3 * SMALL
"""Bytes that are set aside for an exchange with such a request: its response may be as large."""
_SHARE: Final = 4 * ROOM
"""Of all bytes, a fourth is set aside at most."""


class Holder(Protocol):
    """Something that holds what was on the wire; told apart by identity.

    It can be referred to weakly: it is not kept for being weighed.
    """

    def let_go(self) -> None:
        """Hold it no longer."""


class Held:
    """Who holds how much, oldest first."""

    __slots__ = ("_gone", "_spared", "_weights", "bytes", "most")

    def __init__(self, most: int = MOST_BYTES) -> None:
        """Begin with nothing; let go of what is more than `most` bytes."""
        self._gone = self._died  # one for all
        self._weights: OrderedDict[ref[Holder], int] = OrderedDict()
        self._spared = 0
        """Small exchanges for which bytes are set aside."""
        self.bytes = 0
        """All that is held, or set aside."""
        self.most = most

    def hold(self, holder: Holder, size: int) -> None:
        """Take note of a holder, now the youngest, and of all it holds: `size` bytes."""
        self.free(holder)
        self.add(holder, size)

    def add(self, holder: Holder, size: int) -> None:
        """Take note that a holder holds `size` bytes more; it grows no younger."""
        key = ref(holder, self._gone)
        self._weights[key] = self._weights.get(key, 0) + size
        self.bytes += size

    def spare(self, flow: Flow) -> None:
        """Set bytes aside for a small exchange, which need not be weighed then, if it can be."""
        if (self._spared + 1) * _SHARE <= self.most:
            flow.small = True
            self._spared += 1
            self.bytes += ROOM

    def weigh(self, flow: Flow, message: Message) -> None:
        """Weigh what is held until its exchange ends; over stdio it ends with its response."""
        if message is flow.sent:
            head = flow.known.size if flow.known is not None else size_of_head(flow.head)
            if flow.http and flow.exchange.size + head <= SMALL:
                self.spare(flow)
            if not flow.small:
                self.add(flow, size_of(message) + head)
        elif not flow.http:
            self.free(flow)
        elif not flow.small or flow.exchange.size > 2 * SMALL:
            self.more(flow, size_of(message))

    def more(self, flow: Flow, size: int) -> None:
        """Take note that an exchange holds `size` bytes more, and is small no longer."""
        if flow.small:
            self.over(flow)
            size += ROOM
        self.add(flow, size)

    def over(self, flow: Flow) -> None:
        """Take note that an exchange holds nothing any more."""
        if flow.small:
            flow.small = False
            self._spared -= 1
            self.bytes -= ROOM
        else:
            self.free(flow)

    def settle(self) -> None:
        """Let the oldest go of what is too much: when nobody looks at it."""
        while self.bytes > self.most and self._weights:
            oldest, weight = self._weights.popitem(last=False)
            self.bytes -= weight
            holder = oldest()
            if holder is not None:
                holder.let_go()

    def free(self, holder: Holder) -> None:
        """Take note that a holder holds nothing any more."""
        self._died(ref(holder))

    def _died(self, key: ref[Holder]) -> None:
        self.bytes -= self._weights.pop(key, 0)


def size_of(message: Message) -> int:
    """Give the bytes of a message."""
    return payload_size(message.record)


def size_of_head(head: HttpRequest | HttpResponse | None) -> int:
    """Give the characters of a head's fields; stdio has none."""
    return 0 if head is None else sum(len(name) + len(value) for name, value in head.headers)
