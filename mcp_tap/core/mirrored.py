"""Values of a body that stand in header fields as well: `Mcp-Name` and `Mcp-Param-*`.

A string travels plainly, or in Base64 between two marks
(2026-07-28, basic/transports/streamable-http#value-encoding).
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error
from decimal import Decimal, InvalidOperation
from typing import Any, Final

OPENING: Final = "=?base64?"
CLOSING: Final = "?="
MOST_DIGITS: Final = 64
_DIGITS: Final = frozenset("0123456789+-.eE")


def is_plain(text: Any) -> bool:
    """Tell whether a string may travel in a header as it is; nothing else may."""
    if type(text) is not str:
        return False
    if not text:
        return True
    if text[0] == " " or text[-1] == " ":
        return False
    if not (text.isascii() and text.isprintable()):
        return False  # a tab inside, too: what lies between may turn it into a blank
    return not (text[:2] == "=?" and text.startswith(OPENING) and text.endswith(CLOSING))


def is_encoded(value: str) -> bool:
    """Tell whether a header value claims to be in Base64, rightly or not."""
    return value[:2] == "=?" and value[: len(OPENING)].lower() == OPENING


def decoded(value: str) -> str | None:
    """Undo the Base64 form of a header value; None where it is damaged."""
    start, end = len(OPENING), -len(CLOSING)
    if not (value.startswith(OPENING) and value.endswith(CLOSING) and len(value) >= start - end):
        return None
    try:
        return b64decode(value[start:end], validate=True).decode()
    except (Error, ValueError):
        return None


def encoded(value: str | float) -> str:
    """Write a value as a header has it."""
    text = str(value).lower() if type(value) is bool else str(value)
    if is_plain(text):
        return text
    return OPENING + b64encode(text.encode("utf-8", "surrogatepass")).decode() + CLOSING


def argument(arguments: Any, path: tuple[str, ...]) -> Any:
    """Give the value at a path; None where there is none."""
    for step in path:
        if type(arguments) is not dict:
            return None
        arguments = arguments.get(step)
    return arguments


def agrees(header: str, value: Any) -> bool:
    """Tell whether a header value is this number or boolean."""
    text = decoded(header) if is_encoded(header) else header
    if text is None:
        return False
    if type(value) is bool:
        return text == ("true" if value else "false")
    if len(text) > MOST_DIGITS or not _DIGITS.issuperset(text):
        return False
    try:
        return Decimal(text) == Decimal(repr(value))
    except (InvalidOperation, ValueError):
        return False
