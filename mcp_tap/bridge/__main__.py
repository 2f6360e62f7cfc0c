"""`python -m mcp_tap.bridge [URL]`: a stdio server that passes everything on to an HTTP server.

`mcp-tap stdio --to URL` starts it in the place of a server.  What it has to know stands in the
variable `MCP_TAP_BRIDGE`, since others can read a command line and headers may be secret.  Where
there is no more to know than the URL, that can be the argument.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys

import msgspec

from mcp_tap.bridge import VARIABLE
from mcp_tap.bridge.pipes import Pipes
from mcp_tap.bridge.remote import Client
from mcp_tap.bridge.wire import Remote, Wire


async def main(remote: Remote) -> None:
    """Carry until the client has ended, or a signal comes."""
    loop = asyncio.get_running_loop()
    pipes = Pipes()
    client = Client(Wire(remote), pipes.say, _note)
    work = loop.create_task(client.serve(pipes.lines()))
    broken = loop.create_task(pipes.broken.wait())
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        with contextlib.suppress(AttributeError, NotImplementedError):
            loop.add_signal_handler(getattr(signal, name), work.cancel)
    await asyncio.wait([work, broken], return_when=asyncio.FIRST_COMPLETED)
    broken.cancel()
    work.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await work


def _note(text: str) -> None:
    sys.stderr.write(f"mcp-tap bridge: {text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        told = Remote(url=sys.argv[1])
    else:
        told = msgspec.json.decode(os.environ.pop(VARIABLE), type=Remote)
    asyncio.run(main(told))
