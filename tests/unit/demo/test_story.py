from __future__ import annotations

from mcp_tap.demo.server import DemoServer
from mcp_tap.demo.story import person, play


async def test_the_story_plays_to_its_end_without_a_tap():
    server = DemoServer()
    await server.start()
    try:
        await play(server.url, pause=0)
    finally:
        await server.stop()


def test_an_ask_that_is_not_in_the_story_is_cancelled():
    assert person("other", "key", {}) == {"action": "cancel"}
