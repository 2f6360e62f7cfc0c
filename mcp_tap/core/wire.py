"""Payload bytes: which carrier keeps them, and what they mean as JSON.

What a fast parser refuses although a peer can send it (lone surrogates, `1e400`, a byte order mark)
is kept as `text` or `b64` and has no value: it is evidence, not an error of ours.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias, TypedDict

import msgspec
from msgspec import UNSET, Raw, Struct

from mcp_tap.core.records import Payload, deep


class _Unparsed(Struct, frozen=True):
    def __repr__(self) -> str:
        return "UNPARSED"

    def __bool__(self) -> bool:
        return False


UNPARSED: Final = _Unparsed()
"""Stands for the value of a payload that is no strict JSON, or is not whole."""

Json: TypeAlias = Any

_OPEN, _CLOSE = b"{}"


class Carrier(TypedDict, total=False):
    """The one of three fields that holds a payload in a record."""

    body: Raw
    text: str
    b64: bytes


def loads(data: bytes | str) -> Json:
    """Parse strict JSON; raise `ValueError` for anything else.

    Integers stay exact whatever their size, which is why msgspec does this and not orjson: the two
    are equally fast on real messages, but orjson turns what passes 64 bits into a float in silence.
    """
    try:
        return _json.decode(data)
    except RecursionError:
        return deep(_json.decode, data)


def carrier(payload: bytes) -> tuple[Carrier, Json]:
    """Choose the carrier of a payload, and give its value where it is strict JSON.

    `body` only for JSON that can stand in a line as it is: no raw line break, and nothing around
    it that splicing would lose.
    """
    try:
        value = loads(payload)
    except ValueError:
        value = UNPARSED
    else:
        if (
            b"\n" not in payload
            and b"\r" not in payload
            and payload[0] not in b" \t"
            and payload[-1] not in b" \t"
        ):
            return {"body": Raw(payload)}, value
    try:
        return {"text": payload.decode()}, value
    except UnicodeDecodeError:
        return {"b64": payload}, UNPARSED


def spliced(payload: bytes) -> Json:
    """Parse a payload that `carrier()` would put into `body`; `UNPARSED` for any other."""
    if not payload or payload[0] != _OPEN or payload[-1] != _CLOSE:
        return UNPARSED
    if b"\n" in payload or b"\r" in payload:
        return UNPARSED
    try:
        return _json.decode(payload)
    except (ValueError, RecursionError):
        return UNPARSED  # `carrier()` looks again


def value_of(record: Payload) -> Json:
    """Parse what a record carries; `UNPARSED` when it is no JSON, or only a prefix of it."""
    if record.truncated:
        return UNPARSED
    try:
        if record.body is not UNSET:
            return loads(bytes(record.body))
        if record.text is not None:
            return loads(record.text)
    except ValueError:
        pass
    return UNPARSED


def dumps(value: Json) -> bytes:
    """Render JSON on one line, keys in the order given, integers of any size."""
    return msgspec.json.encode(value)


_json = msgspec.json.Decoder()
