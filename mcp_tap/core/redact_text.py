"""Finding secrets in text: URLs, forms, multipart, and what is no whole JSON or no JSON at all.

Each function gives the text back with the values of the names that `named` picks replaced by what
`put` makes of them; everything else stays as it is.  What cannot be taken apart for certain has too
much replaced rather than too little.  All of them take time linear in the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias
from urllib.parse import unquote, unquote_plus

from mcp_tap.core.wire import loads

Named: TypeAlias = Callable[[str], bool]
Put: TypeAlias = Callable[[str], str]

MARK: Final = "mcp-tap:"
"""Starts every masked value."""
MARKED: Final = re.compile(f"({MARK}[0-9a-f]{{16}})")

PLAIN_PATH: Final = re.compile(r"/[^?&;#@]*")
"""A request target in which there is no parameter and no user."""
_SEPARATORS: Final = re.compile(r"([?&;#])")
_LINK_SEPARATORS: Final = re.compile(r"([?&;#<>])")
_ENCODED_SEPARATORS: Final = re.compile(r"(?i)(%3f|%26|%3b|%23)")
_ENCODED_EQUALS: Final = re.compile(r"(?i)(%3d)")
_USERINFO: Final = re.compile(r"(?<=//)([^/?#\s]*)@")
_STRING: Final = re.compile(r'(?s)"((?:[^"\\]|\\.)*+)"(\s*+:\s*+)?')
_VALUE: Final = re.compile(
    r'(?s)"(?P<string>(?:[^"\\]|\\.)*+)|(?P<bare>[^\s,{}\[\]"]+)|(?P<rest>.+)'
)
"""A member's value in what is not, or not yet, JSON; of an object or array nobody knows the end."""
_NAME: Final = r"[\w%+.\-]{1,64}(?:\[\w{0,64}\]){0,4}"
_FORM: Final = re.compile(rf"{_NAME}=[^&\r\n]*+(?:&(?:{_NAME}=[^&\r\n]*+)?)*+")
_PAIR: Final = re.compile(rf"(?<![\w%+.\-])({_NAME})=([^&\s\"'<>;,]++)")
_PART: Final = re.compile(
    r"(?i)content-disposition:([^\r\n]{0,1000}+)\r?\n(?:[^\r\n]{1,1000}+\r?\n){0,16}+\r?\n"
)
_PART_NAME: Final = re.compile(r"(?i)\bname=(?:\"([^\"]*+)|([^\s;\"]++))")
_PART_END: Final = re.compile(r"\r?\n--|\Z")
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_MARKS: Final = (
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


def url(text: str, named: Named, put: Put, *, link: bool = False) -> str:
    """Replace parameters in a query string or a fragment; `link`: URLs stand in `<` and `>`."""
    pieces = (_LINK_SEPARATORS if link else _SEPARATORS).split(text)
    for index in range(2, len(pieces), 2):
        pieces[index] = parameter(pieces[index], named, put)
    return "".join(pieces)


def userinfo(text: str, put: Put) -> str:
    """Replace the password of a URL, or its user where there is no password."""

    def masked(found: re.Match[str]) -> str:
        user, colon, password = found[1].partition(":")
        if MARKED.fullmatch(found[1]) or not (password or user):
            return found[0]
        if colon:
            return f"{user}:{put(unquote(password))}@" if password else found[0]
        return put(unquote(user)) + "@"

    return _USERINFO.sub(masked, text) if "@" in text else text


def parameter(part: str, named: Named, put: Put) -> str:
    """Replace the value of `name=value`, or what is a parameter of a URL that is the value."""
    name, equals, value = part.partition("=")
    if not value:
        return part
    if _picked(name, named):
        return name + equals + put(unquote_plus(value))
    if "%3" not in value:
        return part
    pieces = _ENCODED_SEPARATORS.split(value)
    for index in range(0, len(pieces), 2):
        inner, *rest = _ENCODED_EQUALS.split(pieces[index], 1)
        if len(rest) == 2 and rest[1] and _picked(unquote_plus(inner), named):
            pieces[index] = inner + rest[0] + put(unquote_plus(unquote_plus(rest[1])))
    return name + equals + "".join(pieces)


def _picked(name: str, named: Named) -> bool:
    """Tell whether `named` picks a parameter's name, or one within it: `token[]`, `a[token]`."""
    plain = unquote_plus(name)
    if "[" not in plain:
        return named(plain.strip())
    return any(named(part.strip("] ")) for part in plain.split("["))


def form(text: str, named: Named, put: Put) -> str:
    """Replace fields of a form post."""
    return "&".join(parameter(part, named, put) for part in text.split("&"))


def pairs(text: str, named: Named, put: Put) -> str:
    """Replace what looks like a field of a form, in a text that may be one."""
    if "=" not in text:
        return text
    body = text.rstrip()
    if _FORM.fullmatch(body):
        return form(body, named, put) + text[len(body) :]
    return _PAIR.sub(lambda found: parameter(found[0], named, put), text)


def multipart(text: str, named: Named, put: Put) -> str:
    """Replace parts of multipart/form-data."""
    out: list[str] = []
    done = 0
    while (part := _PART.search(text, done)) is not None:
        out.append(text[done : part.end()])
        done = part.end()
        name = _PART_NAME.search(part[1])
        if name and named(name[1] or name[2] or ""):
            end = _PART_END.search(text, done)
            stop = end.start() if end else len(text)
            if stop > done:
                out.append(put(text[done:stop]))
            done = stop
    return "".join(out) + text[done:]


def members(text: str, named: Named, put: Put) -> str:
    """Replace what looks like a member of an object.

    In broken JSON the quote that ends a string may be the one that begins the next, so what is no
    name is looked at once more from its last quote on.
    """
    out: list[str] = []
    done = 0
    at = text.find('"')
    while at >= 0 and (key := _STRING.match(text, at)) is not None:
        if key[2] is None:
            at = key.end() - 1
            continue
        at = key.end()
        value = _VALUE.match(text, at)
        if value is None or not named(_unescaped(key[1])):
            at = text.find('"', at)
            continue
        out.append(text[done:at])
        done = value.end()
        if value.lastgroup == "string":
            out.append('"' + put(_unescaped(value["string"])))
        elif value[0] in ("null", "true", "false"):
            out.append(value[0])
        else:
            out.append('"' + put(value[0]) + '"')
        at = text.find('"', done)
    return "".join(out) + text[done:]


def encodings(payload: bytes) -> list[tuple[str, str, str]]:
    """Give encodings to look at a payload in, with what to do on reading and writing errors."""
    found = [("utf-8", "surrogateescape", "surrogateescape")]
    if wide := _wide(payload):
        found.append((wide, "replace", "surrogatepass"))
    return found


def _wide(payload: bytes) -> str:
    """Name the encoding of a text whose characters have more than one byte each."""
    for mark, name in _MARKS:
        if payload.startswith(mark):
            return name
    start = payload[:64]
    if start.count(0) * 4 < len(start) or not start:
        return ""
    return json.detect_encoding(payload).removesuffix("utf-8").removesuffix("utf-8-sig")


def opaque(payload: bytes) -> bool:
    """Tell whether this is no text: compressed, say, or encrypted."""
    if payload[:64].count(0) * 4 >= len(payload[:64]) and _wide(payload):
        return False
    try:
        payload.decode()
    except UnicodeDecodeError as error:
        if error.start >= len(payload) - 3 and error.start:
            return False  # cut in the middle of a character
        high = sum(byte > 0x7F for byte in payload[:4096])
        return bool(_CONTROL.search(payload)) or high * 8 > min(len(payload), 4096)
    return False


def ambiguous(payload: bytes) -> bool:
    """Tell whether JSON has a name twice in one object, so that a parser leaves something out."""
    twice = False

    def hook(found: list[tuple[str, Any]]) -> None:
        nonlocal twice
        twice = twice or len({name for name, _ in found}) < len(found)

    try:
        json.loads(payload, object_pairs_hook=hook)
    except ValueError:  # a number too long for it, say: nobody can tell
        return True
    return twice


def _unescaped(text: str) -> str:
    """Read the inside of a JSON string, as far as it is one."""
    try:
        return str(loads(f'"{text}"')) if "\\" in text else text
    except ValueError:
        return text
