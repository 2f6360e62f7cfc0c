"""Captures in place of servers: clients get what was recorded, and the tap sees the same."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import sys
from asyncio.subprocess import PIPE
from collections import Counter
from pathlib import Path

import aiohttp
import pytest

from mcp_tap.cli.main import run
from mcp_tap.core.finding import Finding
from mcp_tap.net.target import parse_target
from mcp_tap.pipeline.spine import Pipeline
from mcp_tap.proxy.run import HttpRun
from mcp_tap.proxy.settings import TapSettings
from mcp_tap.replay.index import Index
from mcp_tap.replay.server.http import ReplayPool
from mcp_tap.replay.server.play import Clock
from mcp_tap.replay.server.player import Player
from tests.bounds import BOUND
from tests.peers.programs import outcome, python, tapping
from tests.replaying import Driver
from tests.replays import answered, asking, complete, exchange, index_of, request

CAPTURES = Path(__file__).parents[2] / "captures"
GOLDEN = sorted(path.stem for path in CAPTURES.glob("*.jsonl"))
CLIENT = python("python_client.py")
SERVER = python("python_server.py")


class Quiet:
    """A view that looks at nothing."""

    def start(self, header):
        pass

    def update(self, changes, now):
        pass

    def notice(self, text):
        raise AssertionError(text)

    def close(self):
        pass


@contextlib.asynccontextmanager
async def replaying(index, capture, forward=None, **options):
    """Serve an index behind a tap; give its URL and the misses."""
    missed = []
    loop = asyncio.get_running_loop()
    player = Player(
        index,
        Clock(loop.call_later, None),
        report=lambda miss: missed.append(str(miss.error)),
        **options,
    )
    settings = TapSettings(upstream=index.captures[0].header.upstream, port=0)
    pool = ReplayPool(player, forward, path="/mcp")
    run = HttpRun(settings, capture=capture, view=Quiet(), pool=lambda: pool)
    await run.start()
    try:
        yield run.url, missed
    finally:
        await run.stop()


def calls(index):
    """Tell each call in what does not change from run to run."""
    return [
        (
            call.method,
            call.target,
            call.outcome,
            [
                (list(r.asks), r.link, r.result_type, [a.action for a in r.asks.values()])
                for r in call.rounds
            ],
        )
        for call in index.calls
    ]


def findings(index):
    """Count what rules find in a capture that was indexed, by rule."""
    pipeline = Pipeline()
    found = [
        change for record in index.captures[0].source.records() for change in pipeline.feed(record)
    ]
    found += pipeline.finish()
    return Counter(change.rule for change in found if isinstance(change, Finding))


@pytest.mark.parametrize("name", GOLDEN)
async def test_a_recorded_client_gets_what_it_got_and_the_tap_sees_the_same_calls(name, tmp_path):
    again = tmp_path / "again.jsonl"
    with Index.of([str(CAPTURES / f"{name}.jsonl")]) as index:
        async with replaying(index, again) as (url, missed):
            assert await Driver(index, url).run() == []
        assert missed == []
        with Index.of([str(again)]) as new:
            assert calls(new) == calls(index)
            assert findings(new) <= findings(index)


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_the_sdk_client_has_the_same_results_without_its_server(
    serving, tmp_path, mode, capsys
):
    folder = tmp_path / "recorded"
    folder.mkdir()
    async with tapping(serving(*SERVER), folder) as url:
        recorded = await outcome(*CLIENT, url, mode)
    capture = folder / "run.jsonl"
    with Index.of([str(capture)]) as index:
        again = tmp_path / "again.jsonl"
        async with replaying(index, again, after_last="fail") as (url, missed):
            assert await outcome(*CLIENT, url, mode) == recorded
        assert missed == []
        with Index.of([str(again)]) as new:
            assert calls(new) == calls(index)
            assert findings(new) <= findings(index)


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_a_capture_of_http_serves_a_client_over_stdio(serving, tmp_path, mode):
    async with tapping(serving(*SERVER), tmp_path) as url:
        recorded = await outcome(*CLIENT, url, mode)
    words = ["-m", "mcp_tap", "replay", "server", "--stdio", str(tmp_path / "run.jsonl")]
    command = json.dumps([sys.executable, *words, "-w", str(tmp_path / "again.jsonl")])
    assert await outcome(*CLIENT, command, mode) == recorded
    with Index.of([str(tmp_path / "again.jsonl")]) as again:
        assert sum(call.method == "tools/call" for call in again.calls) == 6


async def test_a_replay_over_stdio_is_recorded_in_the_captures_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MCP_TAP_HOME", str(tmp_path / "home"))
    words = ["replay", "server", "--stdio", str(CAPTURES / "py-py-2026-auth.jsonl")]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "mcp_tap", *words, stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    async with asyncio.timeout(BOUND):
        said, _ = await process.communicate(b'{"jsonrpc":"2.0","id":1,"method":"nope"}\n')
    assert json.loads(said)["error"]["code"] == -31998
    (capture,) = (tmp_path / "home").glob("*-replay-*.jsonl")
    with Index.of([str(capture)]) as index:
        assert [exchange.method for exchange in index.calls] == ["nope"]


async def test_many_clients_at_once_are_kept_apart(tmp_path):
    with Index.of([str(CAPTURES / "py-py-2026-parallel.jsonl")]) as index:
        async with replaying(index, tmp_path / "again.jsonl") as (url, missed):
            drivers = [Driver(index, url) for _ in range(4)]
            assert await asyncio.gather(*(driver.run() for driver in drivers)) == [[]] * 4
        assert missed == []


async def test_a_request_that_was_not_recorded_is_forwarded_where_that_was_asked_for(
    serving, tmp_path
):
    server = serving(*SERVER)
    ready = tmp_path / "ready.json"
    words = ["replay", "server", str(CAPTURES / "py-py-2026-auth.jsonl"), "-l", "0"]
    words += ["--on-miss", f"forward={server}", "--ready-file", str(ready), "--view", "none"]
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "mcp_tap", *words)
    try:
        async with asyncio.timeout(BOUND):
            while not ready.exists():  # noqa: ASYNC110 - a file of another process
                await asyncio.sleep(0.02)
        url = json.loads(ready.read_text(encoding="utf-8"))["url"]
        played = await outcome(*CLIENT, url, "2026-07-28")
    finally:
        process.terminate()
        async with asyncio.timeout(BOUND):
            code = await process.wait()
    assert played == await outcome(*CLIENT, server, "2026-07-28")
    assert code == 0


async def test_where_the_server_to_forward_to_is_down_the_client_is_told_so(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(Quiet, "notice", lambda _, text: told.append(text))
    with socket.socket() as nobody, Index.of([str(CAPTURES / "py-py-2026.jsonl")]) as index:
        nobody.bind(("127.0.0.1", 0))  # and never listens
        server = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        forward = parse_target(f"{server}/mcp")
        again = tmp_path / "again.jsonl"
        async with (
            replaying(index, again, forward, on_miss="forward") as (url, _),
            aiohttp.ClientSession() as http,
            http.post(url, json={"jsonrpc": "2.0", "id": 5, "method": "ping"}) as response,
        ):
            assert (response.status, response.headers["Mcp-Tap-Error"]) == (502, "upstream-down")
            words = (await response.json())["error"]["message"]
        assert words.startswith(f"mcp-tap: no answer from {server} to forward to: ")
        assert told == [words.replace("mcp-tap", "upstream-down", 1)]
        with Index.of([str(again)]) as new:
            assert new.calls[0].rounds[0].exchange.how == "upstream_down"


async def test_a_client_that_changes_its_state_is_refused_and_found_out(tmp_path, capsys):
    again = tmp_path / "again.jsonl"
    with Index.of([str(CAPTURES / "py-py-2026.jsonl")]) as index:
        driver = Driver(index, "http://nowhere/mcp")
        first, retry = driver.sent[5], driver.sent[6]
        async with replaying(index, again) as (url, _), aiohttp.ClientSession() as http:
            await _post(http, url, first, first.body)
            body = json.loads(retry.raw)
            body["params"]["requestState"] = "forged"
            status, answer = await _post(http, url, retry, body)
    assert (status, answer["error"]["code"]) == (400, -32602)
    assert run(["check", str(again), "-f", "json"]) == 1
    rules = {finding["rule"] for finding in json.loads(capsys.readouterr().out)["findings"]}
    assert "MRTR-016" in rules


async def test_a_client_that_tampered_and_got_through_gets_through_and_is_found_out(
    tmp_path, capsys
):
    changed = request(2, requestState="changed", **answered("accept"))
    right = request(3, requestState="kept", **answered("accept"))
    capture, again = tmp_path / "recorded.jsonl", tmp_path / "again.jsonl"
    with index_of(
        capture,
        exchange(request(1), asking(1, "kept")),
        exchange(changed, complete(2, "let in")),
        exchange(right, complete(3, "as it should be")),
    ) as index:
        async with replaying(index, again) as (url, missed), aiohttp.ClientSession() as http:
            driver = Driver(index, url)
            sent = list(driver.sent.values())
            await _post(http, url, sent[0], sent[0].body)
            _, got = await _post(http, url, sent[1], {**sent[1].body, "id": 8})
            sent[1].body["params"]["inputResponses"]["sure"] = {"action": "decline"}
            status, refused = await _post(http, url, sent[1], {**sent[1].body, "id": 9})
    assert missed == []
    assert got["result"]["content"][0]["text"] == "let in"
    assert (status, refused["error"]["code"]) == (400, -32602)
    assert run(["check", str(again), "-f", "json"]) == 1
    rules = [finding["rule"] for finding in json.loads(capsys.readouterr().out)["findings"]]
    assert "MRTR-016" in rules


async def test_a_retry_whose_connection_was_cut_before_the_response_gets_that_response(tmp_path):
    again = tmp_path / "again.jsonl"
    with Index.of([str(CAPTURES / "py-py-2026.jsonl")]) as index:
        driver = Driver(index, "http://nowhere/mcp")
        first, retry = driver.sent[5], driver.sent[6]
        async with replaying(index, again) as (url, missed), aiohttp.ClientSession() as http:
            _, asking = await _post(http, url, first, first.body)
            body = json.loads(retry.raw)
            body["params"]["requestState"] = asking["result"]["requestState"]
            await _lose(url, retry, body)
            got = [await _post(http, url, retry, {**body, "id": f"again-{n}"}) for n in (1, 2)]
    assert missed == []
    (_, recorded), *_ = retry.got
    assert [status for status, _ in got] == [200, 200]
    states = {answer["result"].pop("requestState", None) for _, answer in got}
    recorded["result"].pop("requestState", None)
    assert [answer["result"] for _, answer in got] == [recorded["result"]] * 2
    assert len(states) == 1


async def _lose(url, sent, body):
    """Send a request, and cut the connection as soon as the response comes."""
    host, port = url.split("/")[2].split(":")
    data = json.dumps(body).encode()
    fields = {**_headers(sent), "Host": f"{host}:{port}", "Content-Length": len(data)}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + data)
    async with asyncio.timeout(BOUND):
        assert await reader.read(1)
    writer.transport.abort()


async def test_a_call_made_again_in_one_session_has_events_of_its_own(tmp_path):
    again = tmp_path / "again.jsonl"
    with Index.of([str(CAPTURES / "py-py-2025.jsonl")]) as index:
        sent = Driver(index, "http://nowhere/mcp").sent
        opening = next(s for s in sent.values() if s.body and s.body["method"] == "initialize")
        call = next(s for s in sent.values() if s.body and s.body["method"] == "tools/list")
        async with replaying(index, again) as (url, missed), aiohttp.ClientSession() as http:
            async with http.post(url, data=opening.raw, headers=_headers(opening)) as response:
                session = {"Mcp-Session-Id": response.headers["Mcp-Session-Id"]}
            streams = []
            for _ in range(3):
                headers = _headers(call) | session
                async with http.post(url, data=call.raw, headers=headers) as response:
                    streams.append(await response.text())
    assert missed == []
    ids = re.findall(r"^id: (.*?)\r?$", "".join(streams), re.MULTILINE)
    assert len(set(ids)) == len(ids) == 3 * len(re.findall("^id: ", streams[0], re.MULTILINE)) > 0


async def _post(http, url, sent, body):
    async with http.post(url, data=json.dumps(body), headers=_headers(sent)) as response:
        return response.status, await response.json()


def _headers(sent):
    left_out = {"host", "content-length", "connection", "accept-encoding", "mcp-session-id"}
    return {k: v for k, v in sent.request.headers if k.lower() not in left_out}
