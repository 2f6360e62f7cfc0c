"""Tasks (extension io.modelcontextprotocol/tasks): their states, asks and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_tap.core.facts.topic import Topic

if TYPE_CHECKING:
    from mcp_tap.core.facts.ask import Ask


class Tasks(Topic):
    """Tasks of one client."""

    def asked(self, task_id: object) -> dict[str, Ask]:
        """Give the unanswered asks of a task, by key; empty for a task nobody knows."""
        return {}
