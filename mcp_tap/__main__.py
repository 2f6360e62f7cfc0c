"""`python -m mcp_tap` is `mcp-tap`."""

from mcp_tap.cli.main import main

main()
