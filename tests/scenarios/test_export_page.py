"""The exported page in a real browser: it opens, and nothing of the wire runs in it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest

from mcp_tap.cli.main import run
from tests.bounds import TEST
from tests.exports import GOLDEN, hostile
from tests.traffic import Traffic, done

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-quic",
    "--window-size=1280,800",
]  # fmt: skip

pytestmark = pytest.mark.skipif(
    BROWSER is None and not os.environ.get("REQUIRE_BROWSER"),
    reason="needs Chromium on the PATH: apt-get install chromium",
)


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Export a capture and give what a browser makes of its page."""
    monkeypatch.chdir(tmp_path)

    def open_page(capture, fragment="") -> str:
        assert run(["export", str(capture), "-f", "html", "-o", "page.html", "-q"]) == 0
        return browse("--dump-dom", fragment)

    def browse(how, fragment="") -> str:
        done = subprocess.run(
            [BROWSER, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}",
             "--virtual-time-budget=5000", how, f"file://{tmp_path}/page.html{fragment}"],
            capture_output=True, timeout=TEST,
        )  # fmt: skip
        return done.stdout.decode()

    open_page.browse = browse
    return open_page


def outside_data(dom: str) -> str:
    """Give the page without its block of data and its script."""
    return re.sub(r"(?s)<script.*?</script>", "", dom)


def test_a_golden_capture_is_drawn(opened, tmp_path):
    capture = next(path for path in GOLDEN if path.stem == "py-py-2026")
    page = outside_data(opened(capture, "#19"))
    assert re.search(r'<output id="count">23 of 23</output>', page)
    assert '<span class="strong">#19 tools/call book_table</span>' in page
    assert page.count('role="option"') >= 15
    assert 'role="tab" aria-selected="true">Timeline' in page
    opened.browse(f"--screenshot={tmp_path / 'page.png'}")
    assert (tmp_path / "page.png").stat().st_size > 20_000


def test_nothing_of_the_wire_runs_or_becomes_an_element(opened, tmp_path):
    page = outside_data(opened(hostile().write(tmp_path / "run.jsonl"), "#5"))
    assert '<output id="count">30 of 30</output>' in page
    assert "data-owned" not in page
    assert not re.search(r"<(img|svg|iframe)\b", page)
    assert "&lt;img src=x onerror=" in page


@pytest.mark.soak
def test_a_page_of_ten_thousand_calls_opens_and_draws_what_is_seen(opened, tmp_path):
    traffic = Traffic()
    for n in range(10_000):
        traffic.call(f"tool_{n}", done("ok"))
    page = outside_data(opened(traffic.write(tmp_path / "run.jsonl"), "#9000"))
    assert '<output id="count">10000 of 10000</output>' in page
    assert "#9000 tools/call tool_8999" in page
    assert page.count('role="option"') < 60
