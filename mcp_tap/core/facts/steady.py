"""What of a run's traffic repeats, so that rules that look at no more need not look again.

Most requests of a client differ in their arguments and ids alone: head, method, target, `_meta` and
the names of their parameters are those of the one before.  A *steady* rule looks at nothing else,
so where it found nothing in the one, it finds nothing in the next.  Responses likewise, once their
request was such a one.  What exactly two messages have to share is said at `Steady`; what they may
differ in, no steady rule may look at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcp_tap.core.facts.annotations import PREFIX
from mcp_tap.core.facts.flow import MODERN
from mcp_tap.core.facts.held import size_of, size_of_head
from mcp_tap.core.facts.message import NONE
from mcp_tap.core.spec import INITIALIZE, LISTEN, NAME_PARAM, NOTE_PROGRESS

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_tap.core.facts.flow import Flow
    from mcp_tap.core.facts.message import Message
    from mcp_tap.core.records import Headers, HttpRequest, HttpResponse

MOST: Final = 512
"""Requests remembered of a run."""
MOST_REPLIES: Final = 8
"""Heads remembered of the responses to one of them, and results of one head."""
MOST_NAMES: Final = 16
"""Parameters of a request, and members of a result, that is remembered."""
MOST_BYTES: Final = 4 << 20
"""Bytes of all that was remembered since it began anew."""
LARGEST: Final = 16 << 10
"""Bytes of a head, and of the messages of an exchange, that is remembered."""
VOLATILE: Final = frozenset({"content-length", "date", "age", "traceparent", "x-request-id"})
"""Fields no steady rule looks at, which are other ones each time."""
_PROGRESS: Final = "progressToken"
"""A member of `_meta` no steady rule looks at, for the same reason."""
_RARE: Final = frozenset({"inputRequests", "inputResponses", "requestState", "task"})
"""Messages with these members are looked at in full, each time."""
_OTHERS: Final = frozenset({INITIALIZE, LISTEN})
"""Requests that are looked at in full, each time."""
_REPORT: Final = frozenset({_PROGRESS, "progress", "total", "message"})
_SCALARS: Final = frozenset({str, int, float})


class Rest(NamedTuple):
    """Who still has to look at a message that is equal to one before."""

    judges: tuple[Callable[[Any], Any], ...]
    """Rules that are not steady."""
    of_flat: tuple[Callable[[Any], Any], ...]
    """Those of them that look at a flat result."""
    notes: tuple[Callable[[Any], None], ...]
    """Memory that may learn from it."""


class Known:
    """A request in which steady rules found nothing."""

    __slots__ = (
        "_tracked",
        "fields",
        "meta",
        "path",
        "progress",
        "replies",
        "rest",
        "size",
        "version",
    )

    def __init__(self, message: Message) -> None:
        """Remember one."""
        flow = message.flow
        head = flow.head
        self.path = None if head is None else head.path
        self.size = size_of_head(head)
        self.fields = None if head is None else Fields(head.headers)
        self.version = flow.exchange.version
        self._tracked = {**message.meta, _PROGRESS: None}
        """Its `_meta` with a place for the token of another one."""
        self.meta = {k: v for k, v in self._tracked.items() if k != _PROGRESS}
        self.replies: dict[Any, Reply] = {}
        """Heads of responses to such a request, by status and media type."""
        self.rest: Rest | None = None
        self.progress: Rest | None = None
        """The same of progress that is reported for it."""

    def says(self, meta: dict[str, Any]) -> bool:
        """Tell whether another `_meta` is this one's, but for the token of progress."""
        if _PROGRESS not in meta:
            return meta == self.meta
        other = self._tracked
        other[_PROGRESS] = meta[_PROGRESS]
        same = meta == other
        other[_PROGRESS] = None
        return same


class Result:
    """A result in which steady rules found nothing."""

    __slots__ = ("meta", "rest")

    def __init__(self, meta: dict[str, Any]) -> None:
        """Remember one by its `_meta`."""
        self.meta = meta
        self.rest: Rest | None = None


class Reply:
    """Head of a response in which steady rules found nothing."""

    __slots__ = ("fields", "results")

    def __init__(self, head: HttpResponse | None) -> None:
        """Remember one; None on stdio."""
        self.fields = None if head is None else Fields(head.headers)
        self.results: dict[tuple[Any, ...], Result] = {}
        """Results that came under it, by the names and types of their members."""


class Fields:
    """The fields of a head, but for the values of those that are other ones each time."""

    __slots__ = ("_all", "_holes")

    def __init__(self, headers: Headers) -> None:
        """Remember these."""
        self._all = headers
        self._holes = tuple(i for i, (name, _) in enumerate(headers) if name.lower() in VOLATILE)

    def same(self, headers: Headers) -> bool:
        """Tell whether other fields are these."""
        known = self._all
        if headers == known:
            return True
        if len(headers) != len(known):
            return False
        filled = list(headers)
        for at in self._holes:
            if filled[at][0] != known[at][0]:
                return False
            filled[at] = known[at]
        return filled == known


class Steady:
    """The requests and responses of a run that steady rules need not be asked about again.

    Only requests of 2026-07-28 are, which are the first message of their exchange; over HTTP those
    sent with POST.  Two are equal that have client, method, target, path, header fields, `_meta`,
    and names and JSON types of parameters in common, where `jsonrpc` is "2.0", `params` an object,
    the id a string or an integer, nothing is a retry, and no argument is repeated in a header, or
    has to be by what the client was shown of the tool.  (Within `_meta`, 1, 1.0 and true count as
    equal.)

    Heads of responses are equal that belong to equal requests, come before any message, and have
    status and header fields in common.  Results are equal under such a head that have `_meta`, and
    names and types of members in common, where they are the first response, have the id of the
    request and the `resultType` `complete`, are no failure of a tool, and no event had an id or a
    time to reconnect.
    """

    __slots__ = ("_bytes", "_requests")

    def __init__(self) -> None:
        """Begin with none."""
        self._bytes = 0
        self._requests: dict[tuple[Any, ...], Known] = {}

    def request(self, message: Message) -> Known | None:
        """Find the request that is equal to this one."""
        flow, params, meta = message.flow, message.params, message.meta
        key = _key(flow, message, params) if len(params) <= MOST_NAMES else None
        known = self._requests.get(key) if key is not None else None
        if known is None or flow.exchange.version != known.version or not _is_plain(message):
            return None
        if not known.says(meta):
            return None
        head = flow.head
        if head is None or known.fields is None:
            return None if flow.http else known
        if head.path != known.path or head.method != "POST":
            return None
        return known if known.fields.same(head.headers) else None

    def learn(self, message: Message) -> Known | None:
        """Remember a request in which no steady rule found anything; None where it cannot be."""
        flow, params = message.flow, message.params
        head = flow.head
        if len(params) > MOST_NAMES or not _RARE.isdisjoint(params) or not _is_plain(message):
            return None
        if flow.exchange.size > LARGEST or (head is None and flow.http):
            return None
        if head is not None and (head.method != "POST" or not _is_usual(head)):
            return None
        key = _key(flow, message, params)
        if key is None:
            return None
        self._requests.pop(key, None)
        if len(self._requests) >= MOST:
            del self._requests[next(iter(self._requests))]
        self.weigh(flow.exchange.size + size_of_head(head))
        known = self._requests[key] = Known(message)
        return known

    def weigh(self, size: int) -> None:
        """Take note that so many bytes more are remembered; begin anew where they are too many."""
        self._bytes += size
        if self._bytes > MOST_BYTES:
            self._requests.clear()
            self._bytes = size


def head_of(flow: Flow) -> Reply | None:
    """Find the head that is equal to that of a response."""
    known, reply, exchange = flow.known, flow.reply, flow.exchange
    if known is None or reply is None or flow.responses or exchange.messages:
        return None
    found = known.replies.get((reply.status, exchange.content_type))
    if found is None or found.fields is None or not found.fields.same(reply.headers):
        return None
    return found


def result_of(message: Message) -> Result | None:
    """Find the result that is equal to this one."""
    flow, result = message.flow, message.result
    known = flow.known
    if known is None or result is None or len(result) > MOST_NAMES:
        return None
    reply = flow.reply_known if flow.http else known.replies.get(None)
    found = reply.results.get(_form(result)) if reply is not None else None
    if found is None or found.meta != message.meta:
        return None
    return found if _is_plain_result(message, flow, result) else None


def learn_result(message: Message) -> None:
    """Remember a result in which no steady rule found anything."""
    flow, result = message.flow, message.result
    known = flow.known
    if known is None or result is None or len(result) > MOST_NAMES:
        return
    if not _RARE.isdisjoint(result) or not _is_plain_result(message, flow, result):
        return
    reply = flow.reply_known if flow.http else known.replies.get(None)
    if reply is None:
        head = flow.reply
        if flow.http if head is None else not _is_usual(head):
            return
        if len(known.replies) >= MOST_REPLIES:
            known.replies.clear()
        key = None if head is None else (head.status, flow.exchange.content_type)
        reply = known.replies[key] = Reply(head)
        flow.seen.run.steady.weigh(size_of_head(head))
    if flow.exchange.size <= LARGEST or message.meta is NONE:
        if len(reply.results) >= MOST_REPLIES:
            reply.results.clear()
        reply.results[_form(result)] = Result(message.meta)
        flow.seen.run.steady.weigh(0 if message.meta is NONE else size_of(message))


def is_plain_progress(message: Message) -> bool:
    """Tell whether a notification is mere progress of a request steady rules found nothing in.

    It comes before the response, has no `_meta`, no member but those the specification names, none
    of which is an object or array, and no event had an id or a time to reconnect.
    """
    flow, params = message.flow, message.params
    return (
        message.method == NOTE_PROGRESS
        and flow.known is not None
        and not flow.responses
        and params.keys() <= _REPORT
        and _SCALARS.issuperset(map(type, params.values()))
        and params is not NONE
        and message.value.get("jsonrpc") == "2.0"
        and not flow.event_fields
    )


def _key(flow: Flow, message: Message, params: dict[str, Any]) -> tuple[Any, ...] | None:
    """Say what a request is looked up by; None where it lacks the target it must have."""
    method = message.method or ""
    member = NAME_PARAM.get(method)
    if member is None:
        return (flow.seen.number, method, *params, *map(type, params.values()))
    name = params.get(member)
    if type(name) is not str:
        return None
    return (flow.seen.number, method, name, *params, *map(type, params.values()))


def _form(members: dict[str, Any]) -> tuple[Any, ...]:
    return (*members, *map(type, members.values()))


def _is_plain(message: Message) -> bool:
    """Tell whether what steady rules look at beside what is compared is as it should be."""
    kind = type(message.id)
    flow = message.flow
    return (
        (kind is int or kind is str)
        and flow.band == MODERN
        and message.value.get("jsonrpc") == "2.0"
        and message.params is not NONE
        and message.method not in _OTHERS
        and not (flow.seen.tools.annotated and flow.seen.tools.watches(message))
    )


def _is_plain_result(message: Message, flow: Flow, result: dict[str, Any]) -> bool:
    request, value = message.request, message.value
    return (
        request is not None
        and message.id == request.id
        and type(message.id) is type(request.id)
        and not flow.responses
        and not flow.answers
        and flow.band == MODERN
        and result.get("resultType") == "complete"
        and result.get("isError") is not True
        and len(value) == 3
        and value.get("jsonrpc") == "2.0"
        and not flow.event_fields
    )


def _is_usual(head: HttpRequest | HttpResponse) -> bool:
    """Tell whether fields are small, and none of them repeats an argument."""
    is_small = size_of_head(head) <= LARGEST
    return is_small and not any(name.lower().startswith(PREFIX) for name, _ in head.headers)
