"""Upstream URLs, taken apart or refused with what to write instead."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from mcp_tap.errors import UsageError
from mcp_tap.net.target import parse_target, tls_context

CERTIFICATE = Path(__file__).parents[2] / "data" / "localhost.pem"


@pytest.mark.parametrize(
    ("url", "host", "port", "path", "authority"),
    [
        ("http://localhost:3000/mcp", "localhost", 3000, "/mcp", "localhost:3000"),
        ("http://localhost", "localhost", 80, "/", "localhost"),
        ("https://api.example/a/b/", "api.example", 443, "/a/b/", "api.example"),
        ("https://api.example:8443", "api.example", 8443, "/", "api.example:8443"),
        ("http://[::1]:3000/mcp", "::1", 3000, "/mcp", "[::1]:3000"),
        ("HTTP://Host.Example/Mcp", "host.example", 80, "/Mcp", "Host.Example"),
        ("http://h/%7Bx%7D", "h", 80, "/%7Bx%7D", "h"),
    ],
)
def test_urls_are_taken_apart(url, host, port, path, authority):
    target = parse_target(url)
    assert (target.host, target.port, target.path) == (host, port, path)
    assert target.authority == authority
    assert target.tls == url.startswith("https")
    assert target.url == f"{'https' if target.tls else 'http'}://{authority}{path}"


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:1", True),
        ("http://LOCALHOST:1", True),
        ("https://127.0.0.1/mcp", True),
        ("http://[::1]/", True),
        ("http://192.168.0.1/", False),
        ("https://example.com", False),
    ],
)
def test_loopback_upstreams_are_known(url, local):
    assert parse_target(url).loopback is local


@pytest.mark.parametrize(
    ("url", "help_"),
    [
        ("", "http://HOST:PORT"),
        ("localhost:3000/mcp", "http://localhost:3000/mcp"),
        ("3000", "http://localhost:3000/mcp"),
        (":3000", "http://localhost:3000/mcp"),
        ("3000/api/", "http://localhost:3000/api/"),
        ("127.0.0.1:3000", "http://127.0.0.1:3000"),
        ("ftp://h/x", "http://h/x"),
        ("htp://h/x", "http://h/x"),
        ("http://", "http://HOST:PORT"),
        ("http:///mcp", "http://HOST:PORT"),
        ("http://h:port/", "http://HOST:PORT"),
        ("http://h:99999/", "http://HOST:PORT"),
        ("http://h/mcp?x=1", "mcp-tap http http://h/mcp"),
        ("http://h/mcp#x", "mcp-tap http http://h/mcp"),
        ("http://[::1/mcp", "http://HOST:PORT"),
        ("http://a..b/", "http://HOST:PORT"),
        (f"http://{'a' * 70}.example/", "http://HOST:PORT"),
    ],
)
def test_what_is_no_upstream_url_is_refused_with_what_to_write(url, help_):
    with pytest.raises(UsageError) as caught:
        parse_target(url)
    assert caught.value.code == "bad-upstream"
    assert help_ in caught.value.help


def test_a_password_in_the_url_is_refused_and_not_repeated():
    with pytest.raises(UsageError) as caught:
        parse_target("https://ann:SECRET@example.com/mcp")
    assert "SECRET" not in str(caught.value)
    assert "-H" in caught.value.help


def test_tls_is_verified_unless_told_otherwise():
    context = tls_context(insecure=False, cacert=None)
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    context = tls_context(insecure=True, cacert=None)
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_NONE, False)


def test_a_file_of_authorities_can_be_given():
    assert tls_context(insecure=False, cacert=str(CERTIFICATE)).get_ca_certs()


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_an_unusable_file_of_authorities_is_told(tmp_path, content):
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UsageError) as caught:
        tls_context(insecure=False, cacert=str(path))
    assert caught.value.code == "bad-cacert"
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("ch", [" ", "\t", "\r", "\n", "\0", "\x1b", "\x7f", "\u202e", "\u2028"])
@pytest.mark.parametrize("form", ["http://h{}/mcp", "http://h/m{}cp", "{}http://h/", "http://h/{}"])
def test_a_url_with_what_does_not_show_is_refused(form, ch):
    with pytest.raises(UsageError, match="is no upstream URL") as caught:
        parse_target(form.format(ch))
    assert caught.value.code == "bad-upstream"


@pytest.mark.parametrize(
    "url",
    [
        "ann:SECRET@h/x?y",
        "x://ann:SECRET@h",
        "http://a:SECRET@h:p/",
        "http://h/mcp?token=SECRET",
        "http://h/mcp#SECRET",
        "h/mcp?token=SECRET",
        "3000/mcp?token=SECRET",
        "http://h:port/?token=SECRET",
        "http://h/?next=http://u@h/SECRET",
        "ftp://u:SECRET@h/?token=SECRET@x",
    ],
)
def test_no_refusal_repeats_a_password_or_the_query(url):
    with pytest.raises(UsageError) as caught:
        parse_target(url)
    assert "SECRET" not in str(caught.value)
