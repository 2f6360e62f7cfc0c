"""What the HTTP front refuses before the server sees it, as the specification asks of servers.

Sources: 2026-07-28, basic/transports/streamable-http#server-validation; 2025-11-25,
basic/transports#sending-messages-to-the-server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from mcp_tap.bridge.messages import Said
from mcp_tap.core.facts.annotations import Annotations
from mcp_tap.core.mirrored import agrees, argument, decoded, is_encoded, is_plain
from mcp_tap.core.spec import (
    CLIENT_CAPABILITIES,
    HEADER_METHOD,
    HEADER_NAME,
    HEADER_VERSION,
    MAY_ASK,
    META_VERSION,
    NAME_PARAM,
    era_of,
)

JSON: Final = "application/json"
STREAM: Final = "text/event-stream"


class Fields(Protocol):
    """Header fields, as aiohttp gives them."""

    def get(self, name: str) -> str | None:
        """Give the first value of a field."""

    def getall(self, name: str, default: Sequence[str], /) -> Sequence[str]:
        """Give all values of a field."""


def accepts(fields: Fields, *kinds: str) -> bool:
    """Tell whether a client takes all these content types."""
    words = ",".join(fields.getall("Accept", ())).lower().split(",")
    taken = {word.partition(";")[0].strip() for word in words}
    if "*/*" in taken:
        return True
    return all(kind in taken or f"{kind.partition('/')[0]}/*" in taken for kind in kinds)


def is_json(fields: Fields) -> bool:
    """Tell whether a body is said to be JSON."""
    return (fields.get("Content-Type") or "").partition(";")[0].strip().lower() == JSON


def is_stateless(said: Said, fields: Fields) -> bool:
    """Tell whether a message is of the stateless era: the message or its header says so."""
    return META_VERSION in said.meta or era_of(fields.get(HEADER_VERSION) or "") == "stateless"


def is_malformed(said: Said) -> bool:
    """Tell whether a stateless request lacks what each must have in `_meta`."""
    return META_VERSION not in said.meta or CLIENT_CAPABILITIES not in said.meta


def mismatch(said: Said, fields: Fields, tools: Mapping[str, Annotations | None]) -> str | None:
    """Say in what the headers of a stateless request are not what its body says; None: in nothing.

    Args:
        said: the request.
        fields: its headers.
        tools: the arguments that travel in headers, of the tools that are known.
    """
    version = said.meta.get(META_VERSION)
    wanted: list[tuple[str, Any]] = [(HEADER_VERSION, version), (HEADER_METHOD, said.method)]
    if said.method in MAY_ASK:
        wanted.append((HEADER_NAME, said.params.get(NAME_PARAM[said.method])))
    for name, value in wanted:
        found = fields.getall(name, ())
        if len(found) != 1:
            if found or type(value) is str:
                return f"the header {name} is {'there twice' if found else 'missing'}"
        elif type(value) is str and not _is(found[0], value, coded=name == HEADER_NAME):
            return f"the header {name} is not what the body says"
    if said.method != "tools/call":
        return None
    tool = tools.get(str(said.params.get("name")))
    for entry in () if tool is None else tool.mirrored:
        value = argument(said.params.get("arguments"), entry.path)
        found = fields.getall(entry.header, ())
        if len(found) > 1 or not _repeats(found, value):
            return f"the header Mcp-Param-{entry.name} is not what the body says"
    return None


def _repeats(found: Sequence[str], value: Any) -> bool:
    if value is None:
        return not found
    if type(value) is str:
        return bool(found) and _is(found[0], value, coded=True)
    if type(value) in (bool, int, float):
        return bool(found) and agrees(found[0], value)
    return True


def _is(field: str, value: str, *, coded: bool) -> bool:
    """Tell whether a field's value is this, plainly or, where that may be, in the Base64 form."""
    if field == value:
        return not coded or is_plain(value.replace("\t", " "))
    return coded and is_encoded(field) and decoded(field) == value
