"""The replay over stdio, as a process."""

from __future__ import annotations

import sys

from mcp_tap.replay.server.lines import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
