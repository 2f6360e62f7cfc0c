"""Requests that were cancelled."""

from __future__ import annotations

from mcp_tap.core.facts.topic import Topic


class Cancelled(Topic):
    """Requests that were cancelled."""
