"""What demo server and client must agree on: names in `_meta`, headers and their encoding.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Any

VERSION = "2026-07-28"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"

NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Method -> the parameter that `Mcp-Name` mirrors."""

_PLAIN = re.compile(r"[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?")
_ENCODED = re.compile(r"=\?base64\?(.*)\?=")


def encode_value(value: str | float) -> str:
    """Write a parameter as a header value; what is no plain ASCII travels as base64."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if _PLAIN.fullmatch(text) and not _ENCODED.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


def decode_value(text: str) -> str:
    """Undo `encode_value`; raises `ValueError` for what it cannot have written."""
    if encoded := _ENCODED.fullmatch(text):
        return base64.b64decode(encoded[1], validate=True).decode()
    if not _PLAIN.fullmatch(text):
        raise ValueError("characters that no header value may have")
    return text


def mirrored(schema: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Find the parameters a tool wants mirrored into `Mcp-Param-*`: header name, path to the value.

    Only chains of `properties` count, as the specification has it.
    """
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for key, sub in properties.items() if isinstance(properties, dict) else ():
        if isinstance(sub, dict):
            if header := sub.get("x-mcp-header"):
                yield f"Mcp-Param-{header}", (key,)
            yield from ((header, (key, *path)) for header, path in mirrored(sub))


def value_at(arguments: Any, path: tuple[str, ...]) -> Any:
    """Read the value at a path of `mirrored`, None where there is none."""
    for key in path:
        arguments = arguments.get(key) if isinstance(arguments, dict) else None
    return arguments
