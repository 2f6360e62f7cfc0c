"""A client of the Python SDK that can answer nothing, and so declares nothing.

python_mute_client.py URL MODE [URL MODE ...]; in place of a URL may stand the command line of a
server, as a JSON array.  Prints a list of what came of each.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import anyio
from mcp import MCPError, StdioServerParameters, types
from mcp.client import Client


async def play(url: str, mode: str) -> dict[str, Any]:
    me = types.Implementation(name="mute-client", version="1")
    steps: list[float] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        steps.append(done)

    target: Any = url
    if url.startswith("["):
        command, *args = json.loads(url)
        env = {name: os.environ[name] for name in ("PATH", "PYTHONPATH")}
        target = StdioServerParameters(command=command, args=args, env=env)
    async with Client(target, mode=mode, client_info=me) as client:

        async def call(name: str, **arguments: Any) -> list[Any]:
            try:
                result = await client.call_tool(name, arguments, progress_callback=progress)
            except MCPError as error:
                return [error.code, error.message]
            return [result.is_error, *(block.text for block in result.content)]

        names = {tool.name for tool in (await client.list_tools()).tools}
        results = [await call("add", a=2, b=3)]
        results.append(await call("book", guests=2))
        results.append(await call("sign_in", user="ada"))
        if "study" in names:
            results.append(await call("study", topic="tides"))
            prompt = await client.get_prompt("greet", {"name": "ada"})
            results.append([prompt.messages[0].content.text])
            resource = await client.read_resource("note://ada")
            results.append([resource.contents[0].text])
        return {"version": client.protocol_version, "results": results, "progress": steps}


async def main() -> None:
    pairs = zip(sys.argv[1::2], sys.argv[2::2], strict=True)
    print(json.dumps([await play(url, mode) for url, mode in pairs]))


if __name__ == "__main__":
    anyio.run(main)
