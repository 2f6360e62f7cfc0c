"""docs/show-json.md shows what `show` prints."""

from __future__ import annotations

import json

import msgspec

from mcp_tap.cli.main import run
from mcp_tap.views.show_doc import ShowDoc
from tests.pages import example_of
from tests.traffic import story

EXAMPLE = example_of("show-json.md")


def shape(value, at="$"):
    """The paths of all fields of a document, lists as one."""
    if isinstance(value, dict):
        return {path for key, inner in value.items() for path in shape(inner, f"{at}.{key}")}
    if isinstance(value, list):
        return {path for inner in value for path in shape(inner, f"{at}[]")} or {at}
    return {at}


def test_the_example_has_the_fields_of_real_output(tmp_path, capsys):
    path = story().write(tmp_path / "run.jsonl")
    assert run(["show", str(path), "tool:deploy | kind:notification", "--json"]) == 0
    assert shape(json.loads(capsys.readouterr().out)) == shape(json.loads(EXAMPLE))


def test_the_example_fits_the_contract():
    msgspec.json.decode(EXAMPLE, type=ShowDoc)
