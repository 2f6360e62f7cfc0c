"""HAR 1.2 (http://www.softwareishard.com/blog/har-12-spec/): one entry for each HTTP exchange.

Bodies stand there as recorded: what is masked as its tag, event streams written anew from their
events.  What HAR has no field for stands in `_mcp`.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final
from urllib.parse import parse_qsl, quote

import msgspec

from mcp_tap.core.clock import after, read, utc
from mcp_tap.core.fields import header
from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.records import AnyRecord, Header, Headers, Payload
from mcp_tap.core.text import json_safe
from mcp_tap.exporting.dialogue import Dialogue, dialogues, media_type, stream_bytes
from mcp_tap.views.machine import finding_doc

_LEFT: Final = "".join(chr(n) for n in range(0x21, 0x7F) if chr(n) not in '"<>\\^`{|}')
"""What may stand in a URL as it is; the rest is escaped, whatever a client sent."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def har_document(
    header: Header, found: Iterable[tuple[Call | Exchange, list[AnyRecord]]], version: str
) -> Iterator[bytes]:
    """Write calls and exchanges, with their records, as a HAR; in pieces.

    Args:
        header: of the run.
        found: in any order; an exchange that is there twice is written once.
        version: of mcp-tap.
    """
    entries: dict[int, tuple[float, bytes]] = {}
    start = read(header.started) or _EPOCH
    origin = (header.listen or header.upstream).partition("://")
    base = f"{origin[0] or 'http'}://{origin[2].partition('/')[0]}"
    for each, records in found:
        for dialogue in dialogues(records):
            request = dialogue.request
            if request is None or dialogue.number in entries:
                continue
            entry = _entry(dialogue, each, start, base)
            entries[dialogue.number] = (request.t, json_safe(msgspec.json.encode(entry)))
    log = {
        "version": "1.2",
        "creator": {"name": "mcp-tap", "version": version},
        "comment": f"run {header.run} of {header.upstream}",
        "_mcp": {"run": header.run, "upstream": header.upstream, "label": header.label},
    }
    yield b'{"log":' + json_safe(msgspec.json.encode(log))[:-1] + b',"entries":['
    for index, number in enumerate(sorted(entries, key=lambda n: (entries[n][0], n))):
        yield (b",\n" if index else b"\n") + entries[number][1]
    yield b"\n]}}\n"


def _entry(
    dialogue: Dialogue, found: Call | Exchange, start: datetime, base: str
) -> dict[str, Any]:
    request = dialogue.request
    assert request is not None
    timings = _timings(dialogue)
    entry: dict[str, Any] = {
        "startedDateTime": utc(after(start, request.t)).isoformat(timespec="milliseconds"),
        "time": round(sum(time for time in timings.values() if time > 0), 3),
        "request": _request(dialogue, base),
        "response": _response(dialogue),
        "cache": {},
        "timings": timings,
        "_mcp": _about(dialogue, found),
    }
    if request.conn:
        entry["connection"] = str(request.conn)
    return entry


def _timings(dialogue: Dialogue) -> dict[str, float]:
    """Divide the time of an exchange; -1 is HAR's word for what is not known."""
    request, closed = dialogue.request, dialogue.closed
    assert request is not None
    end = closed.t if closed is not None else max(
        [request.t, *(p.t for p in (*dialogue.sent, *dialogue.received))]
    )  # fmt: skip
    sent = closed.sent if closed is not None and closed.sent is not None else request.t
    first = closed.first_byte if closed is not None else None
    if first is None:
        first = dialogue.response.t if dialogue.response is not None else end
    known = {
        "blocked": sent - request.t,
        "send": 0.0,
        "wait": first - sent,
        "receive": end - first,
    }
    times = {name: round(max(0.0, seconds) * 1000, 3) for name, seconds in known.items()}
    return {"dns": -1, "connect": -1, "ssl": -1, **times}


def _request(dialogue: Dialogue, base: str) -> dict[str, Any]:
    request, closed = dialogue.request, dialogue.closed
    assert request is not None
    path = request.path
    whole = path if "://" in path.partition("?")[0] else base + "/" * (path[:1] != "/") + path
    made: dict[str, Any] = {
        "method": request.method,
        "url": quote(whole, safe=_LEFT, encoding="latin-1", errors="replace"),
        "httpVersion": f"HTTP/{request.version}",
        "cookies": _cookies(request.headers, "cookie"),
        "headers": _pairs(request.headers),
        "queryString": _pairs(parse_qsl(path.partition("?")[2], keep_blank_values=True)),
        "headersSize": -1,
        "bodySize": -1 if closed is None else closed.request.bytes,
    }
    if dialogue.sent:
        data = b"".join(payload.payload() for payload in dialogue.sent)
        text, encoding = _text(data)
        made["postData"] = {"mimeType": media_type(request.headers), "text": text}
        if encoding:
            made["postData"]["_encoding"] = encoding
        if comment := _comment(dialogue.sent):
            made["postData"]["comment"] = comment
    return made


def _response(dialogue: Dialogue) -> dict[str, Any]:
    response, closed = dialogue.response, dialogue.closed
    headers = response.headers if response is not None else []
    received = dialogue.received
    data = stream_bytes(received) if dialogue.streams else b"".join(p.payload() for p in received)
    text, encoding = _text(data)
    content: dict[str, Any] = {"size": len(data), "mimeType": media_type(headers), "text": text}
    if encoding:
        content["encoding"] = encoding
    if comment := _comment(received):
        content["comment"] = comment
    made: dict[str, Any] = {
        "status": response.status if response is not None else 0,
        "statusText": response.reason if response is not None else "",
        "httpVersion": f"HTTP/{response.version}" if response is not None else "",
        "cookies": _cookies(headers, "set-cookie"),
        "headers": _pairs(headers),
        "content": content,
        "redirectURL": header(headers, "location") or "",
        "headersSize": -1,
        "bodySize": -1 if closed is None else closed.response.bytes,
    }
    if closed is not None and closed.how != "complete":
        made["_error"] = f"{closed.how}: {closed.why}" if closed.why else closed.how
    return made


def _about(dialogue: Dialogue, found: Call | Exchange) -> dict[str, Any]:
    """Say what is known of an exchange that only MCP has words for."""
    number = dialogue.number
    own = found.findings
    about: dict[str, Any] = {"exchange": number, "by": "tap" if dialogue.by_tap else "client"}
    if isinstance(found, Call):
        round_ = next((r for r in found.rounds if r.exchange == number), None)
        about |= {"call": found.number, "method": found.method, "name": found.name}
        about |= {"round": round_ and round_.number, "link": round_ and round_.link}
        about |= {"resultType": round_ and round_.result_type, "outcome": found.outcome}
        own = [finding for finding in own if finding.exchange in (None, number)]
    else:
        about |= {"call": None, "method": found.method, "outcome": found.outcome}
    about["findings"] = [finding_doc(finding) for finding in own]
    return about


def _pairs(fields: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in fields]


def _cookies(headers: Headers, wanted: str) -> list[dict[str, Any]]:
    """Take cookies apart; what is none stands in the headers all the same."""
    found: list[dict[str, Any]] = []
    for name, value in headers:
        if name.lower() != wanted:
            continue
        try:
            found += [
                {
                    "name": cookie.key,
                    "value": cookie.value,
                    **({"path": cookie["path"]} if cookie["path"] else {}),
                    **({"domain": cookie["domain"]} if cookie["domain"] else {}),
                    **({"httpOnly": True} if cookie["httponly"] else {}),
                    **({"secure": True} if cookie["secure"] else {}),
                }
                for cookie in SimpleCookie(value).values()
            ]
        except CookieError:
            continue
    return found


def _text(data: bytes) -> tuple[str, str]:
    """Give bytes as text, or in base64 with that word."""
    try:
        return data.decode(), ""
    except UnicodeDecodeError:
        return base64.b64encode(data).decode(), "base64"


def _comment(payloads: Iterable[Payload]) -> str:
    """Say what of payloads is not there."""
    cut = [payload for payload in payloads if payload.truncated]
    if not cut:
        return ""
    first = cut[0]
    of = f" of {first.size}" if first.size is not None else ""
    words = f"cut: the first {len(first.payload())}{of} bytes were recorded"
    return words if len(cut) == 1 else f"{words}; so were {len(cut) - 1} more payloads"
