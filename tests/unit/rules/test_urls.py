from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.rules.urls import LONGEST, LONGEST_HOST, fault, pairs_of, read_url


def test_a_url_has_its_parts():
    url = read_url("HTTPS://me:pw@Пример.РФ:8443/a%20b/c?id=7&x=a+b#at=1")
    assert url is not None
    assert (url.scheme, url.username, url.password) == ("https", "me", "pw")
    assert (url.host, url.port) == ("xn--e1afmkfd.xn--p1ai", 8443)
    assert (url.written_host, url.labels) == ("Пример.РФ", ["пример", "рф"])
    assert (url.path, url.query, url.fragment) == ("/a%20b/c", "id=7&x=a+b", "at=1")
    assert url.segments == ["a b", "c"]
    assert url.pairs == [("id", "7"), ("x", "a b")]
    assert url.fragment_pairs == [("at", "1")]


@pytest.mark.parametrize(
    "text",
    [
        "http://0x7f.1/",
        "http://2130706433/",
        "http://127.1:80/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::1]/",
        "http://localhost./",
        "http://a.LOCALHOST/",
        "http:\\\\localhost/",
    ],
)
def test_the_own_machine_is_known_in_every_spelling(text):
    url = read_url(text)
    assert url is not None
    assert url.is_loopback


def test_the_host_is_the_one_a_click_leads_to():
    url = read_url("https://good.example\\@evil.example/")
    assert url is not None
    assert (url.host, url.written_host) == ("good.example", "good.example")
    url = read_url("https://good.example@evil.example/")
    assert url is not None
    assert (url.host, url.username) == ("evil.example", "good.example")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("https://mcp.example.com:8443/c?id=7#top", None),
        ("https://пример.рф/я", None),
        ("http://[::1]:8000/c", None),
        ("https://h/%zz", None),
        ("com.app:/x", None),
        ("javascript:alert(1)", None),
        ("", "is empty"),
        ("mcp.example.com/connect", "has no scheme"),
        ("//mcp.example.com/connect", "has no scheme"),
        ("/connect", "has no scheme"),
        ("://x", "has no scheme"),
        ("1https://x", "has no scheme"),
        ("https://", "has no host"),
        ("https:///c", "has no host"),
        ("https:mcp.example.com", "has no host"),
        ("https://:80/", "has no host"),
        ("https://me@/", "has no host"),
        ("https://h/a b", "contains a raw blank"),
        (" https://h/", "contains a raw blank"),
        ("https://h/\n", "contains the raw character U+000A"),
        ("https://h/\ud800", "contains the raw character U+D800"),
        ("https://h:99999/", "has a host or port that cannot be parsed"),
        ("https://h:8o/", "has a host or port that cannot be parsed"),
        ("https://[::1/", "has an IPv6 address or port that cannot be parsed"),
        ("https://[x]/", "has an IPv6 address or port that cannot be parsed"),
    ],
)
def test_a_fault_says_what_is_wrong(text, why):
    assert fault(text) == why


def test_what_is_too_long_is_not_read():
    assert read_url("https://h/" + "a" * LONGEST) is None
    assert fault("https://h/" + "a" * LONGEST) is None
    assert read_url("https://" + "é" * LONGEST_HOST + "x/") is None
    assert fault("https://" + "é" * LONGEST_HOST + "x/") is None


def test_parameters_are_bounded():
    assert len(pairs_of("a=1&" * 100_000)) == 1000


@given(st.text(alphabet=st.sampled_from("htps:/\\@[]?#.%x-1 é\n\ud800"), max_size=40))
def test_no_text_is_too_odd(text):
    for given_text in (text, "https://" + text):
        url = read_url(given_text)
        fault(given_text)
        if url is not None:
            assert url.scheme.islower()
            assert len(url.labels) <= len(given_text) + 1
            assert not (url.is_loopback and url.host is None)
            assert len(url.pairs) + len(url.segments) + len(url.written_host) <= 2 * len(given_text)
