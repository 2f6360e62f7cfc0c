"""The tap with recording off, which no command offers: what recording costs is the difference.

python -m benchmarks.bare_tap UPSTREAM      prints its port
"""

from __future__ import annotations

import sys

from benchmarks.children import run_loop, until_ended
from mcp_tap.proxy.run import HttpRun
from mcp_tap.proxy.settings import TapSettings
from mcp_tap.views.base import NullView


async def main() -> None:
    """Serve until the parent goes."""
    run = HttpRun(TapSettings(upstream=sys.argv[1], port=0), capture=None, view=NullView())
    await run.start()
    print(run.port, flush=True)
    await until_ended()
    await run.stop("end")


if __name__ == "__main__":
    run_loop(main())
