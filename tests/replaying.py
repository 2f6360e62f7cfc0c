"""Drive a server with what a recorded client sent, as a client would: in order, with its own ids.

Causes are kept: an exchange begins when all has come that had come before it in the recording.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from mcp_tap.core.records import Closed, HttpRequest, HttpResponse, Message
from mcp_tap.core.sse import SseParser
from mcp_tap.core.wire import loads, value_of
from mcp_tap.replay.index import Index
from tests.bounds import BOUND

DROPPED = {"host", "content-length", "connection", "accept-encoding", "transfer-encoding"}


@dataclass
class Sent:
    """An exchange, recorded and as it went this time."""

    number: int
    request: HttpRequest
    body: Any = None
    raw: bytes = b""
    got: list[tuple[int, Any]] = field(default_factory=list)
    """Recorded messages of the server, with their `seq`."""
    status: int | None = None
    closed: int | None = None
    how: str | None = None
    session: str | None = None
    live: list[Any] = field(default_factory=list)
    live_status: int | None = None
    live_session: str | None = None
    task: asyncio.Task | None = None


class Driver:
    """Sends the requests of the first capture of an index to a URL."""

    def __init__(self, index: Index, url: str, capture: int = 0):
        self.url = url
        self.origin = url.split("/", 3)
        self.sent: dict[int, Sent] = {}
        self.order: list[tuple[int, str, int]] = []
        self.came = asyncio.Event()
        self.echoed: Counter[str] = Counter()
        for exchange in index.captures[capture].exchanges.values():
            if exchange.by_tap or not exchange.verb:
                continue
            self._read(index, exchange)
        self.order.sort()

    def _read(self, index, exchange):
        sent = None
        for record in index.messages(exchange):
            if isinstance(record, HttpRequest):
                sent = Sent(exchange.number, record)
                self.sent[exchange.number] = sent
                if record.method != "POST":
                    self.order.append((record.seq, "begin", exchange.number))
            elif isinstance(record, Message) and record.sender == "client":
                sent.body, sent.raw = value_of(record), record.payload()
                self.order.append((record.seq, "begin", exchange.number))
            elif isinstance(record, Message):
                sent.got.append((record.seq, value_of(record)))
            elif isinstance(record, HttpResponse):
                sent.status = record.status
                sent.session = header(record.headers, "mcp-session-id")
            elif isinstance(record, Closed):
                sent.closed, sent.how = record.seq, record.how
                self.order.append((record.seq, "end", exchange.number))

    async def run(self) -> list[str]:
        """Send all; give what was different, in words."""
        timeout = aiohttp.ClientTimeout(total=None)
        connector = aiohttp.TCPConnector(limit=0, force_close=True)
        async with aiohttp.ClientSession(timeout=timeout, connector=connector) as http:
            for seq, what, number in self.order:
                sent = self.sent[number]
                await self._causes(seq)
                if what == "begin":
                    sent.task = asyncio.get_running_loop().create_task(self._send(http, sent))
                elif sent.how in ("client_gone", "shutdown"):
                    await self._until(lambda s=sent: len(s.live) >= len(s.got), sent)
                    sent.task.cancel()
            for sent in self.sent.values():
                if sent.how in (None, "client_gone", "shutdown"):
                    sent.task.cancel()
                await asyncio.wait([sent.task], timeout=BOUND)
                assert sent.task.done(), f"exchange {sent.number} did not end"
        return [text for sent in self.sent.values() for text in self._differences(sent)]

    async def _causes(self, seq):
        for sent in self.sent.values():
            if sent.task is None:
                continue
            count = sum(1 for at, _ in sent.got if at < seq)
            await self._until(lambda s=sent, n=count: len(s.live) >= n, sent)
            if sent.closed is not None and sent.closed < seq and sent.how == "complete":
                await asyncio.wait([sent.task], timeout=BOUND)
                assert sent.task.done(), f"exchange {sent.number} did not end: {sent.live}"

    async def _until(self, condition, sent):
        async with asyncio.timeout(BOUND):
            while not condition():
                if sent.task.done():
                    return
                self.came.clear()
                await self.came.wait()

    async def _send(self, http, sent):
        headers = {k: v for k, v in sent.request.headers if k.lower() not in DROPPED}
        session = header(sent.request.headers, "mcp-session-id")
        if session is not None:
            live = next(s for s in self.sent.values() if s.session == session and s.live_session)
            headers = {k: v for k, v in headers.items() if k.lower() != "mcp-session-id"}
            headers["Mcp-Session-Id"] = live.live_session
        url = "/".join(self.origin[:3]) + sent.request.path
        data = self._body(sent) if sent.body is not None else None
        call = http.request(sent.request.method, url, data=data, headers=headers)
        async with call as response:
            sent.live_status = response.status
            sent.live_session = response.headers.get("mcp-session-id")
            if "event-stream" in response.headers.get("content-type", ""):
                parser = SseParser(1 << 20)
                async for chunk in response.content.iter_any():
                    for block in parser.feed(chunk):
                        if block.kind == "event" and block.data:
                            self._take(sent, block.data)
            else:
                body = await response.read()
                if body:
                    self._take(sent, body)
        self.came.set()

    def _take(self, sent, data):
        try:
            value = loads(data)
        except ValueError:
            return
        sent.live.append(value)
        self.came.set()

    def _body(self, sent) -> bytes:
        body = json.loads(sent.raw)
        params = body.get("params")
        if isinstance(params, dict) and isinstance(params.get("requestState"), str):
            params["requestState"] = self._state(params["requestState"], sent)
        if "method" not in body and ("result" in body or "error" in body):
            body["id"] = self._ask_id(body["id"], sent)
        return json.dumps(body).encode()

    def _state(self, recorded, retry):
        """Find the live state for a recorded one: of the call with these arguments, if several."""
        found = [
            (
                sent.body["params"].get("arguments") != retry.body["params"].get("arguments"),
                self.echoed[live_state],
                sent.number,
                live_state,
            )
            for sent in self.sent.values()
            for (_, value), live in zip(sent.got, sent.live, strict=False)
            if state_of(value) == recorded and (live_state := state_of(live)) is not None
        ]
        if not found:
            return recorded
        self.echoed[min(found)[-1]] += 1
        return min(found)[-1]

    def _ask_id(self, recorded, answer):
        begun = next(at for at, _, number in self.order if number == answer.number)
        found = None
        for sent in self.sent.values():
            for (at, value), live in zip(sent.got, sent.live, strict=False):
                if at < begun and "method" in value and value.get("id") == recorded:
                    found = max(found or (0, None), (at, live["id"]), key=lambda pair: pair[0])
        return recorded if found is None else found[1]

    def _differences(self, sent):
        if sent.status is not None and sent.live_status != sent.status:
            yield f"#{sent.number}: status {sent.live_status}, recorded {sent.status}"
        got = [plain(value) for _, value in sent.got]
        live = [plain(value) for value in sent.live]
        if got != live:
            yield f"#{sent.number}: got {live}\n   recorded {got}"


def header(headers, name):
    return next((value for key, value in headers if key.lower() == name), None)


def state_of(value):
    result = value.get("result") if isinstance(value, Mapping) else None
    return result.get("requestState") if isinstance(result, Mapping) else None


def plain(value):
    """Leave out what is never the same twice."""
    if state_of(value) is not None:
        return {**value, "result": {**value["result"], "requestState": "state"}}
    if isinstance(value, Mapping) and "method" in value and "id" in value:
        return {**value, "id": "ask"}
    return value
