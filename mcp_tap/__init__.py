"""mcp-tap: a recording proxy and man-in-the-middle debugger for the Model Context Protocol."""

__version__ = "0.1.0"
