"""Answering on lines: what `mcp_tap.proxy.answering` does on HTTP, on a server's standard streams.

Rules of this room:

- Lines in, steps out: no descriptor, no clock, no thread.  Nobody is asked, so nothing waits.
- What is not decided about passes at once, as it came.
- Requests of the tap have ids of its own; the client never sees one of them.
"""
