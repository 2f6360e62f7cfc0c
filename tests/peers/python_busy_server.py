"""A server of the Python SDK whose calls take time, say how far they are, and can be cancelled.

Prints `{"url": ...}` once it listens, on a port the system chose; with `--stdio` it serves there.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import anyio
from mcp.server.mcpserver import Context, MCPServer
from pydantic import Field

from tests.peers import python_server

server = MCPServer("busy-py", version="1.0", log_level="ERROR")
cancelled: list[str] = []
Region = Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]


@server.tool()
async def work(steps: int, ctx: Context) -> str:
    """Report each step."""
    for step in range(1, steps + 1):
        await ctx.report_progress(step, steps, f"step {step}")
        await anyio.sleep(0.005)
    return f"worked {steps}"


@server.tool()
async def linger(name: str) -> str:
    """Take forever."""
    try:
        await anyio.sleep(3600)
    except anyio.get_cancelled_exc_class():
        cancelled.append(name)
        raise
    return name


@server.tool()
def lingered() -> str:
    """Say which calls were cancelled."""
    return ",".join(cancelled)


@server.tool()
async def touch(ctx: Context) -> str:
    """Change the tools."""
    await ctx.notify_tools_changed()
    return "touched"


@server.tool()
def place(region: Region) -> str:
    """Take an argument that travels in a header, too."""
    return region


@server.tool()
def pid() -> str:
    """Say which process this is."""
    return str(os.getpid())


if __name__ == "__main__":
    python_server.server = server
    sys.exit(python_server.main())
