"""A server process with the requests that are open at it; what each era adds stands beside this."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from mcp_tap.bridge.messages import Said, is_id, own_error, read
from mcp_tap.bridge.process import Process
from mcp_tap.bridge.streams import Part, Stream
from mcp_tap.core.spec import NOTE_PROGRESS
from mcp_tap.core.splice import SpliceError
from mcp_tap.core.text import brief

ENDED: Final = "server-ended"
MOST_PAST: Final = 1000
"""Ids of past requests that are remembered: what comes late for them is no surprise."""


@dataclass(eq=False)
class Open:
    """A request the server has not answered."""

    key: Any
    """Its id, as the server knows it."""
    said: Said
    token: bytes
    """Its id as the client wrote it."""
    stream: Stream = field(default_factory=Stream)


class Ways:
    """Who is told of what has no place in an answer."""

    def __init__(self, *, words: Callable[[bytes], None], notice: Callable[[str], None]) -> None:
        """Tell these.

        Args:
            words: takes each line the server writes to stderr.
            notice: takes words of the bridge's own.
        """
        self.words = words
        self.notice = notice
        self._said: set[str] = set()

    def once(self, name: str, text: str) -> None:
        """Say something the first time it occurs."""
        if name not in self._said:
            self._said.add(name)
            self.notice(f"{name}: {text}")


class Served(ABC):
    """A running server, and who waits for what from it."""

    def __init__(self, command: Sequence[str], ways: Ways, ended: Callable[[Served], None]) -> None:
        """Prepare one; `ended` is told when its process has ended."""
        self.ways = ways
        self.process = Process(command, line=self._take, words=ways.words, over=self._over)
        self.open: dict[Any, Open] = {}
        self._past: deque[Any] = deque(maxlen=MOST_PAST)
        self._ended = ended
        self.stopping = False
        """Its end is wanted."""

    @abstractmethod
    def ask(self, said: Said) -> Open:
        """Pass a request on.

        Raises:
            Gone: the server has ended.
            SpliceError: a member that has to be changed is named twice.
        """

    @abstractmethod
    def left(self, request: Open) -> None:
        """Take note that the client does not wait for an answer any more."""

    @abstractmethod
    def pass_on(self, said: Said) -> None:
        """Pass a notification or a response on.

        Raises:
            Gone: the server has ended.
        """

    @abstractmethod
    def _answer(self, request: Open, said: Said) -> bytes:
        """Give an answer as the client gets it."""

    @abstractmethod
    def _progress(self, said: Said) -> bool:
        """Pass progress on to the request it is about; tell whether there is one."""

    @abstractmethod
    def _other(self, said: Said) -> None:
        """Take a request of the server, or a notification of no known place."""

    async def stop(self, *seconds: float) -> None:
        """Shut it down; see `Process.stop`."""
        self.stopping = True
        await self.process.stop(*seconds)

    def _take(self, line: bytes) -> None:
        """Take a line of the server's."""
        if not line.strip():
            return
        said = read(line)
        if said is None:
            shown = brief(line[:200].decode("utf-8", "replace"))
            self.ways.once("not-a-message", f"the server wrote a line that is none: {shown}")
            return
        try:
            if said.kind == "response":
                self._answered(said)
            elif said.method != NOTE_PROGRESS or said.kind == "request" or not self._progress(said):
                self._other(said)
        except SpliceError:
            self.ways.once("not-passed-on", "the server named a member twice in a message")

    def _answered(self, said: Said) -> None:
        key = said.id
        request = self.open.get(key) if is_id(key) else None
        if request is None:
            if key not in self._past:
                self.ways.once("stray-response", "the server answered what nobody had asked")
            return
        self.close(request)
        try:
            part = Part(self._answer(request, said), last=True)
        except SpliceError:
            error = own_error(
                request.token, "named-twice", "the server's answer has a member twice"
            )
            part = Part(error, last=True, status=502, mark="named-twice")
        request.stream.end(part)

    def close(self, request: Open) -> None:
        """Take a request off the list."""
        if self.open.pop(request.key, None) is not None:
            self._past.append(request.key)

    def _over(self) -> None:
        """Answer everything that is open in the place of the server that has ended."""
        how = self.process.how()
        if not self.stopping:
            self.ways.notice(f"{ENDED}: the server {how}")
        for request in [*self.open.values()]:
            self.close(request)
            error = own_error(request.token, ENDED, f"the server {how}")
            request.stream.end(Part(error, last=True, status=502, mark=ENDED))
        self._ended(self)

    async def room(self) -> None:
        """Wait till the server has read most of what was passed on, or is over: none piles up."""
        await self.process.room()
