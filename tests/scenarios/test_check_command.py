"""`mcp-tap check` as CI runs it: a process of its own, on real sessions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema_rs
import pytest

from mcp_tap.cli.main import run
from tests.bounds import TEST

ROOT = Path(__file__).parents[2]
GOLDEN = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "captures").glob("*.jsonl"))
TAMPERED = "captures/py-py-2026.jsonl"
"""Its client changes a state."""


def check(*args, stdin=None):
    return subprocess.run(
        [sys.executable, "-m", "mcp_tap", "check", *args],
        cwd=ROOT,
        stdin=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        timeout=TEST,
    )


@pytest.mark.parametrize("form", ["text", "json", "junit", "sarif", "github"])
def test_real_sessions_are_judged_in_every_format(form, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert run(["check", *GOLDEN, "-f", form]) == 1
    out = capsys.readouterr().out
    assert "MRTR-016" in out
    if form == "json":
        doc = json.loads(out)
        assert [capture["path"] for capture in doc["captures"]] == GOLDEN
        for finding in doc["findings"]:
            lines = (ROOT / finding["capture"]).read_bytes().splitlines()
            assert json.loads(lines[finding["line"] - 1])["seq"] == finding["seq"]
    if form == "junit":
        root = ET.fromstring(out)
        assert [suite.get("name") for suite in root][:-1] == GOLDEN
    if form == "sarif":
        schema = json.loads((ROOT / "tests/data/sarif-2.1.0-rtm.5.json").read_text("utf-8"))
        jsonschema_rs.Draft4Validator(schema).validate(json.loads(out))
    if form == "github":
        assert all(line.startswith("::") for line in out.splitlines())


def test_a_baseline_makes_them_green_and_says_when_it_is_stale(tmp_path):
    known = str(tmp_path / "known.jsonl")
    done = check(*GOLDEN, "--baseline", known, "--write-baseline")
    assert done.returncode == 0, done.stderr
    assert check(*GOLDEN, "--baseline", known).returncode == 0
    stale = check(GOLDEN[0], "--baseline", known)
    assert (stale.returncode, "TAP-002" in stale.stdout) == (1, True)


def test_the_exit_codes_tell_red_from_unreadable_from_unsure(tmp_path):
    golden = ROOT / GOLDEN[0]
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(golden.read_bytes()[:-40])
    assert check(str(golden), "--select", "TAP").returncode == 0
    assert check(str(golden), "--expect", "tool:nothing").returncode == 1
    assert check(str(golden), "--select", "NOPE").returncode == 2
    assert check(str(tmp_path / "missing.jsonl")).returncode == 2
    assert check(str(torn), "--select", "TAP").returncode == 4
    assert check(str(torn), "--select", "TAP", "--allow-torn").returncode == 0
    assert check(str(torn), "--expect", "tool:nothing").returncode == 1


def test_a_capture_can_come_through_a_pipe():
    with (ROOT / TAMPERED).open("rb") as file:
        done = check("-", "--select", "MRTR-016", "-f", "json", stdin=file)
    (finding,) = json.loads(done.stdout)["findings"]
    assert (finding["capture"], finding["line"]) == (None, finding["seq"] + 1)
