import pytest

from mcp_tap.rules.base import _REGISTER, Hit, rule
from mcp_tap.rules.catalogue import BY_ID


def test_function_name_and_docstring_are_the_rules_name_and_page():
    found = BY_ID["TAP-003"]
    assert found.name == "records-lost"
    assert found.summary.startswith("Records are missing")
    assert found.family == "TAP"


def test_an_id_cannot_be_taken_twice():
    before = dict(_REGISTER)
    declare = rule("TAP-003", severity="note", level="may", blames="tap", spec="", on="request")
    with pytest.raises(ValueError, match="TAP-003"):
        declare(lambda _: Hit("x"))
    assert before == _REGISTER
