"""Whose a request is, and what for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from mcp_tap.core.values import short

if TYPE_CHECKING:
    from mcp_tap.core.facts.flow import Flow
    from mcp_tap.core.facts.message import Message

MOST_NAME: Final = 256
"""Characters of the name of a tool, prompt or resource."""

Place: TypeAlias = tuple[int, str | None, str | None]
"""A client's number, a method, and the tool, prompt or resource it names."""
Who: TypeAlias = tuple[str, str]
"""Kind of a credential that names somebody (`basic`, or `jwt`), and a tag of whom."""


def place_of(message: Message) -> Place:
    """Say whose message it is, and what for."""
    flow = message.flow
    call = flow.call
    if call is None:
        return flow.seen.number, named(message.method), None
    return flow.seen.number, call.method, named(call.name)


def who_of(flow: Flow) -> Who | None:
    """Say whom the credential of a request names; None where it names nobody."""
    head, principal = flow.head, flow.principal
    if head is None or principal is None:
        return None
    for mask in head.masked:
        if mask.principal == principal and mask.tag == flow.credential:
            basic = mask.scheme is not None and mask.scheme.lower() == "basic"
            return "basic" if basic else "jwt", principal
    return None


def named(name: str | None) -> str | None:
    """Keep a name, or of a long one as much as is shown, and what tells it from others."""
    if name is None or len(name) <= MOST_NAME:
        return name
    digest = short(name)
    return f"{name[:MOST_NAME]}..{digest.hex() if isinstance(digest, bytes) else digest}"
