"""Pages that are made of code say what the code says: `make docs` writes them anew."""

from __future__ import annotations

import pytest
from cogapp import Cog

from tests.pages import DOCS, ROOT

MADE = sorted(
    path.name for path in DOCS.glob("*.md") if "[[[cog" in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("page", MADE)
def test_the_page_is_what_the_code_says(page, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert Cog().main(["cog", "--check", str(DOCS / page)]) == 0, "run `make docs`"


@pytest.mark.parametrize("page", MADE)
def test_the_page_is_made_anew_with_the_others(page):
    assert f"docs/{page}" in (ROOT / "Makefile").read_text(encoding="utf-8")
