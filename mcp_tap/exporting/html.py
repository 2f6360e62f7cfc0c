"""One HTML file that shows a capture: search, calls, their rounds, messages and findings.

Rules of this file:

- The page asks no network for anything: its policy (CSP) lets run only the one script and style
  whose digests it names, and takes strings for markup nowhere.
- What came over the wire stands in one block of JSON without `<`, and reaches the page as text
  nodes only.  It has passed `safe()`: nothing in it reorders or hides what is read.
- A `requestState` is a fingerprint here.
- Bodies are cut at a size, and from `MOST` bytes of them on none is kept; both is counted and said.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from hashlib import sha256
from importlib import resources
from typing import Any, Final

import msgspec

from mcp_tap.core.finding import Finding
from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.records import AnyRecord, Closed, HttpRequest, HttpResponse
from mcp_tap.core.text import json_safe, plural, pointer_words, safe, size, took
from mcp_tap.rules.catalogue import BY_ID
from mcp_tap.views.bodies import INDENT, record_rows
from mcp_tap.views.found import counted, place
from mcp_tap.views.lane import ask_detail, heading, lane_rows, request_rows, result_rows
from mcp_tap.views.look import LINES, Look, Row
from mcp_tap.views.reports.base import spec_url
from mcp_tap.views.rule_page import paragraphs
from mcp_tap.views.show_doc import CaptureDoc
from mcp_tap.views.timeline import blame_row
from mcp_tap.views.words import STATES, duration, exchange_why, marks, state

MOST: Final = 32 << 20
"""Bytes of bodies in one page; a browser opens that in a second or two."""
_CELLS: Final = 140
"""Cells of a row that says what a request or result holds."""
_POLICY: Final = (
    "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; "
    "base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


def html_document(
    found: Iterable[tuple[Call | Exchange, list[AnyRecord]]],
    *,
    about: Callable[[], CaptureDoc],
    start: datetime | None,
    most_body: int,
) -> Iterator[bytes]:
    """Write calls and exchanges, with their records, as a page; in pieces.

    Args:
        found: in the order of the list.
        about: tells of the capture, once all of `found` has been given.
        start: wall-clock start of the run, in the zone times are shown in.
        most_body: bytes of one body that are shown.
    """
    before, after = _frame()
    yield before
    items = _Items(Look(glyphs=LINES, start=start), most_body)
    yield b'{"items":['
    comma = b"\n"
    for each, records in found:
        yield comma + _embedded(items.of(each, records))
        comma = b",\n"
    rest = {
        "rules": {rule: _rule(rule) for rule in sorted(items.rules) if rule in BY_ID},
        "capture": about(),
        "cut": items.told(),
    }
    yield b"\n]," + _embedded(rest)[1:]
    yield after


def _frame() -> tuple[bytes, bytes]:
    """Give the page around its data, with the policy that lets its own script and style run."""
    folder = resources.files("mcp_tap.exporting") / "page"
    text = {
        name: (folder / name).read_text("utf-8") for name in ("page.html", "page.js", "page.css")
    }
    script, style = text["page.js"], text["page.css"]
    policy = _POLICY.format(script=_digest(script), style=_digest(style))
    page = text["page.html"].replace("{policy}", policy)
    page = page.replace("{style}", style).replace("{script}", script)
    before, after = page.split("{data}")
    return before.encode(), after.encode()


def _digest(text: str) -> str:
    return base64.b64encode(sha256(text.encode()).digest()).decode()


def _embedded(value: Any) -> bytes:
    """Write JSON that can end no script block, begin no markup, and is the same JSON still."""
    data = json_safe(msgspec.json.encode(value))
    for byte, escape in ((b"<", b"\\u003c"), (b">", b"\\u003e"), (b"&", b"\\u0026")):
        data = data.replace(byte, escape)
    return data


class _Items:
    """Makes the items of the list, and counts what is left out of them."""

    def __init__(self, look: Look, most_body: int) -> None:
        self._look = look
        self._most_body = most_body
        self._left = MOST
        self._cut = 0
        self._dropped = 0
        self.rules: set[str] = set()

    def of(self, found: Call | Exchange, records: list[AnyRecord]) -> dict[str, Any]:
        item = self._call(found) if isinstance(found, Call) else self._exchange(found)
        heads = [r for r in records if isinstance(r, HttpRequest | HttpResponse | Closed)]
        self.rules.update(finding.rule for finding in found.findings)
        return {
            "clock": self._look.clock(found.t),
            "tags": [_piece((text.strip(), style)) for text, style in counted(found.findings)],
            "findings": [_finding(finding) for finding in found.findings],
            "messages": self._bodies(records),
            "heads": [_body(row) for row in record_rows(heads, self._look, raw=True)],
            **item,
        }

    def told(self) -> str:
        """Say what was left out."""
        words = []
        if self._cut:
            words.append(f"{plural(self._cut, 'message')} cut after {size(self._most_body)}")
        if self._dropped:
            words.append(
                f"{plural(self._dropped, 'message')} left out: the page would be too large"
            )
        return "; ".join(words)

    def _call(self, call: Call) -> dict[str, Any]:
        look = self._look
        rounds: list[list[Any]] = []
        before = None
        for round_ in call.rounds:
            if round_.answers_round is not None:
                known = (r for r in call.rounds if r.number == round_.answers_round)
                before = next(known, before)
            rows: list[Row] = [
                *request_rows(round_, before, call, look, _CELLS),
                *ask_detail(round_),
                *result_rows(round_, _CELLS),
            ]
            rounds.append([_row(row) for row in rows])
            before = round_
        word, style = state(call)
        blamed = blame_row(call, "")
        return {
            "number": call.number,
            "method": safe(call.method),
            "name": safe(call.name or ""),
            "marks": marks(call, look.glyphs),
            "state": word,
            "style": style,
            "outcome": call.outcome,
            "took": duration(call, None),
            "head": _row(heading(call, now=None)),
            "lanes": [_row(row) for row in lane_rows(call, look, now=None, cells=_CELLS)],
            "blame": _row(blamed) if blamed else None,
            "rounds": rounds,
        }

    def _exchange(self, exchange: Exchange) -> dict[str, Any]:
        word, style = STATES[exchange.outcome]
        status = "" if exchange.status is None else f"  HTTP {exchange.status}"
        what = safe(exchange.method or exchange.verb)
        name = "" if exchange.method else safe(exchange.path)
        ended = "" if exchange.end is None else took(max(0.0, exchange.end - exchange.t))
        why = exchange_why(exchange)
        return {
            "number": None,
            "exchange": exchange.number,
            "method": what,
            "name": name,
            "marks": "",
            "state": word,
            "style": style,
            "outcome": exchange.outcome,
            "took": ended,
            "head": _row([(f"{what} {name}".strip(), "strong"), (status, ""), (f"  {ended}", "")]),
            "lanes": [],
            "blame": _row([(why, "bad")]) if why else None,
            "rounds": [],
        }

    def _bodies(self, records: list[AnyRecord]) -> list[Any]:
        """Lay payloads out, each up to a size, and all of them up to another."""
        shown: list[Any] = []
        for record in records:
            room = self._most_body
            rows: list[Any] = []
            for index, row in enumerate(record_rows([record], self._look, raw=False)):
                if index:
                    text = "".join(piece for piece, _ in row)
                    room -= len(text.encode("utf-8", "surrogatepass"))
                    if room < 0:
                        self._cut += 1
                        rows.append([["    .. the rest is cut", "dim"]])
                        break
                rows.append(_body(row))
            spent = self._most_body - max(0, room)
            if rows and spent > self._left:
                self._dropped += 1
                rows = [rows[0], [["    left out, the page would be too large", "dim"]]]
            elif rows:
                self._left -= spent
            shown += rows
        return shown


def _row(row: Row) -> list[Any]:
    return [_piece(piece) for piece in row if piece[0]]


def _body(row: Row) -> list[Any]:
    """Write a row of a record, which here stands at the left edge."""
    (first, style), *rest = row
    return _row([(first.removeprefix(INDENT), style), *rest])


def _piece(piece: tuple[str, str]) -> Any:
    """Write a piece with its style, or as mere text where it has none."""
    return list(piece) if piece[1] else piece[0]


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "name": finding.name,
        "severity": finding.severity,
        "blame": finding.blame,
        "message": safe(finding.message),
        "where": place(finding),
        "path": pointer_words(finding.path) if finding.path else "",
    }


def _rule(rule_id: str) -> dict[str, Any]:
    rule = BY_ID[rule_id]
    return {"level": rule.level, "page": list(paragraphs(rule.page)), "spec": spec_url(rule_id)}
