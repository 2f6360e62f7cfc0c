"""The page of a rule in rows: what it finds and why, whom it blames, an example of each kind.

Of an example's messages only what is of interest is shown: headers and `_meta` that every message
of its revision has are left out, and one that is missing is said to be.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from mcp_tap.core import spec
from mcp_tap.core.text import cut, safe, width
from mcp_tap.rules.base import Rule
from mcp_tap.views.found import STYLES
from mcp_tap.views.look import Row, wrapped
from mcp_tap.views.reports.base import revisions, spec_url

INDENT: Final = "  "
LINES: Final = 6
"""Lines of a message that are shown."""
MESSAGES: Final = 8
"""Messages of an example that are shown."""

_STATELESS: Final = spec.STATELESS_SINCE
_USUAL_META: Final[dict[str, Any]] = {
    spec.META_VERSION: _STATELESS,
    spec.META_CLIENT: {"name": "case-client", "version": "1.0.0"},
    spec.META_SERVER: {"name": "case-server", "version": "1.0.0"},
    spec.CLIENT_CAPABILITIES: {"elicitation": {"form": {}, "url": {}}},
}
_USUAL_HEADERS: Final = {
    "content-type": ("application/json", "text/event-stream"),
    "accept": ("application/json, text/event-stream",),
    "user-agent": ("case-client/1.0",),
    "cache-control": ("no-cache",),
    "mcp-session-id": ("case-session",),
}
_BLAMES: Final = {"sender": "whoever sent the message"}
_LONG: Final = 400
"""Characters of one text within a message that are shown."""


def rule_rows(rule: Rule, cases: Sequence[Mapping[str, Any]], cells: int) -> Iterator[Row]:
    """Give the page of a rule.

    Args:
        rule: whose page it is.
        cases: its examples (views.rule_examples), of which the first of each kind is shown.
        cells: width it must fit in.
    """
    yield [(rule.id, "strong"), (f"  {rule.name}", "strong")]
    blames = _BLAMES.get(rule.blames, rule.blames)
    yield [(rule.severity, STYLES[rule.severity]), (f", {rule.level}, blames {blames}", "")]
    yield [(f"{', '.join(revisions(rule))}; {' and '.join(rule.transports)}", "dim")]
    yield []
    for paragraph in paragraphs(rule.page):
        for line in wrapped(paragraph, cells):
            yield [(line, "")]
        yield []
    for kind, style in (("bad", "bad"), ("good", "ok")):
        case = next((case for case in cases if case["kind"] == kind), None)
        if case is None:
            continue
        yield [(f"{kind.capitalize()}: ", style), (safe(case["title"]), "")]
        yield from _example(case, cells)
        yield []
    url = spec_url(rule.id)
    if url:
        yield [("Specification  ", "dim"), (url, "")]


def paragraphs(page: str) -> Iterator[str]:
    """Give the paragraphs of a docstring, a list's points one each."""
    for paragraph in re.split(r"\n\s*\n|\n\s*(?=[-*] )", page):
        if paragraph.strip():
            yield " ".join(paragraph.split())


def _example(case: Mapping[str, Any], cells: int) -> Iterator[Row]:
    messages = list(_lines(case) if "lines" in case else _messages(case))
    for who, text, style in messages[:MESSAGES]:
        yield from _message(who, text, style, cells)
    if len(messages) > MESSAGES:
        yield [(f"{INDENT}.. and {len(messages) - MESSAGES} more", "dim")]


def _message(who: str, text: str, style: str, cells: int) -> Iterator[Row]:
    room = max(20, cells - len(INDENT) - 3)
    lines = list(_broken(text, room))
    if len(lines) > LINES:
        lines = [*lines[: LINES - 1], cut(lines[LINES - 1], room - 3) + " .."]
    for number, line in enumerate(lines):
        head = f"{who:2} " if number == 0 else "   "
        yield [(INDENT + head, style), (line, "")]


def _broken(text: str, room: int) -> Iterator[str]:
    """Break a long text after a blank, or where it must be."""
    while width(text) > room:
        piece = cut(text, room, "")
        at = piece.rfind(" ") + 1
        piece = piece[: at if at > room // 2 else len(piece)]
        yield piece.rstrip()
        text = text[len(piece) :]
    yield text


def _lines(case: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    marks = {"client": ("C", "answer"), "server": ("S", "ask"), "server-stderr": ("S2", "dim")}
    for line in case["lines"]:
        who, style = marks.get(line["from"], ("?", ""))
        yield who, _raw(line["line"]), style


def _messages(case: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for exchange in case["exchanges"]:
        request, response = exchange["request"], exchange.get("response")
        yield "C", _request(request), "answer"
        if not response:
            continue
        head = f"HTTP {response.get('status', 200)}"
        fields = _fields(response.get("headers") or {}, {})
        events = response.get("sse")
        if events is None:
            yield "S", " ".join(w for w in (head, fields, _body(response)) if w), "ask"
            if "sse_raw" in response:
                yield "S", _raw(response["sse_raw"]), "ask"
        else:
            yield "S", f"{head} {fields} event stream".replace("  ", " "), "ask"
            for event in events:
                yield "S", _shown(event), "ask"
        if response.get("open"):
            yield "S", "(the stream stays open)", "dim"
        elif response.get("closed_by", "server") != "server":
            yield "S", f"(closed by the {response['closed_by']})", "dim"


def _request(request: Mapping[str, Any]) -> str:
    method, path = request.get("method", "POST"), request.get("path", "/mcp")
    words = [] if (method, path) == ("POST", "/mcp") else [f"{method} {safe(path)}"]
    body = request.get("body")
    fields = _fields(request.get("headers") or {}, _expected(body, method))
    return " ".join(w for w in (*words, fields, _body(request)) if w)


def _expected(body: Any, method: str) -> dict[str, str]:
    """Give the headers a request with this body should have beside the usual ones."""
    if method != "POST" or not isinstance(body, dict) or "method" not in body:
        return {}
    params = body.get("params")
    params = params if isinstance(params, dict) else {}
    meta = params.get("_meta")
    version = meta.get(spec.META_VERSION) if isinstance(meta, dict) else None
    if version != _STATELESS:
        return {}
    expected = {"mcp-protocol-version": version, "mcp-method": str(body["method"])}
    name = params.get(spec.NAME_PARAM.get(str(body["method"]), ""))
    if isinstance(name, str):
        expected["mcp-name"] = name
    return expected


def _fields(headers: Mapping[str, Any] | Iterable[Any], expected: Mapping[str, str]) -> str:
    """Show the headers that are not as always, and name those that are missing."""
    pairs = list(headers.items() if isinstance(headers, Mapping) else headers)
    shown = []
    for name, value in pairs:
        low, text = name.lower(), str(value)
        usual = _USUAL_HEADERS.get(low, ())
        legacy = low == "mcp-protocol-version" and text < _STATELESS and low not in expected
        if text in usual or expected.get(low) == text or legacy:
            continue
        shown.append(f"{safe(name)}: {cut(safe(text), _LONG)}")
    there = {name.lower() for name, _ in pairs}
    missing = [name for name in expected if name not in there]
    words = [f"[{', '.join(shown)}]"] if shown else []
    words += [f"[no {', '.join(missing)}]"] if missing else []
    return " ".join(words)


def _body(side: Mapping[str, Any]) -> str:
    if "body_raw" in side:
        return _raw(side["body_raw"])
    body = side.get("body")
    return "" if body is None else _shown(body)


def _raw(text: Any) -> str:
    """Show what is written as text; JSON as JSON."""
    if not isinstance(text, str):
        return _shown(text)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return cut(safe(text), 3 * _LONG)
    return _shown(value) if isinstance(value, dict) else cut(safe(text), 3 * _LONG)


def _shown(value: Any) -> str:
    """Show a message without what every message has."""
    if isinstance(value, dict) and "data" in value and set(value) <= {"data", "id", "event"}:
        return " ".join(f"{key}: {_raw(value[key])}" for key in value)
    plain = _without_usual(value)
    return safe(json.dumps(plain, ensure_ascii=False, default=str))


def _without_usual(message: Any) -> Any:
    if not isinstance(message, dict):
        return message
    shown = {k: v for k, v in message.items() if (k, v) != ("jsonrpc", "2.0")}
    for part in ("params", "result"):
        inner = shown.get(part)
        meta = inner.get("_meta") if isinstance(inner, dict) else None
        if not isinstance(inner, dict) or not isinstance(meta, dict):
            continue
        left = {k: v for k, v in meta.items() if _USUAL_META.get(k, ...) != v}
        rest = {k: v for k, v in inner.items() if k != "_meta"}
        shown[part] = {**rest, "_meta": left} if left else rest
        if not shown[part] and part == "params":
            del shown[part]
    return shown
