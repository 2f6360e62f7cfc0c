"""What both notations of configuration files, JSONC and TOML, can tell of their bytes.

Nothing is ever written anew: an edit replaces or adds a span, and all other bytes stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

Path = tuple[str, ...]
"""Names that lead from the top of the file to a table."""


class Unreadable(ValueError):
    """The bytes are not in this notation; the text says where and why."""


class Member(NamedTuple):
    """A member of a table: where its name and its value stand."""

    key: int
    start: int
    end: int
    glue: bytes
    """What stands between this member and one that is put behind it."""


class Item(NamedTuple):
    """An item of a list: where it stands, and where what belongs to it (a comma) ends."""

    start: int
    end: int
    behind: int


class Items(NamedTuple):
    """A list: where it stands, brackets included, and its items."""

    start: int
    end: int
    items: list[Item]


class Notation(Protocol):
    """A configuration file that could be read."""

    data: bytes
    value: Any
    """What it all says."""
    assign: bytes
    """What stands between a name and its value."""

    def __init__(self, data: bytes) -> None:
        """Read it.

        Raises:
            Unreadable: it is not in this notation.
        """

    def members(self, path: Path) -> Mapping[str, Member]:
        """Give the members of the table at `path`, which is there.

        Raises:
            Unreadable: one is named twice, on the way or in it.
        """

    def items(self, member: Member) -> Items | None:
        """Give the items of a member's value; None: it is no list."""

    def token(self, text: str) -> bytes:
        """Write a text."""

    def name(self, name: str) -> bytes:
        """Write a member's name."""


def line_of(data: bytes, at: int) -> int:
    """Count the lines to a place; the first is 1."""
    return data.count(b"\n", 0, at) + 1


def gap(data: bytes, start: int, end: int) -> bytes:
    """Give what is to stand before another item like the one at `end`: its line and indent.

    `start` is where the blanks before that item begin; where it is on the same line, one blank.
    """
    at = data.rfind(b"\n", start, end)
    if at < 0 or data[at + 1 : end].strip(b" \t"):
        return b" "
    return data[at - (data[at - 1 : at] == b"\r") : end]
