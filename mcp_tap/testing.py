"""Judge traffic that is written down as a case, as the tap itself would.

A case is a mapping, one line of `rules/examples/*.jsonl`.  Over HTTP it has `exchanges`:

    {"exchanges": [{"request": {"method", "path", "headers", "body" | "body_raw"},
                    "response": {"status", "headers", "body" | "body_raw" | "sse" | "sse_raw",
                                 "open", "closed_by"},
                    "t": [start, end]}],
     "upstream": "https://mcp.example.com/mcp"}

`t` are seconds; exchanges may overlap.  The messages of `sse` come evenly between start and end,
the last one at the end.  `open`: the stream is still open when the case ends.  `closed_by` says who
ended it: `server` (the default), `client` or `network`.  Over stdio (`"transport": "stdio"`) it has
`lines`: `{"from": "client" | "server" | "server-stderr", "line", "t"}`.  Other members are ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from mcp_tap.core.finding import Finding
from mcp_tap.core.lines import Line
from mcp_tap.core.records import FORMAT, AnyRecord, Header, How, decode, encode
from mcp_tap.core.redact import Redactor
from mcp_tap.core.wire import UNPARSED
from mcp_tap.net.heads import Head, HeadReader, RawHeaders, RequestLine, StatusLine
from mcp_tap.pipeline.spine import Pipeline
from mcp_tap.proxy.recording import Recording
from mcp_tap.proxy.stdio.intake import Way
from mcp_tap.proxy.stdio.recording import LineRecording
from mcp_tap.proxy.tape import Tape

UPSTREAM: Final = "https://mcp.example.com/mcp"
"""The server of a case that names none."""
COMMAND: Final = "case-server"
"""The command line of a stdio case that names none."""

_KEY: Final = b"a key for cases, and no secret.."
_MAX_BODY: Final = 16 << 20
_PAUSE: Final = 0.5
"""Seconds from one stdio line to the next, where a case gives no times."""
_EVENT_END: Final = re.compile(r"(?<=\n\n)|(?<=\r\r)|(?<=\r\n\r\n)")
_WAYS: Final[dict[str, Way]] = {
    "client": "client",
    "server": "server",
    "server-stderr": "stderr",
}
_HOW: Final[dict[str, How]] = {
    "server": "complete",
    "client": "client_gone",
    "network": "upstream_cut",
}

Pair: TypeAlias = tuple[AnyRecord, Any]
"""A record, and the parsed value of its payload."""


def run_case(case: Mapping[str, Any], *, live: bool = False) -> list[Finding]:
    """Judge a case by all rules.

    Args:
        case: what passed, in the format above.
        live: judge the records as the proxy hands them over; by default each is written and read
            first, as with a capture.  Both find the same.

    Returns:
        What was found, in order.

    Raises:
        KeyError: the case lacks a member it must have.
    """
    pipeline = Pipeline()
    changes: list[Any] = []
    for record, value in records_of(case):
        if live:
            changes += pipeline.feed(record, value)
        else:
            changes += pipeline.feed(decode(encode(record)))
    changes += pipeline.finish()
    return [change for change in changes if isinstance(change, Finding)]


def records_of(case: Mapping[str, Any]) -> list[Pair]:
    """Make the records of a case, header first, each with its parsed payload.

    Args:
        case: what passed, in the format above.

    Raises:
        KeyError: the case lacks a member it must have.
    """
    stdio = case.get("transport") == "stdio" or ("lines" in case and "exchanges" not in case)
    header = Header(
        seq=0,
        t=0.0,
        format=FORMAT,
        tool="mcp-tap/case",
        run="case",
        started="2026-07-28T12:00:00Z",
        transport="stdio" if stdio else "http",
        upstream=case.get("upstream") or (COMMAND if stdio else UPSTREAM),
        redaction=["default"],
        max_body=_MAX_BODY,
    )
    rest = _lines(case["lines"]) if stdio else _Exchanges(header.upstream).play(case)
    return [(header, UNPARSED), *rest]


class _Exchanges:
    """Plays the exchanges of a case to a recording, in the order of time."""

    def __init__(self, upstream: str) -> None:
        self._host = urlsplit(upstream).netloc.rpartition("@")[2]
        self._heads = HeadReader()
        self._pairs: list[Pair] = []
        self._recording = Recording(self._pairs.append, Redactor(_KEY), _MAX_BODY)
        self._steps: list[tuple[float, int, int, Callable[[float], None]]] = []

    def play(self, case: Mapping[str, Any]) -> list[Pair]:
        for index, exchange in enumerate(case["exchanges"]):
            self._plan(index, exchange)
        for t, _, _, step in sorted(self._steps, key=lambda step: step[:3]):
            step(t)
        return self._pairs

    def _at(self, t: float, index: int, step: Callable[[float], None]) -> None:
        self._steps.append((t, index, len(self._steps), step))

    def _plan(self, index: int, exchange: Mapping[str, Any]) -> None:
        start, end = exchange.get("t") or (float(2 * index), float(2 * index + 1))
        request, response = exchange["request"], exchange.get("response")
        body = _body(request)
        fields = _fields(request.get("headers"))
        _complete(fields, b"Host", self._host.encode())
        if body:
            _complete(fields, b"Content-Length", b"%d" % len(body))
        method, path = request.get("method", "POST"), request.get("path", "/mcp")
        line = RequestLine(method.encode("latin-1"), path.encode("utf-8"), "1.1")
        head = self._heads.read(line, fields)
        tapes: list[Tape] = []

        def ask(t: float) -> None:
            tape = Tape(self._recording.exchanges + 1, index + 1, "127.0.0.1", head)
            tapes.append(tape)
            self._recording.request(tape, t, body)

        self._at(start, index, ask)
        if response is not None:
            self._plan_response(index, start, end, response, tapes)

    def _plan_response(
        self,
        index: int,
        start: float,
        end: float,
        response: Mapping[str, Any],
        tapes: list[Tape],
    ) -> None:
        recording = self._recording
        fields = _fields(response.get("headers"))
        pieces = _events(response)
        body = _body(response)
        if pieces is None and body:
            _complete(fields, b"Content-Length", b"%d" % len(body))
        line = StatusLine(response.get("status", 200), b"", "1.1")
        head: Head[StatusLine] = self._heads.read(line, fields)
        how = _HOW[response.get("closed_by") or "server"]
        is_open = bool(response.get("open"))
        if pieces is None and how == "complete" and not is_open:
            self._at(end, index, lambda t: recording.response(tapes[0], t, head, body, start, 0.0))
            return
        begin = end if pieces is None else start
        self._at(begin, index, lambda t: recording.response_head(tapes[0], t, head, "server"))
        parts = [body] if pieces is None else pieces
        for number, piece in enumerate(parts, 1):
            t = end if pieces is None else start + (end - start) * number / len(parts)
            self._at(t, index, _Piece(recording, tapes, piece))
        if is_open:
            return

        def close(t: float) -> None:
            recording.response_end(tapes[0], t, "server", how == "complete")
            recording.closed(tapes[0], t, how, None, start, begin, 0.0)

        self._at(end, index, close)


class _Piece:
    """A step that brings bytes of a response."""

    def __init__(self, recording: Recording, tapes: list[Tape], data: bytes) -> None:
        self._recording = recording
        self._tapes = tapes
        self._data = data

    def __call__(self, t: float) -> None:
        self._recording.response_data(self._tapes[0], t, self._data)


def _lines(lines: Sequence[Mapping[str, Any]]) -> list[Pair]:
    """Turn the lines of a stdio case into records."""
    pairs: list[Pair] = []
    recording = LineRecording(pairs.append, Redactor(_KEY), _MAX_BODY)
    t = -_PAUSE
    for line in lines:
        t = float(line["t"]) if line.get("t") is not None else t + _PAUSE
        payload = line["line"].encode("utf-8", "surrogateescape")
        recording.line(_WAYS[line["from"]], t, Line(payload))
    return pairs


def _fields(headers: Any) -> RawHeaders:
    """Read header fields: a mapping, whose values may be lists of values, or a list of pairs."""
    pairs = headers.items() if isinstance(headers, Mapping) else headers or ()
    return [
        (name.encode("latin-1"), _bytes(value))
        for name, values in pairs
        for value in ([values] if isinstance(values, str) else values)
    ]


def _bytes(value: str) -> bytes:
    """Write a field value as HTTP stacks do: in latin-1 where that is possible."""
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogateescape")


def _complete(fields: RawHeaders, name: bytes, value: bytes) -> None:
    """Add a field every real head has, unless the case speaks of it."""
    if all(known.lower() not in {name.lower(), b"transfer-encoding"} for known, _ in fields):
        fields.append((name, value))


def _body(message: Mapping[str, Any]) -> bytes:
    raw = message.get("body_raw")
    if raw is not None:
        text: str = raw
        return text.encode("utf-8", "surrogateescape")
    return _json(message["body"]) if "body" in message else b""


def _json(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def _events(response: Mapping[str, Any]) -> list[bytes] | None:
    """Write the events of a response; None where it is no event stream."""
    raw = response.get("sse_raw")
    if raw is not None:
        return [piece.encode() for piece in _EVENT_END.split(raw) if piece]
    if "sse" not in response:
        return None
    return [b"event: message\ndata: " + _json(message) + b"\n\n" for message in response["sse"]]
