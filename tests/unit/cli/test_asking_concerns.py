from __future__ import annotations

import pytest

from mcp_tap.answers.question import Question
from mcp_tap.cli.asking_concerns import concerns

HERE = "http://localhost:3000/mcp"


def link(url):
    return Question(key="k", ask="url", params={"mode": "url", "message": "Go", "url": url})


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("http://example.com/a", "ELIC-050"),
        ("https://xn--80ak6aa92e.com/", "SEC-015"),
        ("https://m\u00fcnchen.example/", "SEC-014"),
        ("https://user:pw@example.com/", "SEC-009"),
        ("javascript:alert(1)", "SEC-017"),
        ("https://10.0.0.1/x", "SEC-016"),
        ("nonsense", "ELIC-049"),
    ],
)
def test_person_is_warned_of_a_link_as_the_rules_warn_of_it(url, rule):
    found = concerns(link(url), HERE)
    assert [text for text in found if text.endswith(f"({rule})")], found


@pytest.mark.parametrize("url", ["https://example.com/connect", "http://localhost:3000/form"])
def test_plain_link_gives_no_warning(url):
    assert concerns(link(url), HERE) == []


def test_form_that_asks_for_a_secret_is_warned_of_and_the_worst_comes_first():
    properties = {
        "password": {"type": "string"},
        "site": {"type": "string", "title": "See www.x.y"},
    }
    params = {"message": "Log in", "requestedSchema": {"type": "object", "properties": properties}}
    found = concerns(Question(key="k", ask="form", params=params), HERE)
    assert found[0].endswith("(SEC-001)")
    assert concerns(Question(key="k", ask="sampling", params=params), HERE) == []


@pytest.mark.parametrize("params", [{}, {"url": 7}, {"requestedSchema": [[]]}, {"x": "\ud800"}])
def test_whatever_a_server_wrote_nothing_breaks(params):
    for kind in ("form", "url"):
        concerns(Question(key="k", ask=kind, params=params), HERE)
