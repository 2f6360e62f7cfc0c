"""Finding secrets in text: URLs, forms, multipart, and what is no whole JSON or no JSON at all.

Each function gives the text back with the values of the names that `named` picks replaced by what
`put` makes of them; everything else stays as it is.  What cannot be taken apart for certain has too
much replaced rather than too little.  All of them take time linear in the text; given its spots,
they look at these only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias
from urllib.parse import unquote, unquote_plus

from mcp_tap.core.redact_spots import Spots
from mcp_tap.core.wire import loads

Named: TypeAlias = Callable[[str], bool]
Put: TypeAlias = Callable[[str], str]
Look: TypeAlias = Callable[[str], Spots | None]
_Edges: TypeAlias = tuple[re.Pattern[str], re.Pattern[str]]
"""What reaches up to the last edge, and what has none."""

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
_NAME: Final = r"[\w%+.\-]{1,64}+(?:\[\w{0,64}+\]){0,4}+"
_FORM: Final = re.compile(rf"{_NAME}=[^&\r\n]*+(?:&(?:{_NAME}=[^&\r\n]*+)?)*+")
_PAIR: Final = re.compile(rf"(?<![\w%+.\-])({_NAME})=([^&\s\"'<>;,]++)")
_FIELD_EDGES: Final[_Edges] = re.compile(r"(?s).*&"), re.compile(r"[^&]*+")
_PAIR_EDGES: Final[_Edges] = (
    re.compile(r"(?s).*[&\s\"'<>;,]"),
    re.compile(r"[^&\s\"'<>;,]*+"),
)
_NEAR: Final = 256
"""Characters before a spot that are looked at for an edge at first."""
_KEY_END: Final = re.compile(r'"\s*+:')
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


def cookies(text: str, put: Put, *, every: bool) -> str:
    """Replace what cookies hold, or only the first, where the rest are attributes of it."""
    parts = text.split(";")
    for index, part in enumerate(parts if every else parts[:1]):
        name, equals, value = part.partition("=")
        parts[index] = name + equals + put(value) if equals else put(name)
    return ";".join(parts)


def anything(text: str, member: Named, field: Named | None, put: Put, look: Look) -> str:
    """Replace members, and parts and fields of forms, in what may be all of that.

    Args:
        text: it.
        member: picks the names of members.
        field: picks those of parts and fields; None: the text has none.
        put: makes what stands for a value.
        look: gives the spots of a text, if only these are to be looked at.
    """
    spots = look(text)
    changed = members(text, member, put, spots)
    if field is None or not (spots is None or spots.pairs or spots.parts):
        return changed
    for replaced in (multipart, pairs):
        if changed != text:
            text, spots = changed, look(changed)
        changed = replaced(text, field, put, spots)
    return changed


def form(text: str, named: Named, put: Put, spots: Spots | None = None) -> str:
    """Replace fields of a form post."""

    def fields(piece: str) -> str:
        return "&".join(parameter(part, named, put) for part in piece.split("&"))

    return fields(text) if spots is None else _around(spots.pairs, text, _FIELD_EDGES, fields)


def pairs(text: str, named: Named, put: Put, spots: Spots | None = None) -> str:
    """Replace what looks like a field of a form, in a text that may be one."""
    if "=" not in text or not (spots is None or spots.pairs):
        return text
    body = text.rstrip()
    if _FORM.fullmatch(body):
        return form(body, named, put, spots) + text[len(body) :]

    def fields(piece: str) -> str:
        return _PAIR.sub(lambda found: parameter(found[0], named, put), piece)

    return fields(text) if spots is None else _around(spots.pairs, text, _PAIR_EDGES, fields)


def _around(
    spots: Sequence[tuple[int, int]], text: str, edges: _Edges, change: Callable[[str], str]
) -> str:
    """Change the pieces that spots are in, which end at edges."""
    before, inside = edges
    out: list[str] = []
    done = 0
    for spot, end in spots:
        if end > done:
            start = _edge(text, done, max(spot, done), before)
            stop = inside.match(text, end).end()  # type: ignore[union-attr]  # it may be empty
            out += text[done:start], change(text[start:stop])
            done = stop
    return "".join(out) + text[done:]


def _edge(text: str, low: int, at: int, before: re.Pattern[str]) -> int:
    """Give where the piece begins that something is in, not before `low`."""
    reach = _NEAR
    while True:
        start = max(low, at - reach)
        found = before.match(text, start, at)
        if found is not None or start == low:
            return found.end() if found is not None else low
        reach *= 4


def multipart(text: str, named: Named, put: Put, spots: Spots | None = None) -> str:
    """Replace parts of multipart/form-data."""
    if not (spots is None or spots.parts):
        return text
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


def members(text: str, named: Named, put: Put, spots: Spots | None = None) -> str:
    """Replace what looks like a member of an object.

    In broken JSON the quote that ends a string may be the one that begins the next, so what is no
    name is looked at once more from its last quote on.
    """
    out: list[str] = []
    done = 0
    quote = _quotes(text) if spots is None else _quotes_at(text, spots.keys)
    at = quote(0)
    while at >= 0 and (key := _STRING.match(text, at)) is not None:
        if key[2] is None:
            at = quote(key.end() - 1)
            continue
        at = key.end()
        value = _VALUE.match(text, at)
        if value is None or not named(_unescaped(key[1])):
            at = quote(at)
            continue
        out.append(text[done:at])
        done = value.end()
        if value.lastgroup == "string":
            out.append('"' + put(_unescaped(value["string"])))
        elif value[0] in ("null", "true", "false"):
            out.append(value[0])
        else:
            out.append('"' + put(value[0]) + '"')
        at = quote(done)
    return "".join(out) + text[done:]


def _quotes(text: str) -> Callable[[int], int]:
    """Give what finds the next quote from a place on."""
    return lambda at: text.find('"', at)


def _quotes_at(text: str, keys: Sequence[int]) -> Callable[[int], int]:
    """Give what finds the next quote that may come to begin a key, from a place on.

    Reading quote by quote would come to each quote but escaped ones and those that end a key.  So
    of a quote that may be escaped it has to be read what comes before it, from one that is neither.
    """
    waiting = iter(keys)
    key, sure = -1, 0

    def quote(at: int) -> int:
        nonlocal key, sure
        while key < at:
            sure = key = next(waiting, len(text))
            while sure > at and (text[sure - 1] == "\\" or _KEY_END.match(text, sure)):
                sure = text.rfind('"', at, sure)
        return text.find('"', max(at, sure)) if key < len(text) else -1

    return quote


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
