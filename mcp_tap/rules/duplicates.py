"""Names that stand twice in one JSON object: parsers keep the last one and say nothing."""

from __future__ import annotations

from json import JSONDecodeError, JSONDecoder
from typing import Final

from msgspec import Raw, Struct
from msgspec.json import Decoder

from mcp_tap.core.records import Payload

MOST_FOUND: Final = 100
"""Names reported of one object."""

_BLANK: Final = " \t\r\n"


class _Params(Struct, frozen=True):
    inputResponses: Raw = Raw(b"")  # noqa: N815 (as on the wire)


class _Result(Struct, frozen=True):
    inputRequests: Raw = Raw(b"")  # noqa: N815 (as on the wire)


class _Envelope(Struct):
    params: _Params = _Params()
    result: _Result = _Result()


_envelopes: Final = Decoder(_Envelope)
_values: Final = JSONDecoder()


def repeated(record: Payload) -> list[str]:
    """Give the names that `inputRequests` or `inputResponses` of a message has more than once.

    Reads the bytes, not the value: that has each name once.  Only the names of the map itself
    count, not those of the objects in it.
    """
    try:
        found = _envelopes.decode(record.payload())
        text = bytes(found.result.inputRequests or found.params.inputResponses).decode()
        return _repeated(text)
    except (ValueError, RecursionError):
        return []


def _repeated(text: str) -> list[str]:
    seen: set[str] = set()
    twice: dict[str, None] = {}
    at = _skip(text, 1)
    while text.startswith('"', at):
        try:
            name, at = _values.raw_decode(text, at)
            _, at = _values.raw_decode(text, _skip(text, _skip(text, at) + 1))
        except (JSONDecodeError, RecursionError):
            break
        if name in seen and len(twice) < MOST_FOUND:
            twice[name] = None
        seen.add(name)
        at = _skip(text, _skip(text, at) + 1)
    return list(twice)


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] in _BLANK and at < len(text):
        at += 1
    return at
