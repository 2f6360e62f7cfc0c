"""docs/replay-client-json.md and its schema are what the structs say."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import jsonschema_rs
import msgspec
import pytest
from cogapp import Cog

from mcp_tap.cli import replay_client_doc

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "replay-client-json.md"


def script():
    spec = importlib.util.spec_from_file_location(
        "replay_client_json", ROOT / "docs/replay_client_json.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = script()


def test_the_example_is_such_a_document():
    found = re.search(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    jsonschema_rs.validator_for(replay_client_doc.schema()).validate(json.loads(found[1]))
    msgspec.json.decode(found[1], type=replay_client_doc.ReplayDoc)


def test_the_schema_on_file_is_the_one_of_the_structs():
    assert SCRIPT.SCHEMA.read_text(encoding="utf-8") == SCRIPT.schema_text(), "run `make docs`"


def test_the_schema_requires_every_field():
    for part in replay_client_doc.schema()["$defs"].values():
        assert set(part["required"]) == set(part["properties"])


@pytest.mark.parametrize("struct", [part for _, part in SCRIPT.PARTS], ids=lambda s: s.__name__)
def test_every_field_is_described(struct):
    assert struct.__doc__
    assert not [name for name, _, text in SCRIPT.fields(struct) if not text]


def test_the_page_is_what_the_structs_say(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert Cog().main(["cog", "--check", str(PAGE)]) == 0, "run `make docs`"
