"""Applications of a test as servers: on a port and in an event loop of their own."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import Any, Final, Protocol

from aiohttp import web

from mcp_tap.errors import UpstreamError
from mcp_tap.plugin.thread import LoopThread

WITHIN: Final = 30.0
"""Seconds an application has to start."""
STOP: Final = 5.0
"""Seconds it has to stop."""
LOOK: Final = 0.01
"""Seconds between two looks at whether it serves."""


class _Host(Protocol):
    async def start(self, listener: socket.socket) -> None:
        """Serve."""

    async def stop(self) -> None:
        """Serve no more."""


class App:
    """An ASGI or aiohttp application that serves."""

    def __init__(self, app: Any) -> None:
        """Prepare to serve it."""
        self._host: _Host = _Aiohttp(app) if isinstance(app, web.Application) else _Asgi(app)
        self._thread: LoopThread | None = None

    def start(self) -> int:
        """Serve; give the port.

        Raises:
            UpstreamError: it cannot be served.
        """
        listener = socket.create_server(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        self._thread = LoopThread("mcp-tap-app")
        try:
            self._thread.run(self._host.start(listener), WITHIN)
        except BaseException as error:
            listener.close()
            with contextlib.suppress(TimeoutError):  # what never started need not stop in time
                self.stop()
            if not isinstance(error, TimeoutError):
                raise
            raise UpstreamError(
                "upstream-not-ready",
                f"the application has not started within {WITHIN:g} s",
                help="does its start-up wait for something that is not there?",
            ) from None
        return port

    def stop(self) -> None:
        """Serve no more."""
        thread, self._thread = self._thread, None
        if thread is not None:
            try:
                thread.run(self._host.stop(), STOP)
            finally:
                thread.close()


class _Aiohttp:
    def __init__(self, app: web.Application) -> None:
        self._app = app
        self._runner: web.AppRunner | None = None

    async def start(self, listener: socket.socket) -> None:
        self._runner = web.AppRunner(self._app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.SockSite(self._runner, listener).start()

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()


class _Asgi:
    def __init__(self, app: Any) -> None:
        self._app = app
        self._server: Any = None
        self._serving: asyncio.Task[None] | None = None

    async def start(self, listener: socket.socket) -> None:
        try:
            import uvicorn  # noqa: PLC0415 - only ASGI needs it
        except ImportError:
            raise UpstreamError(
                "no-uvicorn",
                "an ASGI application is served by uvicorn, which is not installed",
                help="pip install uvicorn",
            ) from None
        config = uvicorn.Config(
            self._app, log_config=None, access_log=False, timeout_graceful_shutdown=1
        )
        self._server = server = uvicorn.Server(config)
        loop = asyncio.get_running_loop()
        self._serving = loop.create_task(self._serve(listener))
        while not server.started:
            if self._serving.done():
                raise UpstreamError(
                    "upstream-ended",
                    "the application ended before it served",
                    why=_why(self._serving),
                )
            await asyncio.sleep(LOOK)

    async def _serve(self, listener: socket.socket) -> None:
        try:
            await self._server.serve(sockets=[listener])
        except SystemExit as error:  # what uvicorn makes of a start-up that failed
            raise RuntimeError("its start-up failed") from error

    async def stop(self) -> None:
        if self._server is not None and self._serving is not None:
            self._server.should_exit = True
            await asyncio.wait([self._serving])


def _why(task: asyncio.Task[None]) -> str:
    error = None if task.cancelled() else task.exception()
    return str(error) if error else ""
