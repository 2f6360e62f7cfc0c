"""The pytest plugin: what a test sees of its tap, for annotations, and what makes it.

`mcp_tap.pytest_plugin` is what pytest loads, and alone knows pytest; nothing of this package is
imported before a test uses the tap.
"""

from __future__ import annotations

from mcp_tap.plugin.model import Ask, Call, Calls, Finding, Round
from mcp_tap.plugin.tap import Tap

__all__ = ["Ask", "Call", "Calls", "Finding", "Round", "Tap"]
