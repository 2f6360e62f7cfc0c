"""`mcp-tap http --check`: what is found while the run goes on, and the exit code it ends with."""

from __future__ import annotations

import asyncio
import json
import signal
import sys

import pytest

from mcp_tap.cli.main import run
from tests.bounds import BOUND
from tests.scenarios.test_http_command import post, tap, upstream

__all__ = ["tap"]

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
BARE = json.dumps(
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
).encode()
"""A modern request; `post()` sends it without the headers that must mirror it."""


async def judged(tap, *args):
    async with upstream() as url:
        running = await tap(url, "-w", "run.jsonl", *args)
        ready = await running.started()
        await post(ready["url"], BARE)
        return await running.end(signal.SIGTERM)


@pytest.fixture
def check(capsys):
    def run_check(*args):
        code = run(["check", "run.jsonl", "-f", "json", *args])
        return code, json.loads(capsys.readouterr().out)

    return run_check


async def test_findings_are_told_as_they_come_and_fail_a_checked_run(tap):
    code, out, err = await judged(tap, "--check", "--view", "text")
    assert code == 1
    assert "E HDR-001 missing-version-header" in out
    assert err.splitlines()[-1].lstrip().startswith("FAILED the check: ")
    assert "mcp-tap check run.jsonl" in err.splitlines()[-1]


async def test_a_run_that_is_not_checked_ends_well_whatever_was_found(tap):
    code, out, err = await judged(tap)
    assert code == 0
    assert "FAILED" not in err
    assert "HDR-001" in out


@pytest.mark.parametrize("way", [(), ("--quiet",)])
async def test_a_checked_run_that_nothing_came_through_is_no_success(tap, way):
    async with upstream() as url, asyncio.timeout(BOUND):
        running = await tap(url, "--check", *way, "--", sys.executable, "-c", "")
        code, _, err = await running.end()
    assert code == 4
    assert "error[nothing-to-check]" in err


async def test_why_it_cannot_be_said_is_json_where_that_was_asked_for(tap):
    async with upstream() as url, asyncio.timeout(BOUND):
        running = await tap(url, "--check", "--json", "--", sys.executable, "-c", "")
        code, _, err = await running.end()
    assert code == 4
    assert json.loads(err.splitlines()[-1])["error"]["code"] == "nothing-to-check"


async def test_a_checked_run_needs_no_view(tap):
    code, out, _ = await judged(tap, "--check", "--view", "none")
    assert (code, out) == (1, "")


@pytest.mark.parametrize("args", [("--fail-on", "never"), ("--select", "SEC")])
async def test_what_does_not_count_does_not_fail(tap, args):
    code, *_ = await judged(tap, "--check", *args)
    assert code == 0


async def test_the_policy_of_the_checks_table_counts_in_live_runs_too(tap, tmp_path):
    (tmp_path / "mcp-tap.toml").write_text('[check]\nignore = ["ALL"]\n')
    code, out, _ = await judged(tap, "--check")
    assert code == 0
    assert "HDR-001" not in out


async def test_a_rule_that_does_not_exist_is_refused_before_anything_is_made(tap, tmp_path):
    running = await tap("http://127.0.0.1:1/mcp", "-w", "run.jsonl", "--select", "HDDR")
    code, _, err = await running.end()
    assert code == 2
    assert "unknown-rule" in err
    assert not (tmp_path / "run.jsonl").exists()


async def test_check_finds_in_the_capture_what_the_run_found(tap, check):
    _, out, _ = await judged(tap, "--check", "--view", "text")
    code, document = check()
    assert code == 1
    told = [line.split()[1] for line in out.splitlines() if line[:2] in ("E ", "W ", "N ")]
    assert told == [finding["rule"] for finding in document["findings"]]


async def test_a_childs_code_is_worth_more_than_what_was_found(tap):
    script = (
        "import os, sys, urllib.request as u\n"
        f"u.urlopen(u.Request(os.environ['MCP_TAP_URL'], data={BARE!r},"
        " headers={'Content-Type': 'application/json'})).read()\n"
        "sys.exit(int(sys.argv[1]))\n"
    )
    for wanted, code in ((7, 7), (0, 1)):
        async with upstream() as url, asyncio.timeout(BOUND):
            running = await tap(url, "--check", "--", sys.executable, "-c", script, str(wanted))
            assert (await running.end())[0] == code
