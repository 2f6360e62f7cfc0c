"""docs/show-json.md and its schema are what the structs say and what `show` prints."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import msgspec
import pytest
from cogapp import Cog

from mcp_tap.cli.main import run
from mcp_tap.views import machine
from mcp_tap.views.show_doc import ShowDoc
from tests.traffic import story

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "show-json.md"


def script():
    spec = importlib.util.spec_from_file_location("show_json", ROOT / "docs/show_json.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = script()


def shape(value, at="$"):
    """The paths of all fields of a document, lists as one."""
    if isinstance(value, dict):
        return {path for key, inner in value.items() for path in shape(inner, f"{at}.{key}")}
    if isinstance(value, list):
        return {path for inner in value for path in shape(inner, f"{at}[]")} or {at}
    return {at}


def example():
    found = re.search(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return json.loads(found[1])


def test_the_example_has_the_fields_of_real_output(tmp_path, capsys):
    path = story().write(tmp_path / "run.jsonl")
    assert run(["show", str(path), "tool:deploy | kind:notification", "--json"]) == 0
    assert shape(json.loads(capsys.readouterr().out)) == shape(example())


def test_the_example_fits_the_contract():
    msgspec.convert(example(), ShowDoc)


def test_the_schema_on_file_is_the_one_of_the_structs():
    assert SCRIPT.SCHEMA.read_text(encoding="utf-8") == SCRIPT.schema_text(), (
        "run: python docs/show_json.py"
    )


def test_the_schema_requires_every_field():
    for part in machine.schema()["$defs"].values():
        assert set(part["required"]) == set(part["properties"])


@pytest.mark.parametrize("struct", [part for _, part in SCRIPT.PARTS], ids=lambda s: s.__name__)
def test_every_field_is_described(struct):
    assert struct.__doc__
    assert not [name for name, _, text in SCRIPT.fields(struct) if not text]


def test_the_page_is_what_the_structs_say(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert Cog().main(["cog", "--check", str(PAGE)]) == 0, (
        f"run: python -m cogapp -r {PAGE.relative_to(ROOT)}"
    )
