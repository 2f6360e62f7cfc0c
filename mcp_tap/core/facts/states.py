"""Every requestState a run has issued, and what became of it."""

from __future__ import annotations

from mcp_tap.core.facts.topic import Topic


class States(Topic):
    """Every requestState a run has issued; shared by all clients of the run."""
