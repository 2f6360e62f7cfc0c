from __future__ import annotations

import pytest

from mcp_tap.errors import UsageError
from mcp_tap.rules.catalogue import RULES
from mcp_tap.rules.selectors import FAMILIES, choose, selector


def ids(*words):
    return [selector(word, where="--select") for word in words]


def test_a_rule_is_named_by_id_name_or_what_its_id_begins_with():
    assert selector("TAP-003", where="").ids == {"TAP-003"}
    assert selector("tap-003", where="").ids == {"TAP-003"}
    assert selector("records-lost", where="").ids == {"TAP-003"}
    assert selector("records_lost", where="").ids == {"TAP-003"}
    assert {"TAP-001", "TAP-003"} <= selector("TAP-00", where="").ids
    assert {"TAP-001", "TAP-003"} <= selector("TAP", where="").ids
    assert selector("TAP-", where="").ids == selector("TAP", where="").ids
    assert selector("all", where="").ids == {rule.id for rule in RULES}


def test_every_family_has_words():
    assert {rule.family for rule in RULES} <= FAMILIES.keys()


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("MTRR", "MRTR (round trips)"),
        ("TAP-0003", "TAP-003"),
        ("record-lost", "records-lost"),
    ],
)
def test_a_word_that_names_nothing_is_an_error_with_the_nearest(word, meant):
    with pytest.raises(UsageError) as error:
        selector(word, where="--select")
    assert error.value.what == f"--select {word} names no rule"
    assert error.value.help == f"did you mean {meant}? mcp-tap rules lists them all"


@pytest.mark.parametrize("word", ["", " ", "MRT", "M", "-", "-003", "*", "TAP-9"])
def test_half_a_family_names_nothing(word):
    with pytest.raises(UsageError):
        selector(word, where="--select")


@pytest.mark.parametrize(
    ("select", "ignore", "counts"),
    [
        (["ALL"], [], True),
        (["ALL"], ["TAP"], False),
        (["TAP"], ["ALL"], True),
        (["TAP"], ["TAP"], False),
        (["TAP-003"], ["TAP"], True),
        (["TAP-00"], ["TAP"], True),
        (["TAP-00"], ["TAP-003"], False),
        (["records-lost"], ["TAP-00"], True),
        (["TAP-003"], ["records-lost"], False),
        (["ALL", "TAP-003"], ["TAP"], True),
        (["ELIC"], [], False),
        ([], [], False),
    ],
)
def test_the_closer_word_decides(select, ignore, counts):
    assert ("TAP-003" in choose(ids(*select), ids(*ignore))) == counts
