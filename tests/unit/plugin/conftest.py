from __future__ import annotations

import pytest

from mcp_tap.plugin.thread import LoopThread


@pytest.fixture
def thread():
    made = LoopThread("loop")
    yield made
    made.close()
