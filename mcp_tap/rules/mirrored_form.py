"""The form of header values that repeat a string: plain, or in Base64 between two marks."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error
from typing import Any, Final, TypeAlias

from mcp_tap.core.facts.message import is_masked
from mcp_tap.rules.base import Hit

OPENING: Final = "=?base64?"
CLOSING: Final = "?="

Reading: TypeAlias = dict[str, list[Hit]]
"""What is wrong, by rule."""


def check(
    found: Reading,
    header: str,
    values: list[str],
    body: Any,
    *,
    path: str = "",
    strict: bool = True,
) -> str | None:
    """Compare values of a header that may be in Base64 with a string of the body.

    What is wrong with the form of a value is put into `found`.

    Args:
        found: what is wrong so far.
        header: its name.
        values: all it has, blanks around them taken off.
        body: the string it repeats; anything else where that is not known.
        path: JSON pointer to that string.
        strict: it must be that string, and be encoded where it cannot travel plainly.

    Returns:
        The first value whose form is right, but which is not the string.
    """
    for value in values:
        if is_masked(value) or (value == body and (not strict or _is_legal(value))):
            continue
        if value != body and is_encoded(value):
            text = decoded(value)
            if text is None:
                words = f"client sent {header} in a Base64 form that cannot be decoded"
                _add(found, "HDR-008", Hit(words, path, header))
            elif strict and text != body:
                return text
        elif not strict:
            continue
        elif not is_plain(body):
            words = f"client sent {header} plainly, although its value needs the Base64 form"
            _add(found, "HDR-007", Hit(words, path, header))
        else:
            return value
    return None


def _add(found: Reading, rule: str, hit: Hit) -> None:
    found.setdefault(rule, []).append(hit)


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


def _is_legal(text: str) -> bool:
    """Tell whether a value that has arrived plainly was allowed to.

    A tab within is one of the characters a value may have, and a control character as well: where
    it did no harm, it is let pass.
    """
    return is_plain(text.replace("\t", " "))


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
