"""Reports made by hand, with wire text that no format may be broken by."""

from __future__ import annotations

from typing import Any

from mcp_tap.core.finding import Finding
from mcp_tap.errors import InconclusiveCapture
from mcp_tap.rules.catalogue import BY_ID, RULES
from mcp_tap.views.reports.base import Assertion, Entry, Report
from mcp_tap.views.show_doc import CaptureDoc

HOSTILE = (
    "</failure>]]><script>alert(1)</script>&amp; <!-- \x1b[2J\x07 \x00 \x0b\x85\u2028 \u202egnp.exe"
    "\n::error file=x::owned\r\n##[warning]owned %0A::stop-commands::x, a:b | c {0} [l](http://e.vil)"
    " \U000e0041 \ufffe \uffff é 雪"
)
"""What a server could call a tool."""


def finding(rule: str = "TAP-003", **fields: Any) -> Finding:
    known = BY_ID.get(rule)
    given: dict[str, Any] = {
        "rule": rule,
        "name": known.name if known else rule,
        "severity": known.severity if known else "error",
        "level": known.level if known else "heuristic",
        "blame": "server",
        "message": "server did what it must not",
        "seq": 7,
        "t": 0.5,
        "call": 16,
        "round": 3,
        "exchange": 22,
        "path": "/params/arguments/a~1b/0",
        "server": "billing",
        "method": "tools/call",
        "target": "deploy",
        "spot": "a/b",
        "line": 377,
        "capture": "captures/run one.jsonl",
    }
    return Finding(**{**given, **fields})


def entry(rule: str = "TAP-003", **fields: Any) -> Entry:
    own = {name: fields.pop(name) for name in ("how", "why", "fails", "run") if name in fields}
    return Entry(finding=finding(rule, **fields), **{"run": 0, **own})


def hostile_entry(rule: str = "TAP-003", **fields: Any) -> Entry:
    wire = dict.fromkeys(("message", "server", "method", "target", "spot"), HOSTILE)
    return entry(rule, **{**wire, "path": f"/{HOSTILE}".replace("\n", ""), **fields})


def capture(**fields: Any) -> CaptureDoc:
    given: dict[str, Any] = {
        "run": "20260728T120401-billing-7f3a",
        "path": "captures/run one.jsonl",
        "started": "2026-07-28T12:04:01.250Z",
        "tool": "mcp-tap/0",
        "transport": "http",
        "upstream": "http://localhost:3000/mcp",
        "label": None,
        "format": 1,
        "records": 412,
        "lost": 0,
        "torn": None,
        "clean": True,
    }
    return CaptureDoc(**{**given, **fields})


def report(*entries: Entry, **fields: Any) -> Report:
    given: dict[str, Any] = {
        "version": "0.1.0",
        "captures": [capture()],
        "entries": entries,
        "rules": [rule for rule in RULES if rule.family == "TAP"],
        "exit_code": int(any(e.fails for e in entries)),
    }
    return Report(**{**given, **fields})


def failed_expect(text: str = "tool:deploy") -> tuple[Assertion, Entry]:
    made = finding(
        "expect", message=f"no call is like this: {text}", seq=0, call=None, round=None,
        exchange=None, path="", server=None, method=None, target=None, spot=text, line=None,
        capture=None, severity="error", level="heuristic",
    )  # fmt: skip
    failed = Entry(finding=made, fails=True)
    return Assertion(option="expect", text=text, failures=[failed]), failed


def torn() -> InconclusiveCapture:
    return InconclusiveCapture(
        "capture-torn",
        "run.jsonl stops in the middle of line 4112",
        why="the run was killed while writing",
        help="mcp-tap check run.jsonl --allow-torn",
    )
