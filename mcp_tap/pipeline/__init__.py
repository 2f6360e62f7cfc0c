"""From records to calls and, later, findings: the same spine live and offline."""

from __future__ import annotations

from mcp_tap.pipeline.spine import Change, Pipeline

__all__ = ["Change", "Pipeline"]
