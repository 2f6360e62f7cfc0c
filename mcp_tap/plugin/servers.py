"""What `tap_server` may be, and how each is run: nothing of ours, a process, a bridge, an app."""

from __future__ import annotations

import os
import socket
import sys
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mcp_tap.cli.bridged import URL, BridgedServer
from mcp_tap.cli.upstream import WAIT, UpstreamServer
from mcp_tap.core.text import brief
from mcp_tap.errors import ConfigError
from mcp_tap.net.target import parse_target
from mcp_tap.plugin.apps import App
from mcp_tap.plugin.options import unknown
from mcp_tap.plugin.thread import LoopThread

if TYPE_CHECKING:
    from mcp_tap.net.upstream import UpstreamPool
    from mcp_tap.proxy.run import HttpRun

PATH: Final = "/mcp"
"""Path of an application, unless it is told."""
LINES: Final = 30
"""Lines of a server's output that are kept."""
STOP: Final = 10.0
"""Seconds a server has to stop, and beyond its `wait` to start."""
_HTTP: Final = ("url", "command", "wait")
_APP: Final = ("app", "path")
_HELP: Final = (
    'a URL; ["command", "argument"] of a stdio server;'
    ' {"url": "http://127.0.0.1:{port}/mcp", "command": [...]} of an HTTP server;'
    " or an ASGI or aiohttp application"
)


class Server(ABC):
    """A server, which runs as long as the value of its fixture lives."""

    url: str
    """Where it is reached; of a stdio server only the path means something."""
    command: list[str]
    """Its command, where it has no URL of its own."""
    direct = True
    """Clients can reach it without the tap."""

    def __init__(self, thread: LoopThread) -> None:
        """Prepare; `thread` is where taps run."""
        self.thread = thread
        self.command = []
        self.lines: deque[str] = deque(maxlen=LINES)
        """What it printed last."""
        self.ended = ""
        """How it ended, where it did by itself."""

    @abstractmethod
    def start(self) -> None:
        """Have it serve.

        Raises:
            TapError: it does not.
        """

    @abstractmethod
    def stop(self) -> None:
        """Have it stop."""

    def pool(self) -> UpstreamPool | None:
        """Make the connections of a run; None: the ordinary ones.  On the loop's thread."""
        return None

    def heard_by(self, run: HttpRun | None) -> None:
        """Let a run record what the server prints, where that is part of what passes."""
        del run

    def _end(self, words: str) -> None:
        self.ended = words


class Remote(Server):
    """A server that is there already."""

    def __init__(self, thread: LoopThread, url: str) -> None:
        """Name it by its URL."""
        super().__init__(thread)
        self.url = url

    def start(self) -> None:
        """Check the URL."""
        parse_target(self.url)

    def stop(self) -> None:
        """Leave it alone."""


class Process(Server):
    """An HTTP server that is started."""

    def __init__(self, thread: LoopThread, url: str, command: list[str], wait: float) -> None:
        """Name it by its URL and command; `{port}` in both is a free port."""
        super().__init__(thread)
        self._template = url, command
        self._wait = wait
        self._process: UpstreamServer | None = None
        self.url = url

    def start(self) -> None:
        """Start it, and wait until it accepts connections."""
        url, words = self._template
        if any("{port}" in text for text in (url, *words)):
            port = str(_free_port())
            url = url.replace("{port}", port)
            words = [word.replace("{port}", port) for word in words]
        self.url = url
        self._process = server = UpstreamServer(
            words, parse_target(url), show=self.lines.append, wait=self._wait, on_end=self._end
        )
        self.thread.run(server.start(), self._wait + STOP)

    def stop(self) -> None:
        """Stop it, with all that it started."""
        if self._process is not None:
            self.thread.run(self._process.stop(), STOP)


class Stdio(Server):
    """A stdio server behind a bridge."""

    direct = False

    def __init__(self, thread: LoopThread, command: list[str]) -> None:
        """Name it by its command."""
        super().__init__(thread)
        self.url = URL
        self.command = [_shown(word) for word in command]
        self._server = BridgedServer(command, show=self.lines.append, on_end=self.lines.append)

    def start(self) -> None:
        """Be ready; its process is started with the first request."""
        self.thread.run(self._server.start(), STOP)

    def stop(self) -> None:
        """End its processes."""
        self.thread.run(self._server.stop(), STOP)

    def pool(self) -> UpstreamPool:
        """Make the connections of a run."""
        return self._server.pool()

    def heard_by(self, run: HttpRun | None) -> None:
        """Let a run record what it prints to stderr."""
        self._server.heard = None if run is None else run.heard


class Hosted(Server):
    """An application."""

    def __init__(self, thread: LoopThread, app: Any, path: str) -> None:
        """Name it by itself and its endpoint's path."""
        super().__init__(thread)
        self._app = App(app)
        self._path = path
        self.url = ""

    def start(self) -> None:
        """Serve it on a private port."""
        self.url = f"http://127.0.0.1:{self._app.start()}{self._path}"

    def stop(self) -> None:
        """Serve it no more."""
        self._app.stop()


class Servers:
    """The servers that run, by the value that names them."""

    def __init__(self, thread: LoopThread) -> None:
        """Begin without any."""
        self._thread = thread
        self._running: dict[int, tuple[Any, Server]] = {}

    def of(self, value: Any) -> Server:
        """Give the server of a value of `tap_server`, and start it where it does not run.

        Raises:
            TapError: the value cannot be meant, or the server does not serve.
        """
        known = self._running.get(id(value))
        if known is not None and not known[1].ended:
            return known[1]
        self.stop(value)
        server = server_of(value, self._thread)
        server.start()
        self._running[id(value)] = value, server
        return server

    def stop(self, value: Any) -> None:
        """Stop the server of a value, if one runs."""
        known = self._running.pop(id(value), None)
        if known is not None:
            known[1].stop()

    def close(self) -> None:
        """Stop all."""
        for value, _ in [*self._running.values()]:
            self.stop(value)


def server_of(value: Any, thread: LoopThread) -> Server:
    """Read a value of `tap_server`.

    Raises:
        ConfigError: it cannot be meant.
    """
    if isinstance(value, str):
        if not value.startswith(("http://", "https://")):
            raise ConfigError(
                "bad-value",
                f"tap_server gives {brief(value, 80)}, which is no URL",
                why="a command is given as a list of its words",
                help=_HELP,
            )
        return Remote(thread, value)
    if callable(value):  # first, since one of aiohttp is a mapping too
        return Hosted(thread, value, PATH)
    if isinstance(value, Mapping):
        return _from_table(value, thread)
    if isinstance(value, list | tuple):
        return Stdio(thread, _words(value))
    raise ConfigError(
        "bad-value", f"tap_server gives {brief(repr(value), 80)}, which is no server", help=_HELP
    )


def _from_table(table: Mapping[str, Any], thread: LoopThread) -> Server:
    kinds: dict[str, Callable[[], Server]] = {
        "command": lambda: Process(
            thread, str(table["url"]), _words(table["command"]), float(table.get("wait", WAIT))
        ),
        "app": lambda: Hosted(thread, table["app"], str(table.get("path", PATH))),
    }
    for kind, known in (("command", _HTTP), ("app", _APP)):
        if kind not in table:
            continue
        for name in table:
            if name not in known:
                raise unknown("tap_server", name, known)
        if kind == "command" and "url" not in table:
            raise ConfigError(
                "bad-value",
                "tap_server has a command and no URL",
                why="it has to be known where an HTTP server listens",
                help='add "url": "http://127.0.0.1:{port}/mcp"; a stdio server is a plain list',
            )
        return kinds[kind]()
    if set(table) == {"url"}:
        return Remote(thread, str(table["url"]))
    raise ConfigError("bad-value", "tap_server gives a dict that names no server", help=_HELP)


def _words(value: Any) -> list[str]:
    if (
        not isinstance(value, Sequence)
        or not value
        or not all(isinstance(word, str | Path) for word in value)
        or isinstance(value, str)
    ):
        raise ConfigError(
            "bad-value", f"tap_server: {brief(repr(value), 80)} is no command", help=_HELP
        )
    return [os.fspath(word) for word in value]


def _shown(word: str) -> str:
    """Write a word of a command as it may be committed: without this machine's own folders."""
    if word == sys.executable:
        return "python"
    path = Path(word)
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else word


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
