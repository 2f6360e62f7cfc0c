"""The records of a call, written out: bodies as readable JSON, or the bytes as they came.

A `requestState` appears as its fingerprint in both.  Of the readable form a string over
`MOST_TEXT` characters is cut, and what is left out is counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from mcp_tap.core.records import (
    AnyRecord,
    Closed,
    Decision,
    HttpRequest,
    HttpResponse,
    Message,
    Noise,
    Payload,
)
from mcp_tap.core.text import fingerprint, safe, size, took
from mcp_tap.core.wire import UNPARSED, value_of
from mcp_tap.views.look import Look, Row

INDENT: Final = " " * 15
MOST_TEXT: Final = 2000
_STRING: Final = r'"((?:[^"\\]|\\.)*)"'
_MEMBER: Final = re.compile(rf"{_STRING}(\s*:\s*){_STRING}", re.DOTALL)


def record_rows(records: Iterable[AnyRecord], look: Look, *, raw: bool) -> Iterator[Row]:
    """Write records out, in the order given: payloads readable, or everything as it came."""
    for record in records:
        if isinstance(record, Payload):
            yield from _payload_rows(record, look, raw=raw)
        elif isinstance(record, Decision):
            words = f"{record.hook}: {record.verdict}, {record.why}"
            yield _head("tap decided", record.t, safe(words), look)
        elif raw:
            yield from _raw_rows(record, look)


def searchable(record: Payload) -> str:
    """Give the text of a payload in which words are searched: JSON without its escapes."""
    value = value_of(record)
    if value is UNPARSED:
        return record.payload().decode("utf-8", "replace")
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return record.payload().decode("utf-8", "replace")


def _head(who: str, t: float, words: str, look: Look) -> Row:
    return [
        (f"{INDENT}{look.fine(t)}  ", "dim"),
        (who, "strong"),
        (f"  {words}" if words else "", ""),
    ]


def _payload_rows(record: Payload, look: Look, *, raw: bool) -> Iterator[Row]:
    data = record.payload()
    facts = [size(record.size if record.size is not None else len(data))]
    if record.truncated:
        facts.append(f"only {size(len(data))} recorded")
    if record.sse:
        named = (("id", record.sse.id), ("event", record.sse.event), ("retry", record.sse.retry))
        facts.append("SSE" + "".join(f" {k} {safe(v)}" for k, v in named if v is not None))
    if record.encoding:
        facts.append(safe(record.encoding))
    if record.masked:
        facts.append("masked: " + ", ".join(safe(mask.at) for mask in record.masked))
    kind = "" if isinstance(record, Message) else f" {type(record).__name__.lower()}"
    if isinstance(record, Noise) and record.sse and not data:
        # An event that only carries an id, from which a broken stream can be taken up.
        kind, facts[0] = "", "empty event"
    yield _head(f"{record.sender}{kind}", record.t, ", ".join(facts), look)
    more = look.glyphs.more
    lines = None if raw else _pretty(value_of(record), more)
    if lines is None:
        text = _veil(data.decode("utf-8", "backslashreplace"), more)
        lines = [_short(line) for line in text.splitlines()] if not raw else [text] if text else []
    for line in lines:
        yield [(f"{INDENT}  {safe(line)}", "")]


def _pretty(value: Any, more: str) -> list[str] | None:
    """Lay JSON out over lines; None for what is no JSON, or too deep to lay out."""
    if value is UNPARSED:
        return None
    try:
        return json.dumps(_hide(value, more), ensure_ascii=False, indent=2).split("\n")
    except RecursionError:
        return None


def _hide(value: Any, more: str) -> Any:
    if isinstance(value, dict):
        return {
            k: fingerprint(v, more)
            if k == "requestState" and isinstance(v, str)
            else _hide(v, more)
            for k, v in value.items()
        }
    if isinstance(value, list):
        return [_hide(v, more) for v in value]
    return _short(value) if isinstance(value, str) else value


def _short(text: str) -> str:
    """Cut a text that is too long to read here, and say how much of it is missing."""
    left = len(text) - MOST_TEXT
    if left <= 0:
        return text
    return f"{text[:MOST_TEXT]} ... {left:,} more characters, -d4 prints all"


def _veil(text: str, more: str) -> str:
    """Replace the states in text that need not be JSON, however their key is spelled."""

    def replace(found: re.Match[str]) -> str:
        key, colon, value = found.groups()
        if _plain(key) != "requestState":
            return found[0]
        return f'"{key}"{colon}"{fingerprint(_plain(value), more)}"'

    return _MEMBER.sub(replace, text)


def _plain(escaped: str) -> str:
    try:
        return str(json.loads(f'"{escaped}"', strict=False))
    except ValueError:
        return escaped


def _raw_rows(record: AnyRecord, look: Look) -> Iterator[Row]:
    if isinstance(record, HttpRequest):
        line = f"{record.method} {record.path} HTTP/{record.version}"
        yield _head(
            "client head", record.t, f"connection {record.conn} of {safe(record.peer)}", look
        )
        yield from _fields(line, record.headers)
    elif isinstance(record, HttpResponse):
        line = f"HTTP/{record.version} {record.status} {record.reason}"
        yield _head(f"{record.sender} head", record.t, "", look)
        yield from _fields(line, record.headers)
    elif isinstance(record, Closed):
        words = f"{record.how}{f': {safe(record.why)}' if record.why else ''}"
        if record.held >= 0.0005:
            words += f", held {took(record.held)}"
        yield _head("closed", record.t, words, look)
        for name, digest in (("request ", record.request), ("response", record.response)):
            yield [(f"{INDENT}  {name}  {digest.bytes} B  sha256 {safe(digest.sha256)}", "dim")]


def _fields(line: str, headers: Iterable[tuple[str, str]]) -> Iterator[Row]:
    yield [(f"{INDENT}  {safe(line)}", "")]
    for name, value in headers:
        yield [(f"{INDENT}  {safe(name)}: {safe(value)}", "")]
