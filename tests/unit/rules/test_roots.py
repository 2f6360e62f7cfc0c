"""Roots are file URIs."""

from __future__ import annotations

import pytest

from tests.cases import answer, asking, call, exchange, fired, ids, result, traffic

CAN = {"roots": {}}


def given(roots):
    retry = call(2, caps=CAN, inputResponses={"r": {"roots": roots}}, requestState="state-1")
    return traffic(
        exchange(call(caps=CAN), answer(asking({"r": {"method": "roots/list"}}))),
        exchange(retry, answer(result(2, content=[]))),
    )


@pytest.mark.parametrize(
    "root",
    [
        {"uri": "https://example.com/"},
        {"uri": "/home/user"},
        {"uri": "file:/home/user"},
        {"uri": ""},
        {"uri": 7},
        {"uri": None},
        {"name": "home"},
        "file:///home",
    ],
)
def test_a_root_that_is_no_file_uri_is_found(root):
    found = fired(given([{"uri": "file:///ok"}, root]), "ROOT")
    assert [(f.rule, f.severity, f.path) for f in found] == [
        ("ROOT-001", "error", "/params/inputResponses/r/roots/1/uri")
    ]


@pytest.mark.parametrize("uri", ["file:///a/../b", "file:///a/..", "file://host/%2E%2e/b"])
def test_steps_upward_are_a_warning(uri):
    assert [f.severity for f in fired(given([{"uri": uri}]), "ROOT")] == ["warning"]


@pytest.mark.parametrize(
    "roots",
    [
        [],
        [{"uri": "FILE:///home/user"}],
        [{"uri": "file:///C:/a%20b", "name": "x"}],
        [{"uri": "file:///a..b/..c/d.."}],
        [{"uri": "file:///a?x=/../"}],
        [{"uri": "mcp-tap:0123456789abcdef"}],
    ],
)
def test_sound_roots_are_let_pass(roots):
    assert ids(given(roots), "ROOT") == []
