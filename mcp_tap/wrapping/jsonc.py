"""JSON as editors write it: with comments, a comma behind the last item, a byte order mark.

All of that is blanked out, byte for byte, so that what remains is JSON with every value where it
stood; `core.splice` finds the spans.  Numbers with a fraction are bytes, as they stand: none is out
of range.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Raw

from mcp_tap.core import splice
from mcp_tap.core.splice import Place, Span, SpliceError
from mcp_tap.core.wire import dumps
from mcp_tap.wrapping.notation import Item, Items, Member, Path, Unreadable, gap, line_of

_STRING: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_COMMENT: Final = re.compile(_STRING + rb"|(//[^\r\n]*+|/\*.*?\*/)", re.DOTALL)
_COMMA: Final = re.compile(_STRING + rb"|(,)(?=[ \t\r\n]*+[\]}])", re.DOTALL)
_SPACE: Final = re.compile(rb"[ \t\r\n]*")
_COMMA_BEHIND: Final = re.compile(rb"[ \t\r\n]*,")
_BLANKS: Final = b" \t\r\n"
_BOM: Final = b"\xef\xbb\xbf"
_AT: Final = re.compile(r"\(byte (\d+)\)")
_any: Final = msgspec.json.Decoder(float_hook=str.encode)
_list: Final = msgspec.json.Decoder(list[Raw])


class Jsonc:
    """A file of JSON, perhaps with comments."""

    assign = b": "

    def __init__(self, data: bytes) -> None:
        """Read it.

        Raises:
            Unreadable: it is no JSON.
        """
        self.data = data
        self._spans: dict[Path, tuple[Span, dict[str, Place]]] = {}
        try:
            data.decode()
        except UnicodeDecodeError as error:
            raise Unreadable(f"line {line_of(data, error.start)}: it is not UTF-8") from None
        marked = data if data[:3] != _BOM else b"   " + data[3:]
        self._commas = _COMMENT.sub(_blank, marked)
        self._plain = _COMMA.sub(_blank, self._commas)
        if not self._plain.strip(_BLANKS):
            self.value: Any = {}
            return
        try:
            self.value = _any.decode(self._plain)
        except RecursionError:
            raise Unreadable("it is nested too deep") from None
        except ValueError as error:
            raise Unreadable(_words(data, str(error))) from None

    def members(self, path: Path) -> Mapping[str, Member]:
        """Give the members of the object at `path`."""
        (before, _), places = self._places(path)
        found: dict[str, Member] = {}
        for name, (key, start, end) in places.items():
            blanks = before + len(self._plain[before:key].rstrip(_BLANKS))
            found[name] = Member(key, start, end, b"," + gap(self._plain, blanks, key))
            before = end
        return found

    def items(self, member: Member) -> Items | None:
        """Give the items of a list."""
        _, start, end, _ = member
        try:
            raws = _list.decode(self._plain[start:end])
        except ValueError:
            return None
        found: list[Item] = []
        here = start + 1
        for raw in raws:
            first = _end(_SPACE, self._plain, here)
            last = first + len(memoryview(raw))
            behind = _end(_COMMA_BEHIND, self._commas, last)
            found.append(Item(first, last, behind))
            here = behind
        return Items(start, end, found)

    def token(self, text: str) -> bytes:
        """Write a string."""
        return dumps(text)

    name = token

    def _places(self, path: Path) -> tuple[Span, dict[str, Place]]:
        """Find an object and its members; what was found is kept, since files may be long."""
        if path not in self._spans:
            span = Span(0, len(self._plain))
            if path:
                place = self._places(path[:-1])[1][path[-1]]
                span = Span(place.start, place.end)
            try:
                self._spans[path] = span, splice.members(self._plain, span)
            except SpliceError:
                raise Unreadable(f"{'.'.join(path)} has two members of one name") from None
        return self._spans[path]


def _end(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    """Give the place behind what matches, which may be nothing."""
    match = pattern.match(data, at)
    return at if match is None else match.end()


def _blank(match: re.Match[bytes]) -> bytes:
    found = match[0]
    return found if match[1] is None else re.sub(rb"[^\r\n]", b" ", found)


def _words(data: bytes, said: str) -> str:
    """Say in which line, rather than at which byte."""
    at = _AT.search(said)
    if at is None and "truncated" in said:
        return f"line {line_of(data, len(data.rstrip()))}: it ends in the middle"
    if at is None:
        return said
    why = said[: at.start()].strip().removeprefix("JSON is malformed: ")
    return f"line {line_of(data, int(at[1]))}: {why}"
