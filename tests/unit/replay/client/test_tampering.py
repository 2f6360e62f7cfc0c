"""What a recorded client did to a state, done to another one."""

from __future__ import annotations

import pytest

from mcp_tap.replay.client.tampering import tampered


@pytest.mark.parametrize(
    ("state", "given", "sent", "wanted"),
    [
        ("neuer", "older", "olAer", "neAer"),
        ("neAer", "older", "olAer", "neBer"),
        ("new-and-longer", "older", "olAer", "new-aAd-longer"),
        ('{"step": 1}', '{"step": 1}', '{"steA": 1}', '{"steA": 1}'),
        ("fresh", "older", "older-more", "fresh-more"),
        ("fresh", "older", "old", "fre"),
        ("fresh", "older", "", ""),
        ("a", "older", "old", ""),
        ("fresh", "older", "forged", "forged"),
        ("fresh", "older", "quite", "quite"),
        ("fresh", "older-mcp-tap:0123456789abcdef", "x", "frAsh"),
        ("frAsh", None, "x", "frBsh"),
        ("fresh", "older", 5, "frAsh"),
    ],
)
def test_a_state_is_changed_as_the_recorded_one_was(state, given, sent, wanted):
    assert tampered(state, given, sent) == wanted


@pytest.mark.parametrize("length", range(1, 40))
def test_a_changed_state_is_another_one(length):
    assert tampered("A" * length, "older", "olAer") != "A" * length
