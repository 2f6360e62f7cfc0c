"""docs/rules.md lists the rules there are."""

from __future__ import annotations

from mcp_tap.rules.catalogue import RULES
from tests.pages import text_of


def test_every_rule_has_its_row():
    lines = text_of("rules.md").splitlines()
    for rule in RULES:
        (row,) = [line for line in lines if line.startswith((f"| [{rule.id}]", f"| {rule.id} "))]
        assert rule.name in row
        assert row.count(" | ") == 6, row
