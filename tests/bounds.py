"""How long tests wait for what must come.

Only a test that fails waits so long, so that there is room for a machine that is busy with other
things: there an interpreter alone needs seconds to start.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

BOUND = 60.0
"""Seconds any single wait may take, be it for a thread, a socket or another process."""
TEST = 240.0
"""Seconds a test may take in all; the runner's own limit (pyproject.toml) lies above it."""


async def until(holds: Callable[[], Any]) -> Any:
    """Poll until this holds; give what it gives."""
    end = time.monotonic() + BOUND
    while not (value := holds()):
        assert time.monotonic() < end, "it never came to be"
        await asyncio.sleep(0.005)
    return value


def wait_until(holds: Callable[[], Any]) -> Any:
    """Poll until this holds, where no loop runs; give what it gives."""
    end = time.monotonic() + BOUND
    while not (value := holds()):
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.005)
    return value
