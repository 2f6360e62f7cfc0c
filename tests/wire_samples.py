"""Rows of a byte-exact traffic log, turned into records as the tap would have made them.

A row is `{dir, ts, xid: 'conn.exchange', http, body, raw, sse?, stream?, end?}`; stdio rows have
`proc` and no `http`.  Bodies too long for the log stand as text without `raw`: those become cut
payloads.  Use `records(rows)`, or `load(name)` for a file of tests/data/wire/.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mcp_tap.core.records import (
    AnyRecord,
    Body,
    Closed,
    Digest,
    HttpRequest,
    HttpResponse,
    Message,
    Noise,
    Sse,
)
from mcp_tap.core.wire import UNPARSED, carrier
from tests.captures import header

DATA = Path(__file__).parent / "data" / "wire"
NOTHING = Digest(bytes=0, sha256="")
ENDS = {
    "eof": "complete",
    "client_abort": "client_gone",
    "client_abort_before_response": "client_gone",
}
CUT = re.compile(r"<truncated (\d+) chars>")


def load(name: str) -> list[AnyRecord]:
    """Read a sample of tests/data/wire/ as records."""
    return list(read(DATA / f"{name}.jsonl"))


def read(path: Path) -> Iterator[AnyRecord]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return records(json.loads(line) for line in lines if line)


def records(rows: Iterable[dict[str, Any]]) -> Iterator[AnyRecord]:
    """Turn rows into the records of one run."""
    return _Converter(list(rows)).run()


class _Converter:
    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows
        self.start = rows[0]["ts"]
        self.seq = 0
        self.exchanges = 0
        self.open: dict[str, int] = {}
        self.types: dict[str, str] = {}

    def run(self) -> Iterator[AnyRecord]:
        stdio = self.rows[0].get("xid") is None
        yield header(transport="stdio", upstream="python server.py") if stdio else header()
        for index, row in enumerate(self.rows):
            if row["dir"] == "meta":
                continue
            yield from self._stdio(row) if stdio else self._http(index, row)

    def _next(self, row: dict[str, Any]) -> dict[str, Any]:
        self.seq += 1
        return {"seq": self.seq, "t": round(row["ts"] - self.start, 6)}

    def _stdio(self, row: dict[str, Any]) -> Iterator[AnyRecord]:
        if row.get("body") is not None:
            yield self._payload(row, None, _sender(row), "application/json")

    def _http(self, index: int, row: dict[str, Any]) -> Iterator[AnyRecord]:
        xid, head = row["xid"], row["http"]
        if row["dir"] == "c2s":
            if xid not in self.open:
                yield self._request(row, row)
            if row["body"] is not None:
                kind = _header(head["headers"], "content-type")
                yield self._payload(row, self.open[xid], "client", kind)
            return
        if head is not None and head["status"] < 200:
            return
        if xid not in self.open:  # answered before the request was logged
            yield self._request(next(r for r in self.rows[index:] if _asks(r, xid)), row)
        exchange = self.open[xid]
        if head is not None:
            self.types[xid] = _header(head["headers"], "content-type")
            yield HttpResponse(
                **self._next(row),
                exchange=exchange,
                status=head["status"],
                headers=[(n, v) for n, v in head["headers"]],
            )
        if row["body"] is not None or "sse" in row:
            yield self._payload(row, exchange, "server", self.types.get(xid, ""))
        if "end" in row or (head is not None and row.get("stream") != "open"):
            how = ENDS.get(row.get("end", "eof"), "complete")
            yield Closed(
                **self._next(row), exchange=exchange, how=how, request=NOTHING, response=NOTHING
            )
            if not any(_asks(r, xid) for r in self.rows[index + 1 : index + 3]) or head is None:
                del self.open[xid]

    def _request(self, row: dict[str, Any], at: dict[str, Any]) -> HttpRequest:
        self.exchanges += 1
        self.open[row["xid"]] = self.exchanges
        head = row["http"]
        return HttpRequest(
            **self._next(at),
            exchange=self.exchanges,
            conn=int(row["xid"].split(".")[0]),
            peer="127.0.0.1",
            method=head["method"],
            path=head["path"],
            headers=[(n, v) for n, v in head["headers"]],
        )

    def _payload(
        self, row: dict[str, Any], exchange: int | None, sender: Any, content_type: str
    ) -> AnyRecord:
        body, sse = row.get("body"), row.get("sse")
        common = {**self._next(row), "exchange": exchange, "sender": sender}
        if sse is not None:
            common["sse"] = Sse(id=sse.get("id"), event=sse.get("event"), retry=sse.get("retry"))
        if body is None:
            return Noise(**common, text=sse.get(":", "") if sse else "")
        cut = CUT.search(body) if isinstance(body, str) and "raw" not in row else None
        if cut is not None:
            text = body[: cut.start()]
            return Message(
                **common, text=text, truncated=True, size=len(text) + int(cut[1]), sha256=""
            )
        if isinstance(body, str):
            payload = body.encode()
        else:
            payload = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        fields, value = carrier(payload)
        jsonrpc = isinstance(value, list) or (
            isinstance(value, dict) and bool({"jsonrpc", "method", "result"} & value.keys())
        )
        if jsonrpc or (value is UNPARSED and (sse is not None or "json" in content_type)):
            return Message(**common, **fields)
        return Body(**common, **fields, content_type=content_type or None)


def _asks(row: dict[str, Any], xid: str) -> bool:
    return row["dir"] == "c2s" and row.get("xid") == xid


def _sender(row: dict[str, Any]) -> str:
    return "client" if row["dir"] == "c2s" else "server"


def _header(headers: list[list[str]], name: str) -> str:
    return next((v for n, v in headers if n.lower() == name), "")
