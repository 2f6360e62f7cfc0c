"""A client of the Python SDK for `python_changing_server.py`: looks, and deploys twice.

python_deploying_client.py URL MODE; as `python_client.py`, but says yes to everything.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
from mcp import types
from mcp.client import Client

from tests.peers.python_client import target_of


async def agree(context: Any, params: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"yes": True})


async def main() -> None:
    url, mode = sys.argv[1:]
    async with Client(target_of(url), mode=mode, elicitation_callback=agree) as client:
        results = [await client.call_tool("look", {"service": "a"})]
        results += [await client.call_tool("deploy", {"service": name}) for name in ("a", "b")]
        print(json.dumps([block.text for result in results for block in result.content]))


if __name__ == "__main__":
    anyio.run(main)
