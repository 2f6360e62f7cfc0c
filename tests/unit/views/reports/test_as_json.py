from __future__ import annotations

import json

import jsonschema_rs
import msgspec

from mcp_tap.views.check_doc import CheckDoc
from mcp_tap.views.reports.as_json import json_report, schema
from tests.reports import HOSTILE, entry, failed_expect, hostile_entry, report


def test_the_document_has_what_counts_with_passage_and_help():
    made = report(entry(), entry(how="suppressed"), entry(how="baselined"), entry(how="ignored"))
    doc = json.loads(json_report(made))
    assert doc["version"] == 1
    assert doc["summary"] == {
        "error": 0, "warning": 1, "note": 0, "suppressed": 1, "baselined": 1,
    }  # fmt: skip
    (found,) = doc["findings"]
    assert found == {
        "rule": "TAP-003",
        "name": "records-lost",
        "severity": "warning",
        "level": "heuristic",
        "blame": "server",
        "message": "server did what it must not",
        "capture": "captures/run one.jsonl",
        "line": 377,
        "seq": 7,
        "call": 16,
        "round": 3,
        "exchange": 22,
        "path": "/params/arguments/a~1b/0",
        "server": "billing",
        "method": "tools/call",
        "target": "deploy",
        "spot": "a/b",
        "spec": None,
        "help": found["help"],
    }
    assert found["help"].endswith("mcp-tap rules TAP-003")


def test_the_document_fits_its_schema_whatever_the_wire_said():
    assertion, failed = failed_expect(HOSTILE)
    data = json_report(report(hostile_entry(), failed, assertions=[assertion]))
    jsonschema_rs.validator_for(schema()).validate(json.loads(data))
    doc = msgspec.json.decode(data, type=CheckDoc)
    assert doc.findings[0].target == HOSTILE
    assert all(ch.isprintable() or ch == "\n" for ch in data.decode())
