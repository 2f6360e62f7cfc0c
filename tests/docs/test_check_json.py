"""docs/check-json.md shows what `check` prints."""

from __future__ import annotations

import json

import jsonschema_rs
import msgspec

from mcp_tap.cli.check import ASSERT, command
from mcp_tap.cli.main import run
from mcp_tap.views.check_doc import CheckDoc
from mcp_tap.views.reports import as_json
from tests.pages import ROOT, example_of, text_of

PAGE = "check-json.md"


def test_the_example_fits_the_contract():
    doc = msgspec.json.decode(example_of(PAGE), type=CheckDoc)
    counted = [f.severity for f in doc.findings]
    assert counted.count("error") == doc.summary.error
    assert counted.count("warning") == doc.summary.warning
    assert counted.count("note") == doc.summary.note


def test_what_check_prints_fits_the_schema(capsys):
    captures = sorted(str(path) for path in (ROOT / "captures").glob("*.jsonl"))
    assert run(["check", *captures, "--expect", "tool:nothing", "--json"]) == 1
    jsonschema_rs.validator_for(as_json.schema()).validate(json.loads(capsys.readouterr().out))


def test_the_page_names_every_assertion():
    options = [p.key for p in command.params if getattr(p, "panel", "") == ASSERT]
    assert len(options) == 5
    assert all(f"--{option}" in text_of(PAGE) for option in options)
