"""What can still be told of a message of which only the beginning is kept.

A payload past the record cap has no value, but a call must not vanish for that: the first bytes
mostly say what kind of message it is, and in the stateless era the headers repeat the method.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error
from json import JSONDecodeError, JSONDecoder
from typing import Any

from mcp_tap.core.records import Payload

MOST_PEEKED = 64 << 10
_BLANK = " \t\r\n"
_decoder = JSONDecoder()


def peek(record: Payload, depth: int = 3) -> dict[str, Any]:
    """Read the members of a cut JSON object, as far as they go; `{}` when there are none.

    Objects are entered up to `depth`; what cannot be finished is left out, or shows as `{}`.
    """
    text = record.payload()[:MOST_PEEKED].decode(errors="replace")
    start = len(text) - len(text.lstrip(_BLANK))
    if not text.startswith("{", start):
        return {}
    return _members(text, start, depth)[0]


def named(header: str | None) -> str | None:
    """Undo the Base64 form of a mirrored header value."""
    if header is None or not (header.startswith("=?base64?") and header.endswith("?=")):
        return header
    try:
        return b64decode(header[9:-2], validate=True).decode()
    except (Error, ValueError):
        return header


def _members(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    """Read from an opening brace on; the position after the object, or the end of the text."""
    found: dict[str, Any] = {}
    at = _skip(text, at + 1)
    while at < len(text) and text[at] != "}":
        try:
            key, at = _decoder.raw_decode(text, at)
        except (JSONDecodeError, RecursionError):
            return found, len(text)
        at = _skip(text, at)
        if type(key) is not str or not text.startswith(":", at):
            return found, len(text)
        at = _skip(text, at + 1)
        try:
            found[key], at = _decoder.raw_decode(text, at)
        except (JSONDecodeError, RecursionError):
            if text.startswith("{", at):
                found[key] = _members(text, at, depth - 1)[0] if depth > 1 else {}
            elif text.startswith("[", at):
                found[key] = []
            return found, len(text)
        if at >= len(text) and type(found[key]) in (int, float):
            del found[key]  # more digits may follow
        at = _skip(text, at)
        if text.startswith(",", at):
            at = _skip(text, at + 1)
    return found, at + 1


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at
