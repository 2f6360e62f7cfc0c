"""Arguments of tool calls that travel in headers as well, and the definitions that ask for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mcp_tap.core.facts.annotations import annotations_in
from mcp_tap.core.facts.message import Message
from mcp_tap.core.text import brief
from mcp_tap.rules.base import Hit, Hits, rule
from mcp_tap.rules.mirrored import reading

_PAGE: Final = "specification/2026-07-28/basic/transports/streamable-http"


@rule(
    "HDR-009",
    severity="error",
    level="must",
    blames="client",
    spec=f"{_PAGE}#client-behavior",
    on="request tools/call",
    transports=("http",),
    steady=True,
)
def param_header_missing(m: Message) -> Hits:
    """A tool call has an argument that must travel in a header as well, and the header is missing.

    The tool's definition marks it with `x-mcp-header`, and the client was shown that definition.
    An argument that is absent or null needs no header.  Where the server has said since that its
    tools changed, this is a note; where the definition was not seen, or is itself invalid, nothing
    is said.
    """
    return reading(m).get("HDR-009")


@rule(
    "HDR-010",
    severity="error",
    level="must",
    blames="client",
    spec=f"{_PAGE}#server-behavior-for-custom-headers",
    on="request tools/call",
    transports=("http",),
    steady=True,
)
def param_header_mismatch(m: Message) -> Hits:
    """A header that repeats an argument of a tool call does not agree with it.

    Texts must be equal, `true` and `false` are in lower case, numbers are compared as numbers, so
    42.0 agrees with 42.  It is also wrong to send the header for an argument that is absent or
    null, and to mark an integer that not every peer reads exactly.  Headers of arguments the tool
    does not mark are not looked at.
    """
    return reading(m).get("HDR-010")


@rule(
    "HDR-011",
    severity="error",
    level="must",
    blames="server",
    spec=f"{_PAGE}#schema-extension",
    on="result tools/list",
    transports=("http",),
)
def x_mcp_header_invalid(m: Message) -> Hits:
    """A tool's definition has an `x-mcp-header` for which clients have to drop the tool.

    It must be a name a header field can have, be there once (letter case aside), and stand on a
    string, integer or boolean that is reached through `properties` alone.  A type that may also be
    null, and one that is not stated, are fine.
    """
    found = annotations_in(m)
    return _invalid(m, found) if found else None


def _invalid(m: Message, found: dict[int, Any]) -> Iterator[Hit]:
    for index, read in found.items():
        for fault in read.faults if read is not None else ():
            name = m.result["tools"][index].get("name") if m.result is not None else None
            words = f"server lists tool {brief(name, 60)} with an invalid x-mcp-header: {fault.why}"
            yield Hit(words, f"/result/tools/{index}/inputSchema{fault.path}", "x-mcp-header")


@rule(
    "HDR-012",
    severity="warning",
    level="must",
    blames="client",
    spec=f"{_PAGE}#schema-extension",
    on="request tools/call",
    transports=("http",),
    steady=True,
)
def invalid_annotated_tool_called(m: Message) -> Hits:
    """A client calls a tool that it has to leave out for an invalid `x-mcp-header`.

    The newest definition it was shown is one of those HDR-011 reports.  Over stdio such a tool may
    be called, and where the tool was not listed in this run nothing is said.
    """
    tool = m.flow.seen.tools.of(m)
    if tool is None or not tool.spoilt:
        return None
    name = brief(m.params.get("name"), 60)
    words = f"client called tool {name}, which it has to leave out for its invalid x-mcp-header"
    return Hit(words, "/params/name", "x-mcp-header")
