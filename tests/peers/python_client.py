"""A client of the Python SDK that plays the same story at each of the servers it is given.

python_client.py URL MODE [URL MODE ...]; MODE is a revision, `auto` or `legacy`.  In place of a URL
may stand the command line of a server, as a JSON array.  Prints a list of what came of each: the
results, and what it was asked on the way.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import anyio
from mcp import MCPError, StdioServerParameters, types
from mcp.client import Client

CONTENT: dict[str, dict[str, Any]] = {"day": {"day": "tue"}, "seat": {"seat": "4A"}}


class Person:
    """Answers what it is asked; `refuse` names the fields it declines."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.refuse: set[str] = set()

    async def elicit(self, context: Any, params: Any) -> types.ElicitResult:
        self.asked.append(params.message)
        field = (
            "page" if params.mode == "url" else next(iter(params.requested_schema["properties"]))
        )
        if field in self.refuse:
            return types.ElicitResult(action="decline")
        return types.ElicitResult(action="accept", content=CONTENT.get(field))


def target_of(word: str) -> str | StdioServerParameters:
    """Read a URL, or a command line."""
    if not word.startswith("["):
        return word
    command, *args = json.loads(word)
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return StdioServerParameters(command=command, args=args, env=kept)


async def play(url: str, mode: str) -> dict[str, Any]:
    person = Person()
    me = types.Implementation(name="peer-client", version="1")
    async with Client(
        target_of(url), mode=mode, elicitation_callback=person.elicit, client_info=me
    ) as client:

        async def call(name: str, **arguments: Any) -> list[Any]:
            try:
                result = await client.call_tool(name, arguments)
            except MCPError as error:
                return [error.code, error.message]
            return [result.is_error, *(block.text for block in result.content)]

        results = [await call("add", a=2, b=3)]
        results.append(await call("book", guests=2))
        person.refuse = {"seat"}
        results.append(await call("book", guests=3))
        results.append(await call("sign_in", user="ada"))
        person.refuse = {"page"}
        results.append(await call("sign_in", user="bob"))
        results.append(await call("nothing"))
        return {"version": client.protocol_version, "results": results, "asked": person.asked}


async def main() -> None:
    pairs = zip(sys.argv[1::2], sys.argv[2::2], strict=True)
    print(json.dumps([await play(url, mode) for url, mode in pairs]))


if __name__ == "__main__":
    anyio.run(main)
