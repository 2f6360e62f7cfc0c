"""What clients declare is understood, and more is declared for them."""

from __future__ import annotations

import json

import pytest

from mcp_tap.proxy.answering.capabilities import declared_in, declaring

ALL = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}


@pytest.mark.parametrize(
    ("capabilities", "kinds"),
    [
        (None, set()),
        ({"elicitation": {}}, {"form"}),
        ({"elicitation": {"url": {}}}, {"url"}),
        (ALL, {"form", "url", "sampling", "roots"}),
        ({"sampling": None, "roots": 1}, set()),
    ],
)
def test_what_capabilities_cover(capabilities, kinds):
    assert declared_in(capabilities) == kinds


def test_a_text_in_which_more_is_declared_differs_in_nothing_else():
    body = b'{"x" : 1e2,"c":{"roots":{ }}, "y":[]}'
    told = declaring(body, {"roots": {}}, {"sampling": {}}, "c")
    assert told == b'{"x" : 1e2,"c":{"roots":{ },"sampling":{}}, "y":[]}'


@pytest.mark.parametrize("declared", [None, [], "all"])
def test_capabilities_that_are_none_are_given(declared):
    body = json.dumps({"c": declared}).encode()
    assert json.loads(declaring(body, declared, ALL, "c")) == {"c": ALL}


def test_nothing_is_written_where_all_is_declared():
    assert declaring(b"{}", ALL, {"roots": {}, "elicitation": {"form": {}}}, "c") is None
