"""Tests of a tool that asks in the middle of its call."""

from collections.abc import Callable

import pytest
from mcp.client import Client

from mcp_tap.plugin import Tap

pytestmark = pytest.mark.anyio
Connect = Callable[[str], Client]


@pytest.mark.tap_capture
@pytest.mark.mcp_tap(answers="answers.toml")
async def test_deploy_asks_once_then_ships(tap: Tap, connect: Connect) -> None:
    """A script answers."""
    async with connect(tap.url) as client:
        result = await client.call_tool("deploy", {"service": "billing"})
    assert result.content[0].text == "billing ships"
    call = tap.calls.one(tool="deploy")
    assert call.outcomes == ["input_required", "complete"]
    assert call.asks[0].entry == "confirm deploys"


@pytest.mark.tap_capture
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_nothing_ships_without_a_yes(tap: Tap, connect: Connect, action: str) -> None:
    """The test itself answers."""
    tap.answer(tool="deploy", action=action)
    async with connect(tap.url) as client:
        result = await client.call_tool("deploy", {"service": "billing"})
    assert result.content[0].text == "billing stays"
