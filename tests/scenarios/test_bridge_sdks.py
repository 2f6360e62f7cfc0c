"""The SDKs across bridges, in both directions and both eras: they see no difference."""

from __future__ import annotations

import asyncio
import json
import shlex

import pytest

from mcp_tap.cli.main import run
from tests.peers.programs import HERE, outcome, python, tapping
from tests.shim import PATIENT

MODES = ("2026-07-28", "legacy")
PY = (python("python_client.py"), python("python_server.py"))
TS = (["node", str(HERE / "ts" / "client.mjs")], ["node", str(HERE / "ts" / "server.mjs")])
PAIRS = [pytest.param(PY, id="py"), pytest.param(TS, id="ts", marks=pytest.mark.node)]
BUSY_CLIENT = python("python_busy_client.py")
BUSY_SERVER = python("python_busy_server.py")
STORY = [("add", 1), ("book", 3), ("book", 3), ("sign_in", 2), ("sign_in", 2), ("nothing", 1)]
WORK = {
    "place": "zürich ",
    "worked 2": [1, 2],
    "worked 4": [1, 2, 3, 4],
    "worked 6": [1, 2, 3, 4, 5, 6],
}


def over_http(server):
    """Give what stands for a URL when the tap serves a stdio server."""
    return f"--stdio={shlex.join([*server, '--stdio'])}"


def over_stdio(url, folder):
    """Give the command line of a tap that serves an HTTP server; some clients start it twice."""
    line = shlex.join([*PATIENT, "stdio", "--to", url, "-w", str(folder / "run")])
    return json.dumps(["sh", "-c", f"exec {line}-$$.jsonl"])


def told(capsys, path):
    """Give the calls of tools in a capture, and what it says of itself; check it on the way."""
    assert run(["check", str(path), "--ignore", "SEC,LEG"]) == 0
    capsys.readouterr()
    assert run(["show", str(path), "-f", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    found = [c for c in document["calls"] if c["method"] == "tools/call"]
    return [(c["name"], len(c["rounds"])) for c in found], document["capture"]


def assert_worked(found, mode):
    """See that each thing came out as it does without a bridge."""
    assert set(found.pop("cancelled").split(",")) == {"one"}  # also of who was there before
    assert found == WORK | ({} if mode == "legacy" else {"change": "ToolsListChanged"})


def both_eras(*targets):
    """Give the arguments of a client that speaks both eras with each target."""
    return [word for target in targets for mode in MODES for word in (target, mode)]


@pytest.mark.parametrize("pair", PAIRS)
async def test_a_stdio_server_is_the_same_over_http(tmp_path, capsys, pair):
    client, server = pair
    command = [*server, "--stdio"]
    async with tapping(over_http(server), tmp_path) as url:
        found = await outcome(*client, *both_eras(json.dumps(command), url))
    assert found[2:] == found[:2]
    assert [each["version"] for each in found] == ["2026-07-28", "2025-11-25"] * 2
    assert found[0]["results"][1] == [False, "2 guests on tue, seat 4A"]
    story, capture = told(capsys, tmp_path / "run.jsonl")
    assert story == STORY * 2
    assert (capture["transport"], capture["clean"], capture["lost"]) == ("http", True, 0)
    assert capture["upstream"] == shlex.join(command)


@pytest.mark.parametrize("pair", PAIRS)
async def test_an_http_server_is_the_same_over_stdio(tmp_path, capsys, serving, pair):
    client, server = pair
    url = serving(*server)
    found = await outcome(*client, *both_eras(url, over_stdio(url, tmp_path)))
    assert found[2:] == found[:2]
    assert [each["version"] for each in found] == ["2026-07-28", "2025-11-25"] * 2
    assert found[0]["results"][1] == [False, "2 guests on tue, seat 4A"]
    runs = [told(capsys, path) for path in tmp_path.glob("run-*.jsonl")]
    assert [story for story, _ in runs if story] == [STORY] * 2
    for _, capture in runs:
        assert (capture["transport"], capture["upstream"]) == ("stdio", url)
        assert capture["lost"] == 0


async def test_several_things_of_several_clients_keep_apart_over_http(tmp_path, capsys):
    async with tapping(over_http(BUSY_SERVER), tmp_path) as url:
        modes = (*MODES, MODES[0])
        found = await asyncio.gather(*(outcome(*BUSY_CLIENT, url, mode) for mode in modes))
    for each, mode in zip(found, modes, strict=True):
        assert_worked(each, mode)
    told(capsys, tmp_path / "run.jsonl")


async def test_several_things_at_once_keep_apart_over_stdio(tmp_path, capsys, serving):
    target = over_stdio(serving(*BUSY_SERVER), tmp_path)
    found = await asyncio.gather(*(outcome(*BUSY_CLIENT, target, mode) for mode in MODES))
    for each, mode in zip(found, MODES, strict=True):
        assert_worked(each, mode)
    for path in tmp_path.glob("run-*.jsonl"):
        told(capsys, path)
