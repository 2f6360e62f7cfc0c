"""An HTTP server, as one client sees it.

Rules of this file:

- Headers are made from what is sent, never taken from the recording
  (2026-07-28, basic/transports/streamable-http#request-metadata).
- Nothing is sent twice, and no redirect is followed: what a server does is to be seen.
- A stream of the session era that ends before the response is taken up again where that is offered
  (2025-11-25, basic/transports#resumability-and-redelivery).
- What a server says is held in memory, so no body and no event may be larger than `MOST_ANSWER`.
"""

from __future__ import annotations

import asyncio
from typing import Final

import aiohttp

from mcp_tap import __version__
from mcp_tap.bridge.checks import JSON, STREAM
from mcp_tap.bridge.events import Events, TooLong
from mcp_tap.bridge.heads import Tools, session_head, stateless_head
from mcp_tap.bridge.messages import Said, read
from mcp_tap.core.collect import Collector
from mcp_tap.core.mirrored import is_plain
from mcp_tap.core.spec import HEADER_SESSION, INITIALIZE, META_VERSION, STATELESS_SINCE
from mcp_tap.core.text import brief
from mcp_tap.replay.client.peers import MOST_ANSWER, Heard, Reply, TooBig, Unreachable

MARK: Final = "Mcp-Tap-Error"
"""Header of what the tap in front of the server answers in its place."""
DOWN: Final = frozenset({"upstream-down", "upstream-timeout", "tap-failed"})
LEAVE: Final = 2.0
"""Seconds a server has to take note that a session has ended, and to begin its stream."""
ATTEMPTS: Final = 5
"""Times in a row that a broken stream is asked for in vain."""
MOST_HEAD: Final = 1 << 20
MOST_WORDS: Final = 200


class HttpPeer:
    """Sends to one URL."""

    over_http = True
    gone = ""

    def __init__(self, url: str, tools: Tools) -> None:
        """Connect to nothing yet.

        Args:
            url: the server's, or that of the tap in front of it.
            tools: what is known of its tools: which arguments travel in headers.
        """
        self._url = url
        self._tools = tools
        self._session: str | None = None
        self._version: str | None = None
        self._revision = STATELESS_SINCE
        self._listening: asyncio.Task[None] | None = None
        self._http = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, force_close=True),
            timeout=aiohttp.ClientTimeout(total=None),
            headers={"User-Agent": f"mcp-tap/{__version__} (replay)"},
            trust_env=False,
            max_line_size=MOST_HEAD,
            max_field_size=MOST_HEAD,
        )

    async def ask(self, said: Said, heard: Heard) -> Reply:
        """Send a request; implements `Peer`."""
        try:
            return await self._ask(said, heard)
        except (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, OSError):
            return Reply(None, "the server broke the connection off")
        except aiohttp.ClientError as error:
            return Reply(None, f"what came is no HTTP: {error}")

    async def tell(self, said: Said) -> None:
        """Send what gets no answer; implements `Peer`."""
        try:
            async with self._http.post(
                self._url, data=said.data, headers=self._head(said), allow_redirects=False
            ) as response:
                _see(response, await _body(response))
        except (aiohttp.ClientError, OSError, TooBig):
            return  # the server's matter: it shows in what comes of the calls

    async def listen(self, heard: Heard) -> None:
        """Open the session's own stream, and wait till it is open; implements `Peer`."""
        opened = asyncio.Event()
        self._listening = asyncio.get_running_loop().create_task(self._listen(heard, opened))
        done = asyncio.get_running_loop().create_task(opened.wait())
        await asyncio.wait(
            [done, self._listening], timeout=LEAVE, return_when=asyncio.FIRST_COMPLETED
        )
        done.cancel()

    async def close(self) -> None:
        """Delete the session and close all connections; implements `Peer`."""
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.wait([self._listening], timeout=LEAVE)
        if self._session is not None:
            head = session_head(self._session, self._version)
            try:
                async with (
                    asyncio.timeout(LEAVE),
                    self._http.delete(self._url, headers=head, allow_redirects=False),
                ):
                    self._session = None
            except (aiohttp.ClientError, OSError):
                pass  # it ends all the same
        await self._http.close()

    def _head(self, said: Said) -> dict[str, str]:
        version = said.meta.get(META_VERSION)
        if type(version) is str:
            self._revision = version
        elif self._version is not None or said.kind != "notification":
            return session_head(self._session, self._version)
        if not (is_plain(self._revision) and is_plain(said.method)):
            raise ValueError("the method, or the revision, has characters no header may have")
        return stateless_head(said, self._revision, self._tools)

    async def _ask(self, said: Said, heard: Heard) -> Reply:
        opens = said.method == INITIALIZE
        if opens:
            self._session = self._version = None
        events = Events()
        async with self._http.post(
            self._url, data=said.data, headers=self._head(said), allow_redirects=False
        ) as response:
            session = response.headers.get(HEADER_SESSION)
            reply = await self._reply(said, response, events, heard)
        failures = 0
        while reply is None and events.last_id is not None and failures < ATTEMPTS:
            await asyncio.sleep(events.wait)
            reply = await self._resume(said, events, heard)
            failures += 1
        if reply is None:
            return Reply(None, "the server's stream ended without a response")
        if opens and reply.said is not None and reply.said.result:
            version = reply.said.result.get("protocolVersion")
            self._session, self._version = session, version if type(version) is str else None
        return reply

    async def _reply(
        self, said: Said, response: aiohttp.ClientResponse, events: Events, heard: Heard
    ) -> Reply | None:
        """Read a response; None where its stream ended before."""
        if response.status == 200 and response.content_type == STREAM:
            try:
                async for message in events.messages(response, most=MOST_ANSWER):
                    if message.kind == "response" and message.id == said.id:
                        return Reply(message)
                    heard(message)
            except aiohttp.ClientError:
                if events.last_id is None:
                    raise
            except TooLong:
                raise TooBig from None
            return None
        body = await _body(response)
        _see(response, body)
        own = MARK in response.headers
        answer = read(body) if response.content_type == JSON and not own else None
        if answer is not None and ("result" in answer.value or answer.code is not None):
            return Reply(answer)
        return Reply(None, _words(response, body))

    async def _resume(self, said: Said, events: Events, heard: Heard) -> Reply | None:
        head = self._get_head() | {"Last-Event-ID": events.last_id or ""}
        async with self._http.get(self._url, headers=head, allow_redirects=False) as response:
            if response.status != 200 or response.content_type != STREAM:
                return Reply(None, _words(response, await _body(response)))
            return await self._reply(said, response, events, heard)

    async def _listen(self, heard: Heard, opened: asyncio.Event) -> None:
        events = Events()
        try:
            async with self._http.get(
                self._url, headers=self._get_head(), allow_redirects=False
            ) as response:
                opened.set()
                if response.status == 200 and response.content_type == STREAM:
                    async for message in events.messages(response, most=MOST_ANSWER):
                        heard(message)
        except (aiohttp.ClientError, OSError, TooLong):
            opened.set()  # many servers have no such stream

    def _get_head(self) -> dict[str, str]:
        head = session_head(self._session, self._version) | {"Accept": STREAM}
        del head["Content-Type"]
        return head


async def _body(response: aiohttp.ClientResponse) -> bytes:
    """Read a body.

    Raises:
        TooBig: it is larger than `MOST_ANSWER`.
        aiohttp.ClientError: it was cut.
    """
    body = Collector(MOST_ANSWER)
    async for chunk in response.content.iter_any():
        body.add(chunk)
        if body.truncated:
            raise TooBig
    return body.kept()


def _see(response: aiohttp.ClientResponse, body: bytes) -> None:
    """See whether it was the tap that answered, since there is no server.

    Raises:
        Unreachable: so it is.
    """
    if response.headers.get(MARK) in DOWN:
        answer = read(body)
        error = answer.value.get("error") if answer is not None else None
        words = error.get("message") if type(error) is dict else body.decode(errors="replace")
        raise Unreachable(str(words).strip().removeprefix("mcp-tap: "))


def _words(response: aiohttp.ClientResponse, body: bytes) -> str:
    text = body[:1000].decode("utf-8", "replace").strip()
    words = f"the server answered HTTP {response.status}"
    return f"{words}: {brief(text, MOST_WORDS)}" if text else words
