import pytest

from mcp_tap.rules.shown import has_shape, listed


def test_long_lists_of_names_are_cut():
    assert listed(["a", "b"]) == '"a", "b"'
    assert listed(list("abcdef")) == '"a", "b", "c" and 3 more'


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        ({"action": "accept"}, {"form", "url"}),
        ({"content": {}}, {"form", "url", "sampling"}),
        ({"role": "assistant", "content": {}}, {"sampling"}),
        ({"roots": []}, {"roots"}),
        ({"action": "accept", "content": {}}, {"form", "url"}),
        ({}, set()),
    ],
)
def test_an_answer_has_the_shape_of_kinds(value, kinds):
    assert {k for k in ("form", "url", "sampling", "roots") if has_shape(value, k)} == kinds
    assert has_shape(value, "other")
