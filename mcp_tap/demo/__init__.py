"""A small real MCP server and client, revision 2026-07-28, for `mcp-tap demo` and for tests.

Neither knows that there is a tap: they speak to whatever URL they are given.
"""
