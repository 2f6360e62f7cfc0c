"""Translators between the two transports: an HTTP front for a stdio server, and the reverse.

A bridge is a peer of the tap and no part of its data path: what passes the tap is recorded as it
is, and the bridge behind it is the server, or the client, that it seems to be.
"""

from __future__ import annotations

from typing import Final

VARIABLE: Final = "MCP_TAP_BRIDGE"
"""Tells `python -m mcp_tap.bridge` its server."""
