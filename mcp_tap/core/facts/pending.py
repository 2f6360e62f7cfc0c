"""Requests of one client that have not been answered."""

from __future__ import annotations

from mcp_tap.core.facts.topic import Topic


class Pending(Topic):
    """Requests of one client that have not been answered."""
