"""`check -f json`: the findings that count as one document (views.check_doc has its structs)."""

from __future__ import annotations

from typing import Any

import msgspec

from mcp_tap.views.check_doc import VERSION, CheckDoc, CheckFindingDoc, CheckSummaryDoc
from mcp_tap.views.machine import document_bytes
from mcp_tap.views.reports.base import Entry, Report, help_words, spec_url


def json_report(report: Report) -> bytes:
    """Render the document."""
    doc = CheckDoc(
        version=VERSION,
        captures=list(report.captures),
        findings=[_finding(entry) for entry in report.counting],
        summary=CheckSummaryDoc(
            error=report.count("error"),
            warning=report.count("warning"),
            note=report.count("note"),
            suppressed=report.excepted("suppressed"),
            baselined=report.excepted("baselined"),
        ),
    )
    return document_bytes(doc) + b"\n"


def schema() -> dict[str, Any]:
    """Give the JSON Schema of the document."""
    return msgspec.json.schema(CheckDoc)


def _finding(entry: Entry) -> CheckFindingDoc:
    f = entry.finding
    return CheckFindingDoc(
        rule=f.rule,
        name=f.name,
        severity=f.severity,
        level=f.level,
        blame=f.blame,
        message=f.message,
        capture=f.capture,
        line=f.line,
        seq=f.seq,
        call=f.call,
        round=f.round,
        exchange=f.exchange,
        path=f.path,
        server=f.server,
        method=f.method,
        target=f.target,
        spot=f.spot,
        spec=spec_url(f.rule),
        help=help_words(f.rule),
    )
