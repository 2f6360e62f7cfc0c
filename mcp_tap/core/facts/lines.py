"""Lines of a stdio run that did not parse."""

from __future__ import annotations

from mcp_tap.core.facts.topic import Topic


class Lines(Topic):
    """Lines of a stdio run that did not parse."""
