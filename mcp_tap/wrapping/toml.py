"""TOML, with the place of every value.

`tomllib` reads the file and refuses what is no TOML; what is left for the walk over its statements
is to know where names and values stand, and that only has to understand files that are sound.
Numbers with a fraction are bytes, as they stand: so each is equal to itself, `nan` too.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any, Final

from mcp_tap.answers import toml as writing
from mcp_tap.wrapping.notation import Item, Items, Member, Path, Unreadable, line_of

_BOM: Final = b"\xef\xbb\xbf"
_TRIVIA: Final = re.compile(rb"(?:[ \t\r\n]++|#[^\n]*+)*+")
_BLANK: Final = re.compile(rb"[ \t]*+")
_PART: Final = re.compile(rb"""[ \t]*+("(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'|[A-Za-z0-9_-]++)[ \t]*+""")
_STRING: Final = re.compile(
    rb'"""(?:[^"\\]|\\.|"(?!""))*+"{3,5}'
    rb"|'''(?:[^']|'(?!''))*+'{3,5}"
    rb'|"(?:[^"\\\n]|\\.)*+"'
    rb"|'[^'\n]*+'",
    re.DOTALL,
)
_SCALAR: Final = re.compile(rb"[^,\]}#\r\n]+")


class Toml:
    """A file of TOML."""

    assign = b" = "

    def __init__(self, data: bytes) -> None:
        """Read it.

        Raises:
            Unreadable: it is no TOML.
        """
        self.data = data
        start = 3 if data.startswith(_BOM) else 0
        try:
            self.value: Any = tomllib.loads(data[start:].decode(), parse_float=str.encode)
            self._tables: dict[Path, dict[str, Member]] = {}
            self._lists: dict[int, Items] = {}
            self._newline = b"\r\n" if b"\r\n" in data else b"\n"
            self._walk(start)
        except UnicodeDecodeError as error:
            line = line_of(data, start + error.start)
            raise Unreadable(f"line {line}: it is not UTF-8") from None
        except RecursionError:
            raise Unreadable("it is nested too deep") from None
        except ValueError as error:
            raise Unreadable(str(error)) from None

    def members(self, path: Path) -> Mapping[str, Member]:
        """Give the members of the table at `path`, but for tables under a heading of their own."""
        return self._tables.get(path, {})

    def items(self, member: Member) -> Items | None:
        """Give the items of an array."""
        return self._lists.get(member.start)

    def token(self, text: str) -> bytes:
        """Write a string."""
        return writing.text(text).encode()

    def name(self, name: str) -> bytes:
        """Write a key."""
        return writing.key(name).encode()

    def _walk(self, at: int) -> None:
        """Note every member from here on."""
        data, first, arrays = self.data, at, 0
        table: Path = ()
        while (at := _after(_TRIVIA, data, at)) < len(data):
            if data.startswith(b"[", at):
                double = data.startswith(b"[[", at)
                table, at, _ = self._key(at + 1 + double)
                if double:
                    arrays += 1
                    table = (*table, f"[{arrays}]")
                at += 1 + double
                continue
            at = self._member(at, table, max(first, data.rfind(b"\n", 0, at) + 1))

    def _member(self, at: int, table: Path, line: int | None) -> int:
        """Note the member whose name begins here, and give the place behind its value.

        `line` is where its line begins; None in an inline table.
        """
        names, at, key = self._key(at)
        path = (*table, *names)
        start = _after(_BLANK, self.data, at + 1)
        end = self._value(start, path)
        glue = b", " if line is None else self._newline + self.data[line:key]
        self._tables.setdefault(path[:-1], {})[path[-1]] = Member(key, start, end, glue)
        return end

    def _key(self, at: int) -> tuple[Path, int, int]:
        """Read a dotted key: its names, the place behind it, and where the last name stands."""
        names: list[str] = []
        while True:
            part = _PART.match(self.data, at)
            assert part is not None  # tomllib has seen the key
            names += tomllib.loads(f"{part[1].decode()} = 0")
            if not self.data.startswith(b".", part.end()):
                return tuple(names), part.end(), part.start(1)
            at = part.end() + 1

    def _value(self, at: int, path: Path) -> int:
        data = self.data
        if data.startswith(b"[", at):
            return self._array(at, path)
        if data.startswith(b"{", at):
            return self._inline(at, path)
        string = _STRING.match(data, at)
        if string is not None:
            return string.end()
        scalar = _SCALAR.match(data, at)
        assert scalar is not None  # tomllib has seen the value
        return at + len(scalar[0].rstrip(b" \t"))

    def _array(self, start: int, path: Path) -> int:
        items: list[Item] = []
        at = _after(_TRIVIA, self.data, start + 1)
        while not self.data.startswith(b"]", at):
            first, last = at, self._value(at, (*path, f"[{len(items)}]"))
            at = _after(_TRIVIA, self.data, last)
            comma = self.data.startswith(b",", at)
            items.append(Item(first, last, at + 1 if comma else last))
            at = _after(_TRIVIA, self.data, at + comma)
        self._lists[start] = Items(start, at + 1, items)
        return at + 1

    def _inline(self, at: int, path: Path) -> int:
        at = _after(_TRIVIA, self.data, at + 1)
        while not self.data.startswith(b"}", at):
            at = _after(_TRIVIA, self.data, self._member(at, path, None))
            at = _after(_TRIVIA, self.data, at + self.data.startswith(b",", at))
        return at + 1


def _after(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    match = pattern.match(data, at)
    assert match is not None  # each of them matches nothing, too
    return match.end()
