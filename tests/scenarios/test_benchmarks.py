"""The benchmark runs: tiny, for its workings, not for its figures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bounds import TEST

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")


def measure(folder, *options, timeout):
    """Run the benchmark; give what it printed and its document."""
    document = folder / "figures.json"
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", *options, "--no-peers", "--json", str(document)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    # 1: a goal was not met, which is for the test to judge.
    assert done.returncode in (0, 1), done.stderr
    return done.stdout, json.loads(document.read_text(encoding="utf-8"))


def test_a_tiny_run_measures_everything(tmp_path):
    small = ["--seconds", "0.05", "--turns", "1", "--exchanges", "300", "--body-mb", "2"]
    printed, figures = measure(tmp_path, *small, timeout=TEST)
    rows = {row[0] for table in figures["tables"] for row in table["rows"]}
    assert {"direct", "plain", "tap not recording", "tap", "tap --sync"} <= rows
    assert {"replay", "replay server"} <= rows
    assert len(figures["goals"]) >= 12
    assert "x plain" in printed


@pytest.mark.soak
def test_memory_stays_flat_over_300000_exchanges(tmp_path):
    _, figures = measure(tmp_path, "--only", "memory", "--exchanges", "300000", timeout=1800)
    assert not [goal for goal in figures["goals"] if not goal["met"]]


@pytest.mark.soak
def test_a_capture_of_100000_calls_is_ready_soon_and_served_fast(tmp_path):
    _, figures = measure(tmp_path, "--only", "replay", "--exchanges", "300000", timeout=1800)
    assert [goal["what"] for goal in figures["goals"]]
    assert not [goal for goal in figures["goals"] if not goal["met"]]
