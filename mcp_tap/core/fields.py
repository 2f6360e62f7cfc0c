"""Header fields of records, by name."""

from __future__ import annotations

from mcp_tap.core.records import Headers


def header(headers: Headers, wanted: str) -> str | None:
    """Give the first value of a field, however its name is spelt; `wanted` in lower case."""
    for name, value in headers:
        if len(name) == len(wanted) and name.lower() == wanted:
            return value
    return None
