"""The form of header values that repeat a string: plain, or in Base64 between two marks."""

from __future__ import annotations

from typing import Any, TypeAlias

from mcp_tap.core.facts.message import is_masked
from mcp_tap.core.mirrored import decoded, is_encoded, is_plain
from mcp_tap.rules.base import Hit

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


def _is_legal(text: str) -> bool:
    """Tell whether a value that has arrived plainly was allowed to.

    A tab within is one of the characters a value may have, and a control character as well: where
    it did no harm, it is let pass.
    """
    return is_plain(text.replace("\t", " "))
