"""Listings, and the tools a server had: compared by name, since their order says nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from mcp_tap.replay.compare.difference import Difference
from mcp_tap.replay.compare.values import Rules

LISTED: Final[dict[str, tuple[str, str]]] = {
    "tools/list": ("tools", "name"),
    "prompts/list": ("prompts", "name"),
    "resources/list": ("resources", "uri"),
    "resources/templates/list": ("resourceTemplates", "uriTemplate"),
}
"""Method -> the member of its result that lists, and what tells the listed apart."""


def by_name(result: dict[str, Any], member: str, name: str) -> dict[str, Any]:
    """Put the entries of a listing under their names; as it is where they have no sound ones."""
    entries = result.get(member)
    if type(entries) is not list:
        return result
    named = {e[name]: e for e in entries if type(e) is dict and type(e.get(name)) is str}
    return result | {member: named} if len(named) == len(entries) else result


def tools_of(results: Iterable[tuple[bool, Any]]) -> dict[str, Any] | None:
    """Collect the tools of a run: those of its last whole listing, else all that were listed.

    Args:
        results: of each `tools/list`, whether it asked for a first page, and its result.

    Returns:
        Definitions by name; None where no tools were listed.
    """
    known: dict[str, Any] = {}
    last: dict[str, Any] | None = None
    listing: dict[str, Any] | None = None
    seen = False
    for first, result in results:
        tools = result.get("tools") if type(result) is dict else None
        if type(tools) is not list:
            continue
        seen = True
        page = {t["name"]: t for t in tools if type(t) is dict and type(t.get("name")) is str}
        known |= page
        if first:
            listing = {}
        if listing is not None:
            listing |= page
            if result.get("nextCursor") is None:
                last, listing = listing, None
    if not seen:
        return None
    return known if last is None else last


def compare_tools(
    a: Mapping[str, Any] | None, b: Mapping[str, Any] | None, rules: Rules
) -> Iterator[Difference]:
    """Go through what differs between the tools of two runs, definitions field by field.

    Nothing is told where one of them listed no tools.  Places begin with `/tools/NAME`.
    """
    if a is None or b is None:
        return
    for spot in rules.spots(dict(a), dict(b), ("tools",)):
        yield Difference(
            what="tool",
            change=spot.change,
            name=str(spot.steps[1]),
            at=spot.at,
            left=spot.left,
            right=spot.right,
            note=spot.note,
        )
