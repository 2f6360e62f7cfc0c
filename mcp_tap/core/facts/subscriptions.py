"""Listen streams, their filters and acknowledgements."""

from __future__ import annotations

from mcp_tap.core.facts.topic import Topic


class Subscriptions(Topic):
    """Listen streams, their filters and acknowledgements."""
