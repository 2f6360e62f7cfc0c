"""A server's process with the recording around it, for a replay."""

from __future__ import annotations

import sys

from mcp_tap.replay.client.stdio import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
