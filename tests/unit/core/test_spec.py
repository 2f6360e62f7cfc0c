from __future__ import annotations

import pytest

from mcp_tap.core import spec


@pytest.mark.parametrize("version", spec.REVISIONS[:-1])
def test_revisions_before_2026_07_28_have_sessions(version):
    assert spec.era_of(version) == "session"


@pytest.mark.parametrize("version", ["2026-07-28", "2026-12-01", "2031-01-01"])
def test_revisions_from_2026_07_28_on_are_stateless(version):
    assert spec.era_of(version) == "stateless"


@pytest.mark.parametrize("version", ["", "draft", "2026", "20260728xx", "2026-ab-cd", "٢٠٢٦-٠٧-٢٨"])
def test_what_is_no_date_says_nothing_about_the_era(version):
    assert spec.era_of(version) == "unknown"


def test_a_ping_is_no_ask_but_an_unknown_request_is():
    assert not spec.asks("ping")
    assert spec.asks("elicitation/create")
    assert spec.asks("vendor/ask")


def test_an_elicitation_without_a_mode_is_a_form():
    assert spec.ask_kind("elicitation/create", {}) == "form"
    assert spec.ask_kind("elicitation/create", {"mode": "url"}) == "url"
    assert spec.ask_kind("sampling/createMessage", {}) == "sampling"
    assert spec.ask_kind("roots/list", {}) == "roots"
    assert spec.ask_kind(None, {}) == "other"


@pytest.mark.parametrize(
    ("declared", "modes"),
    [
        ({}, ["form"]),
        ({"form": {}}, ["form"]),
        ({"url": {}}, ["url"]),
        ({"form": {}, "url": {}}, ["form", "url"]),
        ({"other": {}}, ["form"]),
    ],
)
def test_an_elicitation_declared_without_modes_means_forms(declared, modes):
    assert [mode for mode in ("form", "url") if spec.has_mode(declared, mode)] == modes
