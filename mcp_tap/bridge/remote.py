"""An HTTP server as its stdio client sees it: each line a POST, each message of it a line.

Rules of this file:

- Messages of the stateless era carry their revision; all others belong to the one session that
  `initialize` has begun.
- Notifications and responses arrive in their order: the next line waits for them.  Requests run
  side by side, but `initialize` alone.
- Nothing is sent twice that a server may have acted on.  What it has refused unread is sent again
  where the specification asks for that: with headers it had not got (2026-07-28,
  basic/transports/streamable-http#client-behavior), and in a new session (2025-11-25,
  basic/transports#session-management).
- A request that gets no answer gets an error, marked as the bridge's.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final, NamedTuple

import aiohttp

from mcp_tap.bridge.checks import JSON, STREAM
from mcp_tap.bridge.events import Events
from mcp_tap.bridge.heads import Tools, stateless_head
from mcp_tap.bridge.messages import Said, error_with, is_id, own_error, read
from mcp_tap.bridge.process import MOST_LINE
from mcp_tap.bridge.remote_session import RemoteSession
from mcp_tap.bridge.wire import Wire
from mcp_tap.core.collect import Collector
from mcp_tap.core.mirrored import is_plain
from mcp_tap.core.spec import (
    CLIENT_CAPABILITIES,
    HEADER_MISMATCH,
    HEADER_SESSION,
    INITIALIZE,
    INVALID_REQUEST,
    LISTEN,
    META_CLIENT,
    META_VERSION,
    NOTE_CANCELLED,
    NOTE_INITIALIZED,
    STATELESS_SINCE,
)
from mcp_tap.core.splice import SpliceError
from mcp_tap.core.text import brief, safe
from mcp_tap.core.wire import dumps

NOTE: Final = 10.0
"""Seconds for which the next line waits till a notification has been taken."""
FINISH: Final = 30.0
"""Seconds open requests have at the end of the input."""
MOST_PAGES: Final = 100
"""Pages of a list of tools that are read."""


_NONE: Final = (None, None)


class Outcome(NamedTuple):
    """What came of a POST."""

    status: int
    answer: Said | None = None
    """The message that ended it."""
    text: str = ""
    """What came in the place of one."""
    events: Events | None = None
    """The stream that has ended without an answer."""
    session: str | None = None
    """The session the response names."""


class Client:
    """Speaks to the server for a client whose lines come here."""

    def __init__(
        self, wire: Wire, say: Callable[[bytes], Awaitable[None]], note: Callable[[str], None]
    ) -> None:
        """Be ready.

        Args:
            wire: reaches the server.
            say: takes each line for the client.
            note: takes words for whoever looks at stderr.
        """
        self._wire = wire
        self._say = say
        self._show = note
        self._session = RemoteSession(wire, say)
        self._renewing = asyncio.Lock()
        self._tools = Tools()
        self._version = STATELESS_SINCE
        self._open: dict[str | float, tuple[Said, asyncio.Task[None]]] = {}

    async def serve(self, lines: AsyncIterator[bytes]) -> None:
        """Carry lines until they end, and then what is still open."""
        try:
            async for line in lines:
                if line.strip():
                    await self._take(line)
            await self._finish()
        finally:
            for _, task in self._open.values():
                task.cancel()
            await self._session.end()
            await self._wire.close()

    async def _finish(self) -> None:
        """Wait for what is open, but subscriptions, as long as that may take."""
        for said, task in self._open.values():
            if said.method == LISTEN:
                task.cancel()
        if self._open:
            await asyncio.wait([task for _, task in self._open.values()], timeout=FINISH)
        for said, task in [*self._open.values()]:
            if task.cancel():
                words = f"no answer within {FINISH:g} s of the end of the input"
                await self._say(own_error(said.token("id"), "no-answer", words))

    def _note(self, text: str) -> None:
        self._show(safe(text))

    async def _take(self, line: bytes) -> None:
        said = read(line)
        if said is None:
            self._note("a line of the client is no message, and goes nowhere")
        elif said.kind == "request":
            await self._begin(said)
        elif not (said.method == NOTE_CANCELLED and self._cancel(said.params.get("requestId"))):
            await self._notify(said)

    async def _begin(self, said: Said) -> None:
        if not is_id(said.id) or said.id in self._open:
            words = "the id is no id, or that of another request which is open"
            token = None
            with contextlib.suppress(SpliceError):
                token = said.token("id")
            await self._say(own_error(token, "bad-id", words, code=INVALID_REQUEST))
            return
        task = asyncio.get_running_loop().create_task(self._request(said))
        self._open[said.id] = said, task
        task.add_done_callback(lambda _: self._open.pop(said.id, None))
        if said.method == INITIALIZE:
            await asyncio.wait([task])

    def _cancel(self, about: Any) -> bool:
        """Close the connection of a stateless request, which cancels it; tell if there is one."""
        said, task = self._open.get(about, _NONE) if is_id(about) else _NONE
        if said is None or task is None or META_VERSION not in said.meta:
            return False
        task.cancel()
        return True

    async def _request(self, said: Said) -> None:
        """Send a request, and see that it gets an answer."""
        token = None
        try:
            token = said.token("id")
            stateless = META_VERSION in said.meta
            outcome = await (self._ask_stateless if stateless else self._ask_in_session)(said)
            line = _line(outcome, token)
        except (aiohttp.ClientError, OSError) as error:
            line = own_error(token, "upstream-down", f"no answer from the server: {_words(error)}")
        except (SpliceError, ValueError) as error:
            line = own_error(token, "cannot-send", str(error), code=INVALID_REQUEST)
        await self._say(line)

    async def _ask_stateless(self, said: Said) -> Outcome:
        self._version = version = str(said.meta[META_VERSION])
        if not (is_plain(version) and is_plain(said.method)):
            raise ValueError("the method, or the revision, has characters no header may have")
        head = stateless_head(said, self._version, self._tools)
        outcome = await self._exchange(said, head)
        answer = outcome.answer
        if answer is None:
            return outcome
        if answer.code == HEADER_MISMATCH and said.method == "tools/call":
            await self._learn(said)
            again = stateless_head(said, self._version, self._tools)
            if again != head:
                outcome = await self._exchange(said, again)
        elif said.method == "tools/list":
            self._tools.learn(answer)
        return outcome

    async def _ask_in_session(self, said: Said) -> Outcome:
        session = self._session
        opens = said.method == INITIALIZE
        if opens:
            session.forget()
        used = session.id
        outcome = await self._exchange(said, session.head())
        if outcome.status == 404 and used is not None and await self._renew(used):
            outcome = await self._exchange(said, session.head())
        if outcome.events is not None and outcome.events.last_id is not None:
            await asyncio.sleep(outcome.events.wait)
            answer = await session.follow(outcome.events, said)
            outcome = outcome._replace(answer=answer)
        if opens and outcome.answer is not None:
            session.began(said, outcome.answer, outcome.session)
        return outcome

    async def _notify(self, said: Said) -> None:
        """Send what gets no answer; the client's next line waits for it, if not for long."""
        session = self._session
        try:
            async with asyncio.timeout(NOTE):
                if session.opening is None:
                    head = stateless_head(said, self._version, self._tools)
                    outcome = await self._exchange(said, head)
                else:
                    used = session.id
                    outcome = await self._exchange(said, session.head())
                    if outcome.status == 404 and used is not None and await self._renew(used):
                        outcome = await self._exchange(said, session.head())
        except (aiohttp.ClientError, OSError, ValueError) as error:
            self._note(f"a {said.method or 'response'} did not arrive: {_words(error)}")
            return
        if outcome.status >= 400:
            self._note(f"the server refused a {said.method or 'response'}: HTTP {outcome.status}")
        elif said.method == NOTE_INITIALIZED and session.opening is not None:
            session.listen(said)

    async def _exchange(self, said: Said, head: dict[str, str]) -> Outcome:
        """Post a message; the client gets what comes before the answer.

        Raises:
            aiohttp.ClientError, OSError: the server cannot be reached, or broke off.
        """
        async with self._wire.request("POST", head, said.data) as response:
            status, kind = response.status, response.content_type
            session = response.headers.get(HEADER_SESSION)
            if status == 200 and kind == STREAM:
                events = Events()
                try:
                    async for message in events.messages(response):
                        if message.answers(said):
                            return Outcome(status, message, session=session)
                        await self._say(message.data)
                except aiohttp.ClientError:
                    if events.last_id is None:
                        raise
                return Outcome(status, events=events, session=session)
            body = await _body(response)
            answer = read(body) if kind == JSON else None
            if answer is not None and (answer.answers(said) or _names_none(answer)):
                return Outcome(status, answer, session=session)
            return Outcome(status, text=body[:1000].decode("utf-8", "replace"))

    async def _learn(self, said: Said) -> None:
        """List the tools, for the headers they want; on behalf of a call that lacked one."""
        meta = {
            name: said.token("params", "_meta", name)
            for name in (META_VERSION, CLIENT_CAPABILITIES, META_CLIENT)
        }
        shown = b",".join(dumps(name) + b":" + token for name, token in meta.items() if token)
        cursor = None
        for page in range(MOST_PAGES):
            more = b"" if cursor is None else b'"cursor":%b,' % dumps(cursor)
            params = b'{%b"_meta":{%b}}' % (more, shown)
            list_tools = read(
                b'{"jsonrpc":"2.0","id":"mcp-tap-bridge-%d","method":"tools/list","params":%b}'
                % (page, params)
            )
            assert list_tools is not None
            head = stateless_head(list_tools, self._version, self._tools)
            answer = (await self._exchange(list_tools, head)).answer
            if answer is None:
                return
            self._tools.learn(answer)
            cursor = answer.result.get("nextCursor")
            if type(cursor) is not str:
                return

    async def _renew(self, lost: str) -> bool:
        """Begin a new session as the client began the one the server has ended."""
        session = self._session
        async with self._renewing:
            if session.id != lost:
                return session.id is not None
            opening, opened = session.opening, session.opened
            session.forget()
            if opening is None or opened is None:
                return False
            outcome = await self._exchange(opening, session.head())
            if outcome.answer is None or not outcome.answer.result:
                return False
            session.began(opening, outcome.answer, outcome.session)
            await self._exchange(opened, session.head())
            session.listen(opened)
            self._note("the server had ended the session; a new one has begun")
            return True


def _line(outcome: Outcome, token: bytes | None) -> bytes:
    """Give the line a request gets for its answer."""
    answer = outcome.answer
    if answer is not None:
        error = answer.token("error") if _names_none(answer) else None
        return answer.data if error is None else error_with(token, error)
    if outcome.events is not None:
        return own_error(token, "no-answer", "the server's stream ended without an answer")
    words = f"the server answered HTTP {outcome.status}"
    if outcome.status == 401:
        words += "; give it what it asks for: -H 'Authorization: ...'"
    elif outcome.text.strip():
        words += f": {brief(outcome.text.strip(), 200)}"
    return own_error(token, "no-answer", words)


async def _body(response: aiohttp.ClientResponse) -> bytes:
    """Read a body; of one that is larger than a message may be, the first part."""
    body = Collector(MOST_LINE)
    async for chunk in response.content.iter_any():
        body.add(chunk)
        if body.truncated:
            break
    return body.kept()


def _names_none(answer: Said) -> bool:
    """Tell whether a server could not say which request it refuses."""
    return answer.kind == "response" and answer.id is None and answer.code is not None


def _words(error: Exception) -> str:
    """Say what went wrong on the way."""
    if isinstance(error, TimeoutError):
        return "not in time"
    number = getattr(error, "errno", None)
    if type(number) is int and number > 0:
        return os.strerror(number).lower()
    return str(error) or type(error).__name__
