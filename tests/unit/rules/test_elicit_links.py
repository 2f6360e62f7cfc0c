from __future__ import annotations

import pytest

from tests.cases import fired, form, ids
from tests.unit.rules.elicited import MINE, asked


def link(url):
    params = {"mode": "url", "message": "Sign in", "url": url}
    return asked({"method": "elicitation/create", "params": params})


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://mcp.example.com:8443/c?id=7#top", []),
        ("HTTPS://MCP.example.com/", []),
        ("https://пример.рф/вход", []),
        ("http://localhost:8000/c", []),
        ("http://app.localhost/c", []),
        ("http://127.8.9.1/c", []),
        ("http://[::1]:80/c", []),
        ("http://mcp.example.com/c", ["ELIC-050"]),
        ("http://localhost.example.com/c", ["ELIC-050"]),
        ("http://128.0.0.1/c", ["ELIC-050"]),
        ("HTTP://mcp.example.com/c", ["ELIC-050"]),
        ("ftp://mcp.example.com/c", ["ELIC-050"]),
        ("myapp://connect", ["ELIC-050"]),
        ("mailto:a@b.c", ["ELIC-050"]),
        ("javascript:alert(1)", []),
        (" javascript:alert(1)", []),
        (" https://mcp.example.com/", ["ELIC-049"]),
        ("DATA:text/html,x", []),
        ("file:///etc/passwd", []),
        ("view-source:https://a.b", []),
        ("mcp.example.com/connect", ["ELIC-049"]),
        ("/connect", ["ELIC-049"]),
        ("https://", ["ELIC-049"]),
        ("http://", ["ELIC-049"]),
        ("http://mcp.example.com/a b", ["ELIC-049"]),
        ("https://mcp.example.com:99999/", ["ELIC-049"]),
        ("", ["ELIC-049"]),
    ],
)
def test_a_url_is_absolute_and_secure(url, expected):
    assert ids(link(url), *MINE) == expected


def test_a_url_that_was_masked_is_not_judged():
    assert ids(link("http://h/?token=mcp-tap:0123456789abcdef x"), *MINE) == []


@pytest.mark.parametrize(
    "text",
    [
        "Accept the terms at https://acme.test/terms",
        "See www.acme.test/plan",
        "See WWW.acme.test",
        "See [the guide](https://acme.test/guide)",
        "See [the guide](/guide)",
        "See [the guide](guide.html 'Guide')",
        'See <a href="/guide">the guide</a>',
        "See <A\nclass=x HREF=guide>the guide</A>",
        "Open myapp://settings",
        "Read file:///etc/hosts",
        "See https://docs.example.com/guide",
        "e.g. https://acme.test/hook",
        "e.g. https://hooks.example.com/in or https://acme.io/in",
        "See https://example.com/terms, e.g. section 3",
        "https://example.com.evil.io/, for example",
        "for example https://example.com@evil.io/",
        "(https://a.b)",
        "http://[::1]/",
        "смhttps://пример.рф",
    ],
)
def test_a_link_in_a_text_is_told_of(text):
    (found,) = fired(asked(form(text)), "ELIC-051")
    assert found.path == "/result/inputRequests/q/params/message"
    assert found.severity == "warning"


@pytest.mark.parametrize(
    "text",
    [
        "Which host, acme.test or acme.io?",
        "The address must start with https://",
        "http:// or https://...",
        "Use http(s)://<host>",
        "e.g. https://example.com/repo",
        "E.g., https://example.com/repo",
        "For example https://hooks.example.com/in",
        "a page such as www.example.org",
        "Format: https://user@git.example:8443/x",
        "zum Beispiel https://example.net",
        "f[x](y) and a[1] (b)",
        "Pick one [a](b)",
        "see www. and awww.acme",
        "a <abbr>tag</abbr>, a < b",
        "<a name=x>",
        "12:30//13:00",
    ],
)
def test_other_texts_are_fine(text):
    assert ids(asked(form(text)), "ELIC-051") == []


def test_all_texts_of_a_form_are_searched_and_no_data():
    bad = "https://acme.test"
    entry = form(
        "?",
        a={"type": "string", "title": bad},
        b={"type": "string", "description": bad},
        c={"type": "string", "oneOf": [{"const": bad, "title": bad}]},
        d={"type": "array", "items": {"anyOf": [{"const": bad, "title": bad}]}},
        e={"type": "string", "enum": [bad], "enumNames": [bad]},
        f={"type": "string", "format": "uri", "title": bad, "description": bad, "default": bad},
        g={"type": "string", "default": bad, "examples": [bad]},
    )
    schema = entry["params"]["requestedSchema"]
    schema.update({"title": bad, "description": bad, "$schema": bad})
    prefix = "/result/inputRequests/q/params/requestedSchema/"
    assert [f.path.removeprefix(prefix) for f in fired(asked(entry), "ELIC-051")] == [
        "description",
        "properties/a/title",
        "properties/b/description",
        "properties/c/oneOf/0/title",
        "properties/d/items/anyOf/0/title",
        "properties/e/enumNames/0",
        "title",
    ]


def test_the_message_beside_a_url_may_have_links():
    params = {"mode": "url", "message": "https://a.b", "url": "https://a.b"}
    assert ids(asked({"method": "elicitation/create", "params": params}), "ELIC-051") == []
