"""docs/rules.md lists the rules there are."""

from __future__ import annotations

from pathlib import Path

from cogapp import Cog

from mcp_tap.rules.catalogue import RULES

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "rules.md"


def test_the_page_is_what_the_rules_say(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert Cog().main(["cog", "--check", str(PAGE)]) == 0, "run `make docs`"


def test_every_rule_has_its_row():
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    for rule in RULES:
        (row,) = [line for line in lines if line.startswith((f"| [{rule.id}]", f"| {rule.id} "))]
        assert rule.name in row
        assert row.count(" | ") == 6, row
