"""Responses that ask: telling them from all others, cheaply, and reading them."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from mcp_tap.core import spec
from mcp_tap.core.splice import find
from mcp_tap.core.values import same_id
from mcp_tap.core.wire import loads

MOST_RESPONSE: Final = 4 << 20
"""Decoded bytes of a response, or of one event, that are held to be looked at."""
MOST_REPEATED: Final = 64 << 20
"""Bytes of the response to a repeat, or of one event of it, that are held to change the id."""
MOST_DECODED: Final = 64 << 20
"""Bytes that one read of a coded stream may give."""
_ID_BEGINS: Final = frozenset(b"%c" % byte for byte in b'"-0123456789')
_WORD: Final = spec.INPUT_REQUIRED.encode()
_BACKSLASH: Final = 0x5C


class _Result(Struct):
    resultType: Raw | UnsetType = UNSET  # noqa: N815 - the word of the protocol
    inputRequests: Raw | UnsetType = UNSET  # noqa: N815 - likewise
    requestState: Raw | UnsetType = UNSET  # noqa: N815 - likewise
    meta: Raw | UnsetType = msgspec.field(name="_meta", default=UNSET)


class _Response(Struct):
    result: _Result
    id: Raw | UnsetType = UNSET
    method: Raw | UnsetType = UNSET


class _Outline(Struct):
    id: Raw | UnsetType = UNSET
    method: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


_response: Final = msgspec.json.Decoder(_Response)
_outline: Final = msgspec.json.Decoder(_Outline)


class Asked(Struct, frozen=True, kw_only=True):
    """An `input_required` result."""

    requests: dict[str, Any]
    """`inputRequests`; empty where there are none."""
    state: bytes | None
    """Token of `requestState`, exactly as it came."""
    server: str | None
    """The name the server gives itself in it."""

    @property
    def state_text(self) -> str | None:
        """The state, where it is a text, as it has to be."""
        if self.state is None:
            return None
        try:
            value = loads(self.state)
        except ValueError:  # a number no float can hold
            return None
        return value if type(value) is str else None


def may_ask(body: bytes) -> bool:
    """Tell whether bytes may hold such a result; mostly they do not.

    Once for every event that passes: `in` takes a byte fast, and longer ones three times as slowly
    as `find`.
    """
    return body.find(_WORD) >= 0 or (_BACKSLASH in body and b"\\u" in body)


def read(body: bytes) -> Asked | None:
    """Read a response that asks; None for any other message."""
    if not may_ask(body):
        return None
    try:
        response = _response.decode(body)
        result = response.result
        if response.method is not UNSET or response.id is UNSET or result.resultType is UNSET:
            return None
        if loads(bytes(result.resultType)) != spec.INPUT_REQUIRED:
            return None
        requests = loads(bytes(result.inputRequests)) if result.inputRequests is not UNSET else None
        meta = loads(bytes(result.meta)) if result.meta is not UNSET else None
        span = find(body, "result", "requestState")  # None also where it cannot be told
    except (ValueError, RecursionError):
        return None
    state = None if span is None else body[span.start : span.end]
    return Asked(
        requests=requests if type(requests) is dict else {},
        state=None if state == b"null" else state,
        server=_server(meta),
    )


def is_id(token: bytes) -> bool:
    """Tell whether a request with this id can have a response: it is a text or a number."""
    return token[:1] in _ID_BEGINS


def is_json(body: bytes) -> bool:
    """Tell whether bytes are JSON that everybody reads alike."""
    try:
        loads(body)
    except (ValueError, RecursionError):
        return False
    return True


def is_response(body: bytes) -> bool:
    """Tell whether a message is a response."""
    try:
        found = _outline.decode(body)
    except (ValueError, RecursionError):
        return False
    return found.method is UNSET and not (found.result is UNSET and found.error is UNSET)


def with_id(body: bytes, own_id: bytes, new_id: bytes) -> bytes:
    """Put another id into a response where it has the one that was sent; else leave it alone.

    Raises:
        SpliceError: the response names a member twice.
    """
    span = find(body, "id")
    if span is None or not _same(body[span.start : span.end], own_id):
        return body
    return body[: span.start] + new_id + body[span.end :]


def _same(token: bytes, own: bytes) -> bool:
    try:
        return token == own or same_id(loads(token), loads(own))
    except ValueError:
        return False


def _server(meta: Any) -> str | None:
    info = meta.get(spec.META_SERVER) if type(meta) is dict else None
    name = info.get("name") if type(info) is dict else None
    return name if type(name) is str and name else None
