"""Requests whose stream or connection ended without a response."""

from __future__ import annotations

from mcp_tap.core.facts.topic import Topic


class Lost(Topic):
    """Requests whose stream or connection ended without a response."""
