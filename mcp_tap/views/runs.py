"""What a run is called where several are shown, so that two calls #1 are told apart."""

from __future__ import annotations

import re
from typing import Final

from mcp_tap.core.records import Header
from mcp_tap.core.text import cut, pad, safe, width

NARROW: Final = 13
"""Cells the column of names takes at most, where room is short."""

_ID: Final = re.compile(r"\d{8}T\d{6}-(.+)", re.DOTALL)


def run_name(header: Header) -> str:
    """Name a run by its id without the time: `billing-7f3a`, as commands take it for CAPTURE."""
    found = _ID.fullmatch(header.run)
    return safe(found[1] if found else header.run)


def run_words(header: Header) -> str:
    """Give the words in a run's name: its label, else the server's command."""
    if header.label:
        return header.label
    name = run_name(header)
    return name.rpartition("-")[0] or name


def fitted(name: str, cells: int, mark: str = "..") -> str:
    """Make a run's name exactly `cells` wide; its last four letters, which tell, stay."""
    if width(name) <= cells:
        return pad(name, cells)
    front, _, last = name.rpartition("-")
    if not front or width(last) + width(mark) >= cells:
        return pad(name, cells, mark)
    return pad(cut(front, cells - width(last) - 1, mark) + "-" + last, cells)
