"""Progress tokens and the values reported for them."""

from __future__ import annotations

from mcp_tap.core.facts.topic import Topic


class Progress(Topic):
    """Progress tokens and the values reported for them."""
