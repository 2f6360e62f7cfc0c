"""A client of the Python SDK that does several things at once.

python_busy_client.py URL MODE; in place of a URL may stand a command line, as a JSON array.  Prints
what came of it.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
from mcp.client import Client

from tests.peers.python_client import target_of


async def main() -> None:
    target, mode = target_of(sys.argv[1]), sys.argv[2]
    found: dict[str, Any] = {}
    async with Client(target, mode=mode) as client:

        async def text(name: str, **arguments: Any) -> str:
            return (await client.call_tool(name, arguments)).content[0].text

        await client.list_tools()
        found["place"] = await text("place", region="zürich ")

        async def work(steps: int) -> None:
            told: list[float] = []

            async def progress(done: float, total: float | None, message: str | None) -> None:
                told.append(done)

            result = await client.call_tool("work", {"steps": steps}, progress_callback=progress)
            found[result.content[0].text] = told

        async with anyio.create_task_group() as group:
            for steps in (2, 4, 6):
                group.start_soon(work, steps)
        with anyio.move_on_after(0.3):
            await client.call_tool("linger", {"name": "one"})
        with anyio.fail_after(10):
            while not (names := await text("lingered")):
                pass
        found["cancelled"] = names
        if mode != "legacy":
            async with client.listen(tools_list_changed=True) as changes:
                await text("touch")
                with anyio.fail_after(10):
                    found["change"] = type(await anext(changes)).__name__
    print(json.dumps(found))


if __name__ == "__main__":
    anyio.run(main)
