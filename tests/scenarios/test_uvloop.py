"""The data path keeps its promises on the faster loop too, which commands take where they can."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.bounds import TEST

pytest.importorskip("uvloop")

HERE = Path(__file__).parent
THEMES = ["connections", "streams", "client_gone", "framing", "run", "upstream_trouble"]
CODE = """
import asyncio, sys
import pytest, uvloop
asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "--tb=short", *sys.argv[1:]]))
"""


def test_the_data_path_passes_its_tests_on_uvloop():
    files = [str(HERE / f"test_{theme}.py") for theme in THEMES]
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", CODE, *files],
        capture_output=True,
        text=True,
        timeout=TEST,
        cwd=HERE.parent.parent,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
