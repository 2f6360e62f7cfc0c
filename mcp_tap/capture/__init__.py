"""Captures on disk: written, read, followed, listed, pruned, and brought up from older formats."""

from __future__ import annotations

from mcp_tap.capture.reader import CaptureReader, Torn, open_capture
from mcp_tap.capture.tail import CaptureTail
from mcp_tap.capture.writer import CaptureWriter

__all__ = ["CaptureReader", "CaptureTail", "CaptureWriter", "Torn", "open_capture"]
