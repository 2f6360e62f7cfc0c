"""The HTTP front of a stdio server: one endpoint that does what the specification asks of servers.

Rules of this file (2026-07-28, basic/transports/streamable-http; 2025-11-25, basic/transports):

- A request that its server answers at once gets JSON; where something comes before the answer, or
  nothing comes for `SILENCE` seconds, it gets a stream.
- Stateless requests share one process, started with the first of them and again after it has
  ended.  `initialize` starts a session and a process of its own, which end with DELETE, or after
  `IDLE` seconds without a client.
- Events have no ids: no stream is resumed, and nothing is said twice.
- It has no address: whoever holds it connects by a pair of sockets, and nobody else can.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Coroutine, Sequence
from typing import Any, Final

from aiohttp import web

from mcp_tap.bridge.checks import JSON, STREAM, accepts, is_json, is_stateless, mismatch
from mcp_tap.bridge.messages import Said, is_id, read
from mcp_tap.bridge.process import MOST_LINE, Gone
from mcp_tap.bridge.responses import (
    STREAM_HEAD,
    Refused,
    StatusOf,
    older,
    see_era,
    session_status,
    stateless_status,
    whole,
    without_type,
)
from mcp_tap.bridge.served import ENDED, Open, Served, Ways
from mcp_tap.bridge.session import Duplicate, Session
from mcp_tap.bridge.shared import Shared
from mcp_tap.bridge.streams import Part, Stream
from mcp_tap.core.spec import (
    DISCOVER,
    HEADER_MISMATCH,
    HEADER_SESSION,
    HEADER_VERSION,
    INITIALIZE,
    INVALID_REQUEST,
    NOTE_INITIALIZED,
    PARSE_ERROR,
    REVISIONS,
    era_of,
)
from mcp_tap.core.splice import SpliceError
from mcp_tap.errors import TapError

PATH: Final = "/mcp"
SILENCE: Final = 15.0
"""Seconds without a word on a stream, until the client is told that it is still there."""
PROBE: Final = 10.0
"""Seconds a server may be silent on `server/discover` before it is taken for one of sessions."""
IDLE: Final = 1800.0
"""Seconds a session lasts when its client is not there."""
MOST_SESSIONS: Final = 256
SWEEP: Final = 10.0
"""Seconds between two looks for sessions that nobody uses."""
MOST_HEAD: Final = 1 << 20
"""Bytes of a line of a request's head."""


class Front:
    """Serves a stdio server over HTTP."""

    def __init__(self, command: Sequence[str], ways: Ways) -> None:
        """Prepare it; nothing is started before `start()`.

        Args:
            command: the server's command line.
            ways: told of what the server writes beside messages, and of trouble.
        """
        self._command = command
        self._ways = ways
        self._shared: Shared | None = None
        self._starting = asyncio.Lock()
        self._sessions: dict[str, Session] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._runner: web.AppRunner | None = None
        self._sweeper: asyncio.TimerHandle | None = None

    async def start(self) -> None:
        """Be ready for connections."""
        app = web.Application(client_max_size=MOST_LINE)
        app.router.add_route("*", "/{path:.*}", self._handle)
        app.on_response_prepare.append(without_type)
        self._runner = runner = web.AppRunner(
            app,
            handler_cancellation=True,
            access_log=None,
            max_line_size=MOST_HEAD,
            max_field_size=MOST_HEAD,
            shutdown_timeout=0.1,
        )
        await runner.setup()
        self._sweep()

    async def dial(self, client: asyncio.Protocol) -> None:
        """Connect somebody."""
        assert self._runner is not None
        server = self._runner.server
        assert server is not None
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        await loop.connect_accepted_socket(server, ours)
        await loop.connect_accepted_socket(lambda: client, theirs)

    async def stop(self, *seconds: float) -> None:
        """Serve no more, and end all processes, each as `Process.stop` has it."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        served: list[Served] = [*self._sessions.values()]
        if self._shared is not None:
            served.append(self._shared)
        try:
            await asyncio.gather(*(each.stop(*seconds) for each in served), *self._tasks)
        finally:
            if self._runner is not None:
                await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        try:
            return await self._endpoint(request)
        except Refused as refused:
            return refused.response()

    async def _endpoint(self, request: web.Request) -> web.StreamResponse:
        if request.path != PATH:
            return web.Response(status=404)
        if request.method == "POST":
            return await self._post(request)
        stateless = era_of(request.headers.get(HEADER_VERSION, "")) == "stateless"
        if stateless or request.method not in ("GET", "DELETE"):
            return web.Response(
                status=405, headers={"Allow": "POST" if stateless else "POST, GET, DELETE"}
            )
        session = self._session(request)
        if request.method == "GET":
            return await self._get(request, session)
        self._end(session)
        return web.Response(status=200)

    async def _post(self, request: web.Request) -> web.StreamResponse:
        if not is_json(request.headers):
            raise Refused(415, "no-json", f"the body's Content-Type has to be {JSON}")
        if not accepts(request.headers, JSON, STREAM):
            raise Refused(406, "accept", f"Accept has to name {JSON} and {STREAM}")
        try:
            said = read(await request.read())
        except web.HTTPRequestEntityTooLarge:
            words = f"a message has at most {MOST_LINE} bytes"
            raise Refused(413, "too-large", words, code=INVALID_REQUEST) from None
        if said is None or (said.kind == "request" and not is_id(said.id)):
            raise Refused(400, "no-message", "the body is no message", code=PARSE_ERROR)
        stateless = is_stateless(said, request.headers)
        try:
            return await (self._stateless if stateless else self._of_session)(request, said)
        except SpliceError:
            words = "the message names a member twice"
            raise Refused(400, "named-twice", words, code=INVALID_REQUEST) from None
        except TapError as error:
            raise Refused(502, error.code, f"{error.what}: {error.why}", about=said) from None
        except Gone as gone:
            raise Refused(502, ENDED, f"the server {gone}", about=said) from None

    async def _stateless(self, request: web.Request, said: Said) -> web.StreamResponse:
        if said.kind == "response":
            words = "clients send no responses in this revision"
            raise Refused(400, "response", words, code=INVALID_REQUEST)
        shared = await self._shared_process()
        if said.kind == "notification":
            if said.method != NOTE_INITIALIZED:
                shared.pass_on(said)
            return web.Response(status=202)
        wrong = mismatch(said, request.headers, shared.tools)
        if wrong is not None:
            raise Refused(400, "header-mismatch", wrong, about=said, code=HEADER_MISMATCH)
        see_era(said)
        return await self._answer(request, shared, shared.ask(said), stateless_status)

    async def _of_session(self, request: web.Request, said: Said) -> web.StreamResponse:
        if said.method == INITIALIZE and said.kind == "request":
            return await self._initialize(request, said)
        session = self._session(request)
        version = request.headers.get(HEADER_VERSION, session.version)
        if version not in (session.version, *REVISIONS):
            words = f"there is no revision {version}"
            raise Refused(400, "version", words, about=said, code=INVALID_REQUEST)
        await session.room()
        if said.kind != "request":
            session.pass_on(said)
            return web.Response(status=202)
        try:
            asked = session.ask(said)
        except Duplicate:
            words = "the id is that of another request which is open"
            raise Refused(400, "duplicate-id", words, about=said, code=INVALID_REQUEST) from None
        return await self._answer(request, session, asked, session_status)

    async def _initialize(self, request: web.Request, said: Said) -> web.StreamResponse:
        if HEADER_SESSION in request.headers:
            words = "initialize begins a session, and names none"
            raise Refused(400, "session", words, about=said, code=INVALID_REQUEST)
        if len(self._sessions) >= MOST_SESSIONS:
            words = f"there are {MOST_SESSIONS} sessions already"
            raise Refused(503, "sessions", words, about=said)
        session = Session(self._command, self._ways, self._forget)
        self._sessions[session.id] = session  # it counts from now on; nobody knows its name yet
        head = {HEADER_SESSION: session.id}
        try:
            await self._begin(session)
            asked = session.ask(said)
            response = await self._answer(request, session, asked, session_status, head)
        finally:
            if not session.version:  # it has refused, or nobody has heard that it has not
                self._end(session)
        if not session.version:
            response.headers.popall(HEADER_SESSION, None)
        return response

    async def _get(self, request: web.Request, session: Session) -> web.StreamResponse:
        if not accepts(request.headers, STREAM):
            raise Refused(406, "accept", f"Accept has to name {STREAM}")
        stream = session.listen()
        try:
            return await self._stream(request, stream, web.StreamResponse(headers=STREAM_HEAD))
        finally:
            session.listened(stream)

    async def _answer(
        self,
        request: web.Request,
        served: Served,
        asked: Open,
        status_of: StatusOf,
        head: dict[str, str] | None = None,
    ) -> web.StreamResponse:
        """Give a client what the server says to its request."""
        head = head or {}
        probes = asked.said.method == DISCOVER
        try:
            first = await asked.stream.next(PROBE if probes else SILENCE)
            if probes and (why := older(first)):
                raise Refused(400, "no-discover", why, about=asked.said, code=INVALID_REQUEST)
            if first is not None and first.last and first.data is not None:
                return whole(first, status_of, head)
            response = web.StreamResponse(headers=STREAM_HEAD | head)
            return await self._stream(request, asked.stream, response, first)
        finally:
            served.left(asked)

    async def _stream(
        self,
        request: web.Request,
        stream: Stream,
        response: web.StreamResponse,
        part: Part | None = None,
    ) -> web.StreamResponse:
        """Send what comes, until the stream ends or its client is gone."""
        await response.prepare(request)
        try:
            while True:
                if part is None:
                    await response.write(b": here\n\n")
                elif part.data is not None:
                    await response.write(b"event: message\ndata: %b\n\n" % part.data)
                if part is not None and part.last:
                    break
                part = await stream.next(SILENCE)
            if stream.overrun and request.transport is not None:
                self._ways.once("overrun", "a client does not read its stream, which is broken off")
                request.transport.abort()
            else:
                await response.write_eof()
        except ConnectionError:  # the client is gone
            pass
        finally:
            stream.drop()
        return response

    async def _shared_process(self) -> Shared:
        """Give the process of the stateless era, which takes a message now."""
        async with self._starting:
            if self._shared is not None:
                await self._shared.room()
            if self._shared is None:
                shared = Shared(self._command, self._ways, self._forget)
                await self._begin(shared)
                await shared.room()
                if shared.process.over:
                    raise Gone(shared.process.how())
                self._shared = shared
            return self._shared

    def _session(self, request: web.Request) -> Session:
        """Give the session a request names."""
        name = request.headers.get(HEADER_SESSION)
        if name is None:
            raise Refused(400, "session", f"{HEADER_SESSION} is missing", code=INVALID_REQUEST)
        session = self._sessions.get(name)
        if session is None:
            raise Refused(404, "session", "there is no such session", code=INVALID_REQUEST)
        session.touch()
        return session

    async def _begin(self, served: Served) -> None:
        """Start a process; it is not left alone where who wants it goes away meanwhile."""
        starting = self._spawn(served.process.start())
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            starting.add_done_callback(lambda _: self._forget(served))
            raise

    def _end(self, session: Session) -> None:
        """End a session."""
        if self._sessions.pop(session.id, None) is not None:
            self._spawn(session.stop())

    def _forget(self, served: Served) -> None:
        """Take note that a process has ended, and clear away what is left of it."""
        if served is self._shared:
            self._shared = None
        elif isinstance(served, Session):
            self._sessions.pop(served.id, None)
        if not served.stopping:
            self._spawn(served.stop())

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _sweep(self) -> None:
        """End sessions that nobody uses."""
        loop = asyncio.get_running_loop()
        for session in [*self._sessions.values()]:
            if session.in_use:
                session.touch()
            elif loop.time() - session.touched > IDLE:
                self._end(session)
        self._sweeper = loop.call_later(SWEEP, self._sweep)
