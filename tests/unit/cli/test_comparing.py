from __future__ import annotations

import pytest

from mcp_tap.cli.comparing import rules_of
from mcp_tap.errors import UsageError

GIVEN = {"ignore_path": (), "no_normalise": ()}
OLD, NEW = "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"


def test_a_normaliser_that_is_switched_off_matches_nothing():
    assert rules_of(GIVEN, same_key=False).same(OLD, NEW)
    assert not rules_of({**GIVEN, "no_normalise": ("timestamps",)}, same_key=False).same(OLD, NEW)


def test_paths_to_ignore_reach_the_rules():
    rules = rules_of({**GIVEN, "ignore_path": ("/a",)}, same_key=False)
    assert rules.same({"a": 1}, {"a": 2})
    with pytest.raises(UsageError):
        rules_of({**GIVEN, "ignore_path": ("/",)}, same_key=False)
