from __future__ import annotations

from mcp_tap.rules.catalogue import BY_ID, RULES
from mcp_tap.views.rule_examples import examples


def test_bad_examples_come_first_and_short_ones_before_long_ones():
    kinds = [case["kind"] for case in examples(BY_ID["MRTR-016"])]
    assert kinds == sorted(kinds)
    assert {"bad", "good"} <= set(kinds)


def test_examples_are_of_the_rule_alone():
    assert all(case["rule"] == rule.id for rule in RULES for case in examples(rule))


def test_a_family_may_have_none():
    assert examples(BY_ID["TAP-003"]) == []
