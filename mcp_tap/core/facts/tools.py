"""Tool definitions a client has been shown."""

from __future__ import annotations

from mcp_tap.core.facts.topic import Topic


class Tools(Topic):
    """Tool definitions a client has been shown."""
