from __future__ import annotations

import pytest

from tests.cases import (
    fired,
)
from tests.unit.rules.elicited import CHOICE, MINE, field, old


def found_in(case):
    return [(f.rule, f.severity) for f in fired(case, *MINE)]


def several(**items):
    return field(type="array", items=items)


BAD = [("ELIC-026", "error")]


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (field(type="string", enum=["1", "2"]), []),
        (field(type="string", enum=[""]), []),
        (field(type="string", enum="a"), BAD),
        (field(type="string", enum=None), BAD),
        (field(type="string", enum=[]), BAD),
        (field(type="string", enum=["a", None]), BAD),
        (field(type="string", enum=[["a"]]), BAD),
        (field(type="integer", enum=[1, 2]), BAD),
        (field(type="integer", enum=["1"]), BAD),
        (field(type="boolean", enum=["yes"]), BAD),
        (field(type="string", enum=["a", "a"]), [("ELIC-026", "warning")]),
        (several(type="string", enum=["a", "b"]), []),
        (several(type="string", enum=[]), BAD),
        (several(type="string", enum=["a", 1]), BAD),
        (several(enum=["a"]), BAD),
        (several(type="string", enum=["a", "a"]), [("ELIC-026", "warning")]),
    ],
)
def test_an_enum_is_a_list_of_texts(case, expected):
    assert found_in(case) == expected


MALFORMED = [("ELIC-027", "error")]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (CHOICE, []),
        ([{"const": "a", "title": "", "description": "D", "x-a": 1}], []),
        ([], MALFORMED),
        ([{"const": "a"}], MALFORMED),
        ([{"const": 1, "title": "A"}], MALFORMED),
        ([{"const": None, "title": "A"}], MALFORMED),
        ([{"title": "A"}], MALFORMED),
        ([{"const": "a", "title": 1}], MALFORMED),
        (["a", "b"], MALFORMED),
        ([*CHOICE, {"const": "a", "title": "C"}], MALFORMED),
    ],
)
def test_a_titled_option_has_a_value_and_a_title(options, expected):
    assert found_in(field(type="string", oneOf=options)) == expected
    assert found_in(several(anyOf=options)) == expected


MIXED = [("ELIC-028", "warning")]


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (field(type="string", anyOf=CHOICE), MIXED),
        (several(oneOf=CHOICE), MIXED),
        (several(type="string", oneOf=CHOICE), MIXED),
        (field(type="string", enum=["a", "b"], oneOf=CHOICE), MIXED),
        (several(type="string", enum=["a", "b"], anyOf=CHOICE), MIXED),
        (field(type="string", oneOf=CHOICE), []),
        (several(anyOf=CHOICE), []),
    ],
)
def test_each_kind_of_choice_has_its_keyword(case, expected):
    assert found_in(case) == expected


@pytest.mark.parametrize(
    ("version", "names", "expected"),
    [
        ("2025-11-25", ["A", "B"], [("ELIC-029", "note")]),
        ("2025-11-25", ["A"], [("ELIC-029", "warning")]),
        ("2025-11-25", "A", [("ELIC-029", "warning")]),
        ("2025-06-18", ["A", "B"], []),
        ("2025-06-18", ["A"], [("ELIC-029", "warning")]),
    ],
)
def test_the_older_titles_are_counted(version, names, expected):
    assert found_in(old(version, type="string", enum=["a", "b"], enumNames=names)) == expected


def test_titles_of_several_are_counted_too():
    assert found_in(several(type="string", enum=["a", "b"], enumNames=["A"])) == [
        ("ELIC-029", "warning")
    ]
    assert found_in(field(type="string", enumNames=["A"])) == []


def test_old_sessions_have_no_titled_choices_to_judge():
    assert found_in(old("2025-06-18", type="string", oneOf=[{"const": "a"}])) == []
    assert found_in(old("2025-06-18", type="string", enum=[])) == BAD
