"""What all tests of this project share."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from mcp.client import Client


@pytest.fixture(scope="session")
def tap_server() -> list[str]:
    """Say what the tap is put in front of."""
    return [sys.executable, str(Path(__file__).parent / "shop_server.py")]


@pytest.fixture
def connect() -> Callable[[str], Client]:
    """Give a client that has nobody to ask."""
    return Client


@pytest.fixture
def anyio_backend() -> str:
    """Run async tests on asyncio."""
    return "asyncio"
