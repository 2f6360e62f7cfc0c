"""The session era behind the HTTP front: one process for each session.

Rules of this file (2025-11-25, basic/transports#streamable-http):

- A process has one client, so ids and tokens stay as they are.
- What a server says of its own accord goes to one stream: that of the request which is open alone,
  else that of a GET, else that of the oldest open request; what has nowhere to go waits for a GET.
  Changes of lists and resources are about no request and take the GET's stream first.  Of several
  GETs it is the newest one: of a client that comes back, the others may be dead.
- A connection that breaks cancels nothing.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from mcp_tap.bridge.messages import Said, is_id
from mcp_tap.bridge.served import Open, Served, Ways
from mcp_tap.bridge.streams import Stream
from mcp_tap.core.spec import INITIALIZE, LIST_CHANGES, NOTE_CANCELLED, NOTE_UPDATED

_UNRELATED: Final = frozenset({*LIST_CHANGES, NOTE_UPDATED})
MOST_WAITING: Final = 1000
"""Messages that wait for a client to open a stream for them; of more, the newest."""
CANCELLED: Final = 1.0
"""Seconds a server has to answer what was cancelled, which it need not."""


class Duplicate(Exception):
    """A request has the id of another one that is open."""


class Session(Served):
    """A session and the process that serves it."""

    def __init__(self, command: Sequence[str], ways: Ways, ended: Callable[[Served], None]) -> None:
        """Prepare it."""
        super().__init__(command, ways, ended)
        self.id = secrets.token_urlsafe(24)
        """As `Mcp-Session-Id` has it."""
        self.version = ""
        """The revision it was agreed on."""
        self.touched = 0.0
        """When a client was there last, on the loop's clock."""
        self._listens: list[Stream] = []
        self._waiting: deque[bytes] = deque(maxlen=MOST_WAITING)
        self._loop = asyncio.get_running_loop()
        self.touch()

    def touch(self) -> None:
        """Take note that the client is there."""
        self.touched = self._loop.time()

    @property
    def in_use(self) -> bool:
        """Tell whether the client waits for anything."""
        return bool(self._listens) or any(not r.stream.closed for r in self.open.values())

    def ask(self, said: Said) -> Open:
        """Pass a request on.

        Raises:
            Gone: the server has ended.
            SpliceError: its id is named twice.
            Duplicate: its id is in use.
        """
        if said.id in self.open:
            raise Duplicate
        request = Open(said.id, said, said.token("id") or b"null")
        self.process.send(said.data)
        self.open[said.id] = request
        return request

    def left(self, request: Open) -> None:
        """Take note that nobody reads the answer; the request goes on."""
        self.touch()
        request.stream.drop()

    def pass_on(self, said: Said) -> None:
        """Pass a notification or a response on."""
        self.process.send(said.data)
        if said.method == NOTE_CANCELLED:
            about = said.params.get("requestId")
            request = self.open.get(about) if is_id(about) else None
            if request is not None:
                self._loop.call_later(CANCELLED, self._unanswered, request)

    @property
    def standalone(self) -> Stream | None:
        """The stream that the newest GET has opened."""
        return self._listens[-1] if self._listens else None

    def listen(self) -> Stream:
        """Begin the stream of a GET."""
        stream = Stream()
        self._listens.append(stream)
        while self._waiting:
            stream.put(self._waiting.popleft())
        return stream

    def listened(self, stream: Stream) -> None:
        """End the stream of a GET."""
        self.touch()
        self._listens.remove(stream)

    def _unanswered(self, request: Open) -> None:
        self.close(request)
        request.stream.end()

    def _answer(self, request: Open, said: Said) -> bytes:
        if request.stream.closed:
            self.ways.once("dropped", "a response of the server came when its client was gone")
        version = said.result.get("protocolVersion")
        if request.said.method == INITIALIZE and type(version) is str:
            self.version = version
        return said.data

    def _progress(self, said: Said) -> bool:
        token = said.params.get("progressToken")
        for request in self.open.values():
            if "progressToken" in request.said.meta:
                wanted = request.said.meta["progressToken"]
                if wanted == token and type(wanted) is type(token) and not request.stream.closed:
                    request.stream.put(said.data)
                    return True
        return False

    def _other(self, said: Said) -> None:
        open_streams = [r.stream for r in self.open.values() if not r.stream.closed]
        alone = len(open_streams) == 1
        standalone = self.standalone
        if standalone is not None and (said.method in _UNRELATED or not alone):
            standalone.put(said.data)
        elif open_streams:
            open_streams[0].put(said.data)
        else:
            if len(self._waiting) == MOST_WAITING:
                self.ways.once("dropped", "the server says more than a client without a GET gets")
            self._waiting.append(said.data)

    def _over(self) -> None:
        super()._over()
        for stream in self._listens:
            stream.end()
