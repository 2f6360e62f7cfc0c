"""docs/diff-json.md shows what `diff` prints."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs
import msgspec

from mcp_tap.cli import diff_doc
from mcp_tap.cli.main import run
from tests import changed
from tests.pages import ROOT, example_of


def test_the_example_is_what_diff_prints(capsys, monkeypatch, tmp_path):
    example = example_of("diff-json.md")
    monkeypatch.chdir(tmp_path)
    changed.write(Path())
    assert run(["diff", "before.jsonl", "after.jsonl", "--json"]) == 1
    assert capsys.readouterr().out == example
    msgspec.json.decode(example, type=diff_doc.DiffDoc)


def test_what_diff_prints_fits_the_schema(capsys):
    captures = [str(ROOT / "captures" / f"{name}.jsonl") for name in ("py-py-2025", "ts-ts-2026")]
    assert run(["diff", *captures, "--json"]) == 1
    jsonschema_rs.validator_for(diff_doc.schema()).validate(json.loads(capsys.readouterr().out))
