"""What is another value each time though nothing has changed, by the name that switches it off."""

from __future__ import annotations

import re
from typing import Final

from mcp_tap.core import spec
from mcp_tap.replay.compare.said import Steps

TIMESTAMPS: Final = "timestamps"
UUIDS: Final = "uuids"
SERVER_VERSION: Final = "server-version"

NORMALISERS: Final[dict[str, str]] = {
    TIMESTAMPS: "points in time (RFC 3339, HTTP dates), in any text; dates alone are compared",
    UUIDS: "UUIDs, in any text",
    SERVER_VERSION: "the version a server says it has",
}
"""Name -> what counts as equal under it."""

_IN_TEXT: Final = {
    TIMESTAMPS: re.compile(
        r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?"
        r"(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})?"
        r"|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} [A-Z][a-z]{2} [0-9]{4}"
        r" [0-9]{2}:[0-9]{2}:[0-9]{2} GMT"
    ),
    UUIDS: re.compile(r"\b[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\b"),
}
_STAND_IN: Final = "\0"
_SERVERS: Final = frozenset({"serverInfo", spec.META_SERVER})


def without(name: str, text: str) -> str:
    """Put one and the same in the place of everything in a text that a normaliser is for."""
    pattern = _IN_TEXT.get(name)
    return text if pattern is None else pattern.sub(_STAND_IN, text)


def is_server_version(steps: Steps) -> bool:
    """Tell whether a value is the version of a server, by where it stands."""
    return len(steps) > 1 and steps[-1] == "version" and steps[-2] in _SERVERS
