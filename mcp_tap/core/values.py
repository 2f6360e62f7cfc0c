"""Comparing JSON values that strangers wrote: no recursion, no surprises from Python's `==`."""

from __future__ import annotations

import re
from hashlib import blake2b
from math import isinf
from typing import Any, Final

import msgspec

from mcp_tap.core.wire import dumps

SHORT: Final = 64
"""Characters up to which a text is its own dictionary key."""

_FRACTION: Final = re.compile(rb"[0-9][.eE][0-9+-]")
"""What is in a number that may be a whole one written otherwise, and perhaps in a text."""
_sorting: Final = msgspec.json.Encoder(order="sorted")


def same_json(one: Any, other: Any) -> bool:
    """Compare as JSON: key order is free, 1 equals 1.0, true is not 1."""
    pairs = [(one, other)]
    while pairs:
        a, b = pairs.pop()
        if a is b:
            continue
        kind = type(a)
        if kind is dict:
            if type(b) is not dict or len(a) != len(b):
                return False
            for key, value in a.items():
                if key not in b:
                    return False
                pairs.append((value, b[key]))
        elif kind is list:
            if type(b) is not list or len(a) != len(b):
                return False
            pairs.extend(zip(a, b, strict=True))
        elif kind is bool or type(b) is bool or a != b:
            return False
    return True


def same_arguments(one: Any, other: Any) -> bool:
    """Compare arguments; leaving them out is the same as an empty object."""
    return same_json({} if one is None else one, {} if other is None else other)


def same_id(one: Any, other: Any) -> bool:
    """Compare JSON-RPC ids: 1, "1" and true are three different ones, 1 and 1.0 the same."""
    return same_json(one, other)


def text_of(value: Any) -> str:
    """Give a text for any JSON value; a string stands for itself."""
    if type(value) is str:
        return value
    if type(value) is int:
        return str(value)
    try:
        return dumps(value).decode(errors="replace")
    except (ValueError, TypeError, RecursionError):
        return "?"


def id_key(value: Any) -> tuple[bool, str]:
    """Make a dictionary key of a JSON-RPC id, short however long that is; `1` and `"1"` are two."""
    if type(value) is float and value.is_integer():
        value = int(value)
    text = text_of(value)
    if len(text) > SHORT:
        text = blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()
    return type(value) is str, text


def digest(value: Any, *, whole: bool = False) -> bytes | None:
    """Sum up a JSON value: equal ones, as `same_json` has it, have equal sums.

    None where that cannot be done: a text no encoding can write, or one thing deep inside another.

    Args:
        value: a JSON value, or structs that stand for one.
        whole: numbers without fraction are integers in it already (`whole_number`); of structs
            they have to be.
    """
    try:
        data = _sorting.encode(value)
        if not whole and _FRACTION.search(data) is not None:
            data = _sorting.encode(_whole(value))
    except (RecursionError, ValueError, TypeError, OverflowError):
        return None
    return blake2b(data, digest_size=16).digest()


def whole_number(text: str) -> int | float:
    """Read a number that is not written as an integer, and may be one; for a decoder.

    Raises:
        ValueError: it is none, or too large.
    """
    number = float(text)
    if number.is_integer():
        return int(number)
    if isinf(number):
        raise ValueError("number out of range")
    return number


def _whole(value: Any) -> Any:
    """Write numbers without fraction as integers."""
    if type(value) is float:
        return int(value) if value.is_integer() else value
    if type(value) is list:
        return [_whole(member) for member in value]
    if type(value) is dict:
        return {name: _whole(member) for name, member in value.items()}
    return value


def short(text: str) -> str | bytes:
    """Make a dictionary key of a text of any length; up to `SHORT` it stands for itself."""
    if len(text) <= SHORT:
        return text
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
