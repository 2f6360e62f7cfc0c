"""The benchmark runs: tiny, for its workings, not for its figures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")


def test_a_tiny_run_measures_everything(tmp_path):
    document = tmp_path / "figures.json"
    small = ["--seconds", "0.05", "--turns", "1", "--exchanges", "300", "--body-mb", "2"]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", *small, "--no-peers", "--json", str(document)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=50,
    )
    # 1: a goal was not met, which in a run this small says nothing.
    assert done.returncode in (0, 1), done.stderr
    figures = json.loads(document.read_text(encoding="utf-8"))
    rows = {row[0] for table in figures["tables"] for row in table["rows"]}
    assert {"direct", "plain", "tap not recording", "tap", "tap --sync"} <= rows
    assert len(figures["goals"]) >= 12
    assert "x plain" in done.stdout
