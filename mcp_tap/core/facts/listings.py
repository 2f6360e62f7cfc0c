"""Pages, cursors and freshness of listings."""

from __future__ import annotations

from mcp_tap.core.facts.topic import Topic


class Listings(Topic):
    """Pages, cursors and freshness of listings."""
