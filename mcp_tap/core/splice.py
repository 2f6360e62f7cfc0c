"""Changing single members of JSON without writing the rest anew.

A peer's bytes are its own: number formats, key order, escapes, blanks.  So an edit finds the span
of one member's value in the bytes and replaces just that.  The walk over an object's members is
here; what is inside the values is skipped by the JSON decoder, at its speed.

An object on the way that names a member twice is not edited: readers differ on which one counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec
from msgspec import Raw

from mcp_tap.core.records import deep
from mcp_tap.core.wire import dumps

_members: Final = msgspec.json.Decoder(dict[str, Raw])
_key: Final = msgspec.json.Decoder(str)
_KEY: Final = re.compile(rb'[ \t\r\n]*("(?:[^"\\]|\\.)*+")[ \t\r\n]*:[ \t\r\n]*', re.DOTALL)
_NEXT: Final = re.compile(rb"[ \t\r\n]*([,}])")
_OPEN: Final = re.compile(rb"[ \t\r\n]*\{")
_SPACE: Final = b" \t\r\n"


class Span(NamedTuple):
    """Where a value stands: from its first byte to behind its last."""

    start: int
    end: int


class Edit(NamedTuple):
    """Bytes to put in the place of a span."""

    start: int
    end: int
    token: bytes


class SpliceError(ValueError):
    """The bytes are no JSON object, or name a member twice, so they cannot be edited."""


class Place(NamedTuple):
    """A member: from its key's first byte, over its value, to behind that."""

    key: int
    start: int
    end: int


def members(data: bytes, at: Span | None = None) -> dict[str, Place]:
    """List the members of an object.

    Args:
        data: the JSON text.
        at: where in it the object stands; None: it is the whole text.

    Raises:
        SpliceError: there is no object, or one with a member that is named twice.
    """
    whole = data if at is None else data[at.start : at.end]
    base = 0 if at is None else at.start
    try:
        values = _members.decode(whole)
    except RecursionError:
        try:
            values = deep(_members.decode, whole)
        except ValueError as error:
            raise SpliceError(str(error)) from None
    except ValueError as error:
        raise SpliceError(str(error)) from None
    opening = _OPEN.match(whole)
    if opening is None:
        raise SpliceError("no JSON object")
    found: dict[str, Place] = {}
    here = opening.end()
    for name, raw in values.items():
        key = _KEY.match(whole, here)
        if key is None or _key.decode(key[1]) != name:
            raise SpliceError("a member is named twice")
        start, end = key.end(), key.end() + len(memoryview(raw))
        behind = _NEXT.match(whole, end)
        if behind is None:
            raise SpliceError("a member is named twice")
        found[name] = Place(base + key.start(1), base + start, base + end)
        here = behind.end()
    if whole[here:].strip(_SPACE) not in (b"", b"}"):
        raise SpliceError("a member is named twice")
    return found


def find(data: bytes, *path: str) -> Span | None:
    """Find the value of a member by the names that lead to it; None where there is none.

    Raises:
        SpliceError: an object on the way names a member twice.
    """
    at: Span | None = None
    for name in path:
        if at is not None and data[at.start : at.start + 1] != b"{":
            return None
        place = members(data, at).get(name)
        if place is None:
            return None
        at = Span(place.start, place.end)
    return at


def put(data: bytes, values: dict[str, bytes | None], at: Span | None = None) -> list[Edit]:
    """Make the edits that give members of an object new values.

    Args:
        data: the JSON text.
        values: token of each member's new value; None takes the member out.
        at: where in the text the object stands; None: it is the whole text.

    Raises:
        SpliceError: there is no object, or one with a member that is named twice.
    """
    places = members(data, at)
    names = list(places)
    edits: list[Edit] = []
    gone = {name for name, token in values.items() if token is None and name in places}
    left = [name for name in names if name not in gone]
    for name in gone:
        index = names.index(name)
        edits.append(_without(places, names, index, bool(left and names.index(left[0]) < index)))
    added: list[bytes] = []
    for name, token in values.items():
        if token is None:
            continue
        place = places.get(name)
        if place is not None:
            edits.append(Edit(place.start, place.end, token))
        else:
            added.append(dumps(name) + b":" + token)
    if added:
        before = b"," if left else b""
        end = _closing(data, at)
        edits.append(Edit(end, end, before + b",".join(added)))
    return edits


def spliced(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Carry out edits whose spans do not overlap."""
    out: list[bytes] = []
    here = 0
    for start, end, token in sorted(edits):
        out += (data[here:start], token)
        here = end
    out.append(data[here:])
    return b"".join(out)


def _closing(data: bytes, at: Span | None) -> int:
    end = len(data.rstrip(_SPACE)) if at is None else at.end
    return end - 1


def _without(places: dict[str, Place], names: list[str], index: int, follows: bool) -> Edit:  # noqa: FBT001
    """Take a member out with the comma before it, or behind it where nothing stays before it."""
    place = places[names[index]]
    if follows:
        return Edit(places[names[index - 1]].end, place.end, b"")
    if index + 1 < len(names):
        return Edit(place.key, places[names[index + 1]].key, b"")
    return Edit(place.key, place.end, b"")
