"""What happens in the demo: which tools are called, and what the person answers."""

from __future__ import annotations

import asyncio

import aiohttp

from mcp_tap.demo.client import DemoClient, Json

ANSWERS: dict[tuple[str, str], Json] = {
    ("deploy", "confirm"): {
        "action": "accept",
        "content": {"proceed": True, "strategy": "blue-green"},
    },
    ("deploy", "window"): {"action": "accept", "content": {"start": "tonight", "minutes": 30}},
    ("reserve", "request"): {
        "action": "accept",
        "content": {"project": "Полярная звезда", "count": 3},
    },
    ("connect_registry", "consent"): {"action": "accept"},
    ("rollback", "confirm"): {"action": "decline"},
}
"""(tool, key of the ask) -> the answer."""


def person(tool: str, key: str, ask: Json) -> Json:
    """Answer as the story has it, and walk away from anything else."""
    del ask
    return ANSWERS.get((tool, key), {"action": "cancel"})


async def play(url: str, *, pause: float = 0.4) -> None:
    """Run the whole story against an endpoint; every call has to come to its end.

    Args:
        url: the MCP endpoint, through the tap or not.
        pause: seconds the person thinks about each answer.
    """
    async with aiohttp.ClientSession() as session:
        client = DemoClient(session, url, person, pause=pause)
        await client.discover()
        await client.list_tools()
        await client.call("lookup", {"service": "billing", "region": "eu-north-1"})
        await client.call("deploy", {"service": "billing"})
        # Two at once: their rounds interleave, and must not be mixed up.
        async with asyncio.TaskGroup() as both:
            both.create_task(client.call("build", {"target": "billing"}, progress=True))
            both.create_task(client.call("reserve", {}))
        await client.call("connect_registry", {})
        await client.call("rollback", {"service": "billing"})
        await client.call("report", {"month": "2026-07"})
        await client.call("broken_export", {"format": "csv"})
