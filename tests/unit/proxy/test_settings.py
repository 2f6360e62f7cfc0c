"""Defaults that are promises."""

from __future__ import annotations

import pytest

from mcp_tap.proxy.settings import TapSettings


def test_the_defaults_are_safe():
    settings = TapSettings(upstream="http://h/mcp")
    assert (settings.host, settings.port) == ("127.0.0.1", 7777)
    assert settings.default_redaction
    assert not settings.insecure
    assert settings.allow_host == settings.allow_origin == settings.headers == []
    assert settings.host_header is None
    assert settings.max_body == 16 << 20


def test_settings_cannot_change_under_a_run():
    with pytest.raises(AttributeError):
        TapSettings(upstream="http://h").port = 1
