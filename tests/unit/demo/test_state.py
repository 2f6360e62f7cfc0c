from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.demo import state
from mcp_tap.demo.state import BadStateError, Sealer

DEPLOY = {"name": "deploy", "arguments": {"service": "billing"}}


def test_facts_come_back_for_the_request_they_were_sealed_for():
    sealer = Sealer(b"k" * 32)
    assert sealer.open(DEPLOY, sealer.seal(DEPLOY, {"step": "window"})) == {"step": "window"}


@given(data=st.data())
def test_any_changed_character_is_refused(data):
    sealer = Sealer(b"k" * 32)
    sealed = sealer.seal(DEPLOY, {"step": 1})
    at = data.draw(st.integers(0, len(sealed) - 1))
    changed = sealed[:at] + ("A" if sealed[at] != "A" else "C") + sealed[at + 1 :]
    # The last character of each half carries bits that base64 ignores: only other bytes count.
    if [state._unpack(p) for p in sealed.split(".")] != _parts(changed):
        with pytest.raises(BadStateError):
            sealer.open(DEPLOY, changed)


def _parts(text):
    try:
        return [state._unpack(p) for p in text.split(".")]
    except ValueError:
        return None


@pytest.mark.parametrize("nonsense", ["", ".", "a.b", "é.é", None, 7, {"a": 1}])
def test_nonsense_is_refused(nonsense):
    with pytest.raises(BadStateError):
        Sealer(b"k" * 32).open(DEPLOY, nonsense)


def test_a_state_of_another_request_is_refused():
    sealer = Sealer(b"k" * 32)
    sealed = sealer.seal(DEPLOY, {})
    with pytest.raises(BadStateError, match="another request"):
        sealer.open({**DEPLOY, "arguments": {"service": "shop"}}, sealed)


def test_a_state_of_another_server_is_refused():
    with pytest.raises(BadStateError, match="not issued here"):
        Sealer(b"k" * 32).open(DEPLOY, Sealer(b"o" * 32).seal(DEPLOY, {}))


def test_an_old_state_is_refused(monkeypatch):
    monkeypatch.setattr(state, "LIFETIME", -2.0)
    sealer = Sealer(b"k" * 32)
    with pytest.raises(BadStateError, match="expired"):
        sealer.open(DEPLOY, sealer.seal(DEPLOY, {}))
