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
    from mcp_tap.core.facts.message import Message
    from mcp_tap.core.records import HttpRequest, HttpResponse

MOST_BYTES: Final = 24 << 20
"""As they were on the wire; as objects they take several times that."""


class Holder(Protocol):
    """Something that holds what was on the wire; told apart by identity.

    It can be referred to weakly: it is not kept for being weighed.
    """

    def let_go(self) -> None:
        """Hold it no longer."""


class Held:
    """Who holds how much, oldest first."""

    __slots__ = ("_gone", "_weights", "bytes", "most")

    def __init__(self, most: int = MOST_BYTES) -> None:
        """Begin with nothing; let go of what is more than `most` bytes."""
        self._gone = self._died  # one for all
        self._weights: OrderedDict[ref[Holder], int] = OrderedDict()
        self.bytes = 0
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

    def settle(self) -> None:
        """Let the oldest go of what is too much: when nobody looks at it."""
        while self.bytes > self.most:
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
