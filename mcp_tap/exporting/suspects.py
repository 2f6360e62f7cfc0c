"""What in a capture looks like a secret: where it stands and of what kind, never the value.

Rules of this file:

- Values of well-known make (`rules.shapes`) count wherever they stand; what is named like a secret
  counts where its value looks like one, too.
- What is masked is no secret any more; what only stands for one (`****`, `<token>`) never was.
- Schemas and tool listings name secrets without holding any, so a name alone is never enough.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from math import log2
from typing import Any, Final
from urllib.parse import parse_qsl

from msgspec import Struct

from mcp_tap.core.records import (
    AnyRecord,
    Body,
    Closed,
    Decision,
    Gap,
    Header,
    Headers,
    HttpRequest,
    HttpResponse,
    Message,
    Payload,
    pointer,
)
from mcp_tap.core.redact_names import CREDENTIAL_HEADERS
from mcp_tap.core.redact_text import MARK
from mcp_tap.core.wire import UNPARSED, value_of, whole_value
from mcp_tap.rules.keys import is_secret
from mcp_tap.rules.shapes import is_harmless, secret_in
from mcp_tap.rules.shapes_persons import card_in

_BEARER: Final = re.compile(r"(?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/-]{8,}=*)")
_CARD: Final = re.compile(r"(?<![\d.-])\d(?:[ -]?\d){12,18}(?![\d-])")
_NAMED: Final = re.compile(r"([\w.-]{2,64})[\"']?\s{0,4}[=:]\s{0,4}[\"']?([^\s\"'&,;<>]{8,2000})")
_PASSWORD: Final = re.compile(r"\w://[^\s/?#:@\"']*:([^\s/?#@\"']{1,200})@")
_OPENING: Final = ("{", "[")
_HIDDEN: Final = "***"
"""Stands in a pointer for a name that is a secret itself."""
_SCHEMES: Final = frozenset({"bearer", "basic", "digest", "dpop", "negotiate"})
_SHORTEST: Final = 8
"""Characters from which what is named a secret can be one and no word."""
_BITS: Final = 2.5
"""Bits a character from which a value is no word either: `hunter2hunter2` has 2.8."""
_LONGEST: Final = 200_000
"""Characters of a text in which names are looked for."""


class Suspect(Struct, frozen=True, kw_only=True):
    """Something that looks like a secret."""

    seq: int
    """Record it stands in."""
    at: str
    """JSON pointer into the record, as those of masks are."""
    kind: str
    """What it looks like."""
    key: str
    """What names it: a header field, a member, a parameter; empty in running text."""


def suspects(record: AnyRecord) -> Iterator[Suspect]:
    """Find what looks like a secret in a record, each place once."""
    seen: set[tuple[str, str]] = set()
    for at, kind, key in _all(record):
        if (at, kind) not in seen:
            seen.add((at, kind))
            yield Suspect(seq=record.seq, at=at, kind=kind, key="" if _kind(key) else key)


def _all(record: AnyRecord) -> Iterator[tuple[str, str, str]]:
    if isinstance(record, Header):
        yield from _words("", record, "upstream", "listen", "label")
    elif isinstance(record, HttpRequest):
        yield from _words("", record, "path")
        yield from _headers(record.headers)
    elif isinstance(record, HttpResponse):
        yield from _words("", record, "reason")
        yield from _headers(record.headers)
    elif isinstance(record, Payload):
        if record.sse is not None:
            yield from _words("/sse", record.sse, "id", "event", "retry")
        yield from _payload(record)
    elif isinstance(record, Closed | Decision | Gap):
        yield from _words("", record, "why")


def _words(at: str, holder: object, *names: str) -> Iterator[tuple[str, str, str]]:
    for name in names:
        text = getattr(holder, name)
        if text:
            yield from _url(text, f"{at}/{name}")
            yield from _text(text, f"{at}/{name}")


def _headers(headers: Headers) -> Iterator[tuple[str, str, str]]:
    for index, (name, value) in enumerate(headers):
        at, low = pointer("headers", index, 1), name.lower()
        scheme, _, credential = value.partition(" ")
        if not credential or scheme.lower() not in _SCHEMES:
            credential = value
        if low in CREDENTIAL_HEADERS:
            if MARK not in value and not is_harmless(credential):
                yield at, _kind(credential) or "a credential", name
        elif is_secret(name) and _random(credential):
            yield at, _kind(credential) or "a secret by its name", name
        else:
            yield from _url(value, at)
            yield from _text(value, at, name)


def _url(text: str, at: str) -> Iterator[tuple[str, str, str]]:
    """Look at the parameters of a URL."""
    for name, value in parse_qsl(text.partition("?")[2], max_num_fields=None):
        kind = _kind(value)
        if kind is None and is_secret(name) and _random(value):
            kind = "a secret by its name"
        if kind is not None:
            yield at, kind, name


def _payload(record: Payload) -> Iterator[tuple[str, str, str]]:
    value = UNPARSED
    if isinstance(record, Message | Body):
        value = value_of(record)
        if record.text is not None and value is not UNPARSED:
            value = whole_value(record.payload())
    if value is not UNPARSED:
        yield from _document(value)
        return
    text = record.payload().decode("utf-8", "replace")
    yield from _text(text, "/text")
    for found in _NAMED.finditer(text[:_LONGEST]):
        if is_secret(found[1]) and _random(found[2]):
            yield "/text", _kind(found[2]) or "a secret by its name", found[1]


def _document(value: Any) -> Iterator[tuple[str, str, str]]:
    """Look at all values of a document, however deep it is."""
    waiting: list[tuple[tuple[Any, ...], Any]] = [((), value)]
    while waiting:
        at, here = waiting.pop()
        if isinstance(here, dict):
            for key, inner in reversed(here.items()):
                kind = _kind(key)
                if kind is not None:
                    yield pointer("body", *at), f"{kind} for a name", ""
                waiting.append(((*at, key if kind is None else _HIDDEN), inner))
        elif isinstance(here, list):
            waiting += [((*at, n), inner) for n, inner in reversed(list(enumerate(here)))]
        elif isinstance(here, str | int) and not isinstance(here, bool):
            name = next((step for step in reversed(at) if isinstance(step, str)), "")
            yield from _value(str(here), pointer("body", *at), name)


def _value(text: str, at: str, name: str) -> Iterator[tuple[str, str, str]]:
    if text.lstrip()[:1] in _OPENING:  # results often have JSON for their text
        inner = whole_value(text.encode())
        if isinstance(inner, dict | list):
            yield from ((at, kind, key or name) for _, kind, key in _document(inner))
            return
    kind = _kind(text)
    if kind is None and is_secret(name) and _random(text):
        kind = "a secret by its name"
    if kind is not None:
        yield at, kind, name
    else:
        yield from _text(text, at, name)


def _text(text: str, at: str, name: str = "") -> Iterator[tuple[str, str, str]]:
    """Look for what is a secret in the middle of a text."""
    kind = secret_in(text)
    if kind is not None:
        yield at, kind, name
    elif any(not is_harmless(found[1]) and _random(found[1]) for found in _BEARER.finditer(text)):
        yield at, "an Authorization header", name
    if any(not (is_harmless(f[1]) or is_secret(f[1])) for f in _PASSWORD.finditer(text)):
        yield at, "a password in a URL", name
    if any(card_in(found[0]) for found in _CARD.finditer(text)):
        yield at, "a card number", name


def _kind(value: str) -> str | None:
    """Name a value that is of well-known make as a whole."""
    if MARK in value:
        return None
    return secret_in(value) or ("a card number" if card_in(value) else None)


def _random(value: str) -> bool:
    """Tell whether a value is not masked, no word that says something, and not easily guessed."""
    if len(value) < _SHORTEST or " " in value.strip() or is_harmless(value):
        return False
    counts = Counter(value)
    total = len(value)
    bits = -sum(n / total * log2(n / total) for n in counts.values())
    return bits >= _BITS and not (value.isalpha() and value.islower())
