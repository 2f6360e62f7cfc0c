"""What of a client's traffic repeats, so that rules that look at no more need not look again.

Most requests of a client differ in their arguments and ids alone: head, method, target, `_meta` and
the names of their members are those of the one before.  A *steady* rule looks at nothing else (and
at no memory), so where it found nothing in the one, it finds nothing in the next.  Responses
likewise, once their request was such a one: head, status, type, `_meta` and names of members.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mcp_tap.core.spec import NAME_PARAM

if TYPE_CHECKING:
    from mcp_tap.core.facts.flow import Flow
    from mcp_tap.core.facts.message import Message
    from mcp_tap.core.records import Headers

MOST: Final = 256
"""Methods and targets remembered of one client."""
VOLATILE: Final = frozenset({"content-length", "date", "age", "traceparent", "x-request-id"})
"""Fields no steady rule looks at, which are other ones each time."""
_PROGRESS: Final = "progressToken"
"""A member of `_meta` no steady rule looks at, for the same reason."""


class Steady:
    """The newest request and response without a steady finding, for each method and target."""

    __slots__ = ("_replies", "_requests")

    def __init__(self) -> None:
        """Begin with none."""
        self._requests: dict[Any, tuple[Any, ...]] = {}
        self._replies: dict[Any, tuple[Any, ...]] = {}

    def knows_request(self, message: Message) -> bool:
        """Tell whether a request looks as one did in which steady rules found nothing."""
        known = self._requests.get(_key(message))
        if known is None:
            return False
        flow = message.flow
        path, headers, band, members, meta = known
        head = flow.head
        if head is None:
            same = headers is None
        else:
            same = head.path == path and headers is not None and _same(head.headers, headers)
        return (
            same
            and flow.band == band
            and tuple(message.params) == members
            and _plain(message.meta) == meta
        )

    def keep_request(self, message: Message) -> None:
        """Remember a request in which steady rules found nothing."""
        flow = message.flow
        head = flow.head
        self._put(
            self._requests,
            _key(message),
            (
                None if head is None else head.path,
                None if head is None else head.headers,
                flow.band,
                tuple(message.params),
                _plain(message.meta),
            ),
        )

    def knows_head(self, flow: Flow) -> bool:
        """Tell whether the head of a response looks as one did that belonged to such a request."""
        if not flow.steady or flow.request is None or flow.reply is None:
            return False
        known = self._replies.get(_key(flow.request))
        if known is None:
            return False
        return known[0] == flow.reply.status and _same(flow.reply.headers, known[1])

    def knows_result(self, message: Message) -> bool:
        """Tell whether a result looks as one did in which steady rules found nothing."""
        flow = message.flow
        result = message.result
        if result is None or not (self.knows_head(flow) if flow.http else flow.steady):
            return False
        known = self._replies.get(_key(message.request)) if message.request is not None else None
        if known is None:
            return False
        return (result.get("resultType"), tuple(result), message.meta) == known[2:]

    def keep_result(self, message: Message) -> None:
        """Remember a result in which steady rules found nothing."""
        flow, result = message.flow, message.result
        if message.request is None or result is None:
            return
        reply = flow.reply
        self._put(
            self._replies,
            _key(message.request),
            (
                None if reply is None else reply.status,
                None if reply is None else reply.headers,
                result.get("resultType"),
                tuple(result),
                message.meta,
            ),
        )

    @staticmethod
    def _put(where: dict[Any, tuple[Any, ...]], key: Any, value: tuple[Any, ...]) -> None:
        if len(where) >= MOST and key not in where:
            where.clear()
        where[key] = value


def _key(message: Message) -> Any:
    name = message.params.get(NAME_PARAM.get(message.method or "", ""))
    return message.method, name if type(name) is str else None


def _plain(meta: dict[str, Any]) -> dict[str, Any]:
    if _PROGRESS not in meta:
        return meta
    return {key: value for key, value in meta.items() if key != _PROGRESS}


def _same(one: Headers, other: Headers) -> bool:
    if one is other:
        return True
    if len(one) != len(other):
        return False
    for field, known in zip(one, other, strict=True):
        if field is known or field == known:
            continue
        if field[0] != known[0] or field[0].lower() not in VOLATILE:
            return False
    return True
