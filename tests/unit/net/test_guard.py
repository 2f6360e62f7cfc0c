"""Who may speak to the listener."""

from __future__ import annotations

import pytest

from mcp_tap.net.guard import Guard, host_name, is_loopback
from mcp_tap.net.heads import HeadReader
from tests.heads import ASK


def refusal(guard: Guard, *fields: tuple[bytes, bytes]) -> str | None:
    return guard.refusal(HeadReader().read(ASK, list(fields)).fields)


@pytest.mark.parametrize(
    ("authority", "name"),
    [
        ("localhost", "localhost"),
        ("localhost:80", "localhost"),
        ("127.0.0.1:7777", "127.0.0.1"),
        ("[::1]", "::1"),
        ("[::1]:80", "::1"),
        ("::1", ":"),
        ("host:", "host:"),
        ("host:port", "host:port"),
        ("", ""),
        ("[", ""),
    ],
)
def test_the_port_is_taken_off_an_authority(authority, name):
    assert host_name(authority) == name


@pytest.mark.parametrize(
    "name", ["localhost", "localhost.", "a.localhost", "127.0.0.1", "127.255.0.9", "::1"]
)
def test_names_of_this_machine_are_loopback(name):
    assert is_loopback(name)


@pytest.mark.parametrize(
    "name", ["", "example.com", "localhost.example", "0.0.0.0", "10.0.0.1", "::", "127.1", "1"]
)
def test_other_names_are_not(name):
    assert not is_loopback(name)


def test_a_request_without_host_or_origin_passes():
    assert refusal(Guard()) is None


def test_a_refusal_says_what_was_foreign():
    assert "'evil.example'" in (refusal(Guard(), (b"Host", b"evil.example")) or "")
    assert "'null'" in (refusal(Guard(), (b"origin", b"null")) or "")
    assert "more than one Host" in (refusal(Guard(), (b"Host", b"a"), (b"host", b"a")) or "")


def test_allowed_names_are_globs_without_case_or_port():
    guard = Guard(hosts=["*.Example.com:443"], origins=["https://*.example.com/"])
    assert refusal(guard, (b"Host", b"A.example.COM:8")) is None
    assert refusal(guard, (b"Host", b"example.com")) is not None
    assert refusal(guard, (b"Origin", b"https://App.example.com")) is None
    assert refusal(guard, (b"Origin", b"https://example.com.evil")) is not None


def test_a_star_lets_anything_of_its_kind_pass():
    assert refusal(Guard(hosts=["*"]), (b"Host", b"x"), (b"Host", b"y")) is None
    assert refusal(Guard(hosts=["*"]), (b"Origin", b"http://x")) is not None
    assert refusal(Guard(origins=["*"]), (b"Origin", b"null"), (b"Origin", b"x")) is None


def test_what_is_remembered_of_hosts_stays_little():
    guard = Guard(hosts=["*.example"])
    for n in range(1000):
        assert refusal(guard, (b"Host", b"%d.example" % n)) is None
        assert refusal(guard, (b"Host", b"%d.evil" % n)) is not None
    assert len(guard._known_hosts) <= 64
