"""Names that stand twice in one JSON object: parsers keep the last one and say nothing."""

from __future__ import annotations

from json import JSONDecodeError, JSONDecoder
from typing import Final

from msgspec import Raw, Struct
from msgspec.json import Decoder
from msgspec.json import format as reformat

from mcp_tap.core.records import Payload

MOST_FOUND: Final = 100
"""Names reported of one object."""
MOST_NAMES: Final = 10_000
"""Names looked at of one object."""
MOST_READ: Final = 256 << 10
"""Bytes looked at of one object, where they do show names twice."""


class _Params(Struct, frozen=True):
    inputResponses: Raw = Raw(b"")  # noqa: N815 (as on the wire)
    inputRequests: Raw = Raw(b"")  # noqa: N815


class _Result(Struct, frozen=True):
    inputRequests: Raw = Raw(b"")  # noqa: N815 (as on the wire)


class _Envelope(Struct):
    params: _Params = _Params()
    result: _Result = _Result()


_envelopes: Final = Decoder(_Envelope)
_maps: Final = Decoder(dict[str, Raw])
_values: Final = JSONDecoder()


def repeated(record: Payload, name: str) -> list[str]:
    """Give the names that `inputRequests` or `inputResponses` of a message has more than once.

    Reads the bytes, not the value: that has each name once.  Only the names of the map itself
    count, not those of the objects in it.

    Args:
        record: the message.
        name: which of the two.
    """
    try:
        found = _envelopes.decode(record.payload())
        asked = found.result.inputRequests or found.params.inputRequests
        members = asked if name == "inputRequests" else found.params.inputResponses
        raw = reformat(bytes(members), indent=-1)
        return [] if _is_whole(raw) else _repeated(raw[:MOST_READ].decode(errors="replace"))
    except (ValueError, RecursionError):
        return []


def _is_whole(raw: bytes) -> bool:
    """Tell by its length alone that nothing of an object got lost in parsing; mostly it tells.

    Args:
        raw: the object, without blanks.
    """
    members = _maps.decode(raw)
    if not members:
        return True
    names = "".join(members)
    if "\\" in names or '"' in names:
        return False
    signs = 4 * len(members) + 1
    return len(raw) == signs + len(names.encode()) + sum(len(bytes(m)) for m in members.values())


def _repeated(text: str) -> list[str]:
    seen: set[str] = set()
    twice: dict[str, None] = {}
    at = 1
    while text.startswith('"', at) and len(seen) < MOST_NAMES:
        try:
            name, at = _values.raw_decode(text, at)
            _, at = _values.raw_decode(text, at + 1)
        except (JSONDecodeError, RecursionError):
            break
        if name in seen and len(twice) < MOST_FOUND:
            twice[name] = None
        seen.add(name)
        at += 1
    return list(twice)
