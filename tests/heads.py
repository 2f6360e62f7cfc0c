"""First lines for tests that are about something else."""

from __future__ import annotations

from mcp_tap.net.heads import RequestLine, StatusLine

ASK = RequestLine(b"POST", b"/mcp", "1.1")
FINE = StatusLine(200, b"OK", "1.1")
