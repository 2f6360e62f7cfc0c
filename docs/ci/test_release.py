"""Tests of a client that has nobody to ask: it declares no elicitation, and answers none."""

import asyncio
import os

from mcp.client import Client


async def call(tool: str, arguments: dict[str, str]) -> str:
    """Call a tool through the tap, whose address is in the environment."""
    async with Client(os.environ["MCP_TAP_URL"]) as client:
        result = await client.call_tool(tool, arguments)
    return str(result.content[0].text)


def test_deploy_asks_twice_and_completes() -> None:
    """Both questions are answered by the script."""
    assert asyncio.run(call("deploy", {"service": "billing"})) == (
        "billing goes out tonight, blue-green"
    )


def test_registry_is_connected_once_its_page_was_agreed_to() -> None:
    """The page is agreed to, and never opened."""
    assert asyncio.run(call("connect_registry", {})).startswith("Agreed")
