"""What findings mean for a test."""

from __future__ import annotations

from functools import partial

import pytest

from mcp_tap.plugin.options import Options
from mcp_tap.plugin.verdicts import Allow, Verdicts
from tests.builders import finding

found = partial(finding, "RPC-010", name="missing-result-type", call=1)


def allow(*arguments, own=True, **words):
    return Allow(arguments=arguments, words=words, own=own)


def test_a_finding_fails_once_and_is_told_once():
    verdicts = Verdicts(Options(), [], None)
    assert verdicts.sift(found(), None) == found()
    assert "E RPC-010 missing-result-type" in verdicts.words()
    assert verdicts.words() == ""
    assert verdicts.sift(found(call=2), None)
    assert "#2" in verdicts.words()


def test_what_is_allowed_or_ignored_is_not_there():
    verdicts = Verdicts(Options(ignore=["MRTR"]), [allow("RPC-010", reason="x")], None)
    assert verdicts.sift(found(), None) is None
    assert verdicts.sift(finding(), None) is None
    assert verdicts.words() == ""
    assert verdicts.unused() == []


def test_what_is_not_bad_enough_is_there_and_does_not_fail():
    verdicts = Verdicts(Options(), [], None)
    assert verdicts.sift(found(severity="warning"), None)
    assert verdicts.words() == ""


@pytest.mark.parametrize(("option", "line", "fails"), [
    ("warning", None, True),
    ("error", None, False),
    ("error", "note", True),
    ("warning", "never", False),
])  # fmt: skip
def test_the_command_line_says_last_how_bad_is_too_bad(option, line, fails):
    verdicts = Verdicts(Options(fail_on=option), [], line)
    verdicts.sift(found(severity="warning"), None)
    assert bool(verdicts.words()) is fails


def test_only_what_the_test_itself_allows_has_to_be_needed():
    allows = [allow("RPC-010", reason="x"), allow("ELIC", reason="y", own=False)]
    assert Verdicts(Options(), allows, None).unused() == ["RPC-010"]


def test_an_allow_of_a_rule_that_is_not_looked_at_is_not_unused():
    verdicts = Verdicts(Options(ignore=["RPC-010"]), [allow("RPC-010", reason="x")], None)
    assert verdicts.unused() == []
