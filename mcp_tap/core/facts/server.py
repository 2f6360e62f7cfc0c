"""What a server said of itself: discovery, versions, capabilities."""

from __future__ import annotations

from mcp_tap.core.facts.topic import Topic


class Server(Topic):
    """What a server said of itself: discovery, versions, capabilities."""
