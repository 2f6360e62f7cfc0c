"""The pages about JSON documents, and their schemas, are what the structs say."""

from __future__ import annotations

import pytest

from tests.pages import DOCS, script

PAGES = {page.name: page for page in script("json_pages").PAGES}
PARTS = [
    pytest.param(page, struct, id=f"{page.name}-{struct.__name__}")
    for page in PAGES.values()
    for _, struct in page.parts
]


def test_there_is_a_page_for_each_schema():
    assert {f"{name}.schema.json" for name in PAGES} == {p.name for p in DOCS.glob("*.schema.json")}
    assert {f"{name}-json.md" for name in PAGES} == {p.name for p in DOCS.glob("*-json.md")}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_the_schema_on_file_is_the_one_of_the_structs(page):
    assert page.schema_file.read_text(encoding="utf-8") == page.schema_text(), "run `make docs`"


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_the_schema_requires_every_field(page):
    for part in page.schema()["$defs"].values():
        assert set(part["required"]) == set(part["properties"])


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_every_part_of_the_schema_is_on_the_page(page):
    assert {struct.__name__ for _, struct in page.parts} == set(page.schema()["$defs"])


@pytest.mark.parametrize(("page", "struct"), PARTS)
def test_every_field_is_described(page, struct):
    assert struct.__doc__
    assert not [name for name, _, text in page.fields(struct) if not text]
