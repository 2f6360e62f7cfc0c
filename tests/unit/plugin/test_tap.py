"""The handle of a test, where there is no tap."""

from __future__ import annotations

import pytest

from mcp_tap.plugin.tap import Tap, TapOff


@pytest.mark.parametrize(
    "look",
    [
        lambda tap: tap.calls,
        lambda tap: tap.findings,
        lambda tap: tap.answer("otp", {}),
        lambda tap: tap.wait_for("tool:deploy"),
    ],
)
def test_without_a_tap_whoever_looks_is_told(look):
    tap = Tap("http://localhost/mcp", None, None, None, None)
    assert (tap.url, tap.capture) == ("http://localhost/mcp", None)
    assert tap.stdio_command[-1] == tap.url
    with pytest.raises(TapOff, match="--tap-disable"):
        look(tap)
