"""docs/check-json.md and its schema are what the structs say and what `check` prints."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import jsonschema_rs
import msgspec
import pytest
from cogapp import Cog

from mcp_tap.cli.check import ASSERT, command
from mcp_tap.cli.main import run
from mcp_tap.views.check_doc import CheckDoc
from mcp_tap.views.reports import as_json

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "check-json.md"


def script():
    spec = importlib.util.spec_from_file_location("check_json", ROOT / "docs/check_json.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = script()


def example():
    found = re.search(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return json.loads(found[1])


def test_the_example_fits_the_contract():
    doc = msgspec.convert(example(), CheckDoc)
    counted = [f.severity for f in doc.findings]
    assert counted.count("error") == doc.summary.error
    assert counted.count("warning") == doc.summary.warning
    assert counted.count("note") == doc.summary.note


def test_what_check_prints_fits_the_schema(capsys):
    captures = sorted(str(path) for path in (ROOT / "captures").glob("*.jsonl"))
    assert run(["check", *captures, "--expect", "tool:nothing", "--json"]) == 1
    jsonschema_rs.validator_for(as_json.schema()).validate(json.loads(capsys.readouterr().out))


def test_the_schema_on_file_is_the_one_of_the_structs():
    assert SCRIPT.SCHEMA.read_text(encoding="utf-8") == SCRIPT.schema_text(), "run `make docs`"


def test_the_schema_requires_every_field():
    for part in as_json.schema()["$defs"].values():
        assert set(part["required"]) == set(part["properties"])


@pytest.mark.parametrize("struct", [part for _, part in SCRIPT.PARTS], ids=lambda s: s.__name__)
def test_every_field_is_described(struct):
    assert struct.__doc__
    assert not [name for name, _, text in SCRIPT.fields(struct) if not text]


def test_the_page_names_every_assertion():
    text = PAGE.read_text(encoding="utf-8")
    options = [p.key for p in command.params if getattr(p, "panel", "") == ASSERT]
    assert len(options) == 5
    assert all(f"--{option}" in text for option in options)


def test_the_page_is_what_the_structs_say(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert Cog().main(["cog", "--check", str(PAGE)]) == 0, "run `make docs`"
