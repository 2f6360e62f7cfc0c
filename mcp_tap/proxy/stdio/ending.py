"""What ends a run over stdio, and the order in which the server is shut down.

Rules of this file (specification 2026-07-28, basic/transports/stdio#shutdown):

- The client's end of input is the server's.  Then it has `GRACE` seconds, SIGTERM, `TERMINATE`
  seconds, SIGKILL.  While requests are unanswered the first of these waits, as long as the client
  is there: `printf ... | mcp-tap -- CMD` shall get its answer.
- A signal goes to the server's group at once, and its input ends; SIGKILL follows after `AFTER`.
  A second one does not wait.
- The run ends with the server; what it has written is carried out before, and recorded.  After a
  signal `AFTER` seconds are left for either: a client that reads no more holds nothing up, and
  what is not recorded by then is cut.  A second signal does not wait.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Literal, Protocol

from mcp_tap.proxy.stdio.child import Child

GRACE = 1.5
"""Seconds a server has to end by itself."""
TERMINATE = 1.0
"""Seconds it has after SIGTERM."""
AFTER = 1.5
"""Seconds it has after a signal that was passed on."""
LINGER = 0.5
"""Seconds of silence after which an ended server's streams, held by others, are left."""
LOOK = 0.25
"""Seconds between two looks at what nobody tells."""

_ENDING = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT")
_PASSED = ("SIGUSR1", "SIGUSR2")


class Carrier(Protocol):
    """A thread that carries bytes."""

    over: bool
    """It carries no more."""
    reading: float | None
    """Since when it has been waiting for something to carry; None: it is not."""

    def start(self) -> None:
        """Begin."""


class Input(Carrier, Protocol):
    """What carries what the client writes."""

    ended: bool
    """The client has closed its end."""


class Ending:
    """Waits for the end of a run, and brings it about."""

    def __init__(self) -> None:
        """Listen to signals from now on, where this is the main thread."""
        self._events: SimpleQueue[int] = SimpleQueue()
        self._parent = os.getppid()
        self._before: dict[int, object] = {}
        self._kill_at: float | None = None
        self._term_at: float | None = None
        self.how: Literal["end", "signal", "child"] = "child"
        """What ended the run: the client, a signal, or the server by itself."""
        if threading.current_thread() is threading.main_thread():
            for number in _numbers((*_ENDING, *_PASSED)):
                if signal.getsignal(number) != signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._on_signal)

    def poke(self) -> None:
        """Look again; may be called from any thread."""
        self._events.put(0)

    def wait(
        self,
        child: Child,
        stdin: Input,
        *,
        waits: Callable[[], bool],
        tick: Callable[[], None] | None = None,
    ) -> None:
        """Return when the server has ended.

        Args:
            child: the server.
            stdin: carries its input.
            waits: says whether the client waits for something.
            tick: called every `LOOK` seconds or so.
        """
        while child.status is None:
            quiet = tick is None and self._term_at is None and self._kill_at is None
            number = self._next(None if quiet and not stdin.over else LOOK)
            if number:
                self._pass_on(child, number)
            if tick is not None:
                tick()
            if child.status is None:
                self._shut_down(child, stdin, waits)
        if stdin.ended and self.how == "child":
            self.how = "end"

    def drain(self, child: Child, carriers: Sequence[Carrier]) -> None:
        """Return when the ended server's output is carried out, or a signal says not to wait.

        After a signal a client that reads no more is waited for `AFTER` seconds.
        """
        begun = monotonic()
        until = begun + AFTER if self.how == "signal" else None
        for carrier in carriers:
            while not carrier.over and not self._held_in_silence(carrier, begun):
                if until is not None and monotonic() > until:
                    break
                if self._next(LOOK / 10):
                    self.how = "signal"
                    break
        while self._kill_at is not None and child.has_group():
            if monotonic() > self._kill_at or self._next(LOOK / 10):
                child.kill()
                return

    def settle(self, recorded: Callable[[], bool], cut: Callable[[], None]) -> None:
        """Return when all is recorded, after `poke()`, or a second signal says not to wait.

        Args:
            recorded: tells whether that is so.
            cut: drops what is not recorded yet.
        """
        told = self.how == "signal"
        cut_at = monotonic() + AFTER if told else None
        while not recorded():
            number = self._next(None if cut_at is None else max(0.0, cut_at - monotonic()))
            if number in _numbers(_ENDING):
                if told:
                    return
                told, cut_at = True, monotonic() + AFTER
            if cut_at is not None and monotonic() >= cut_at:
                cut()
                cut_at = None

    def restore(self) -> None:
        """Leave signals as they were."""
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        self._before = {}

    def _on_signal(self, number: int, _: object) -> None:
        self._events.put(number)

    def _held_in_silence(self, carrier: Carrier, ended: float) -> bool:
        """Tell whether others hold the stream that the server has left, and write nothing.

        A stream that was silent before may be about to carry the server's last words.
        """
        since = carrier.reading
        return since is not None and monotonic() - max(since, ended) > LINGER

    def _next(self, timeout: float | None) -> int:
        with contextlib.suppress(Empty):
            return self._events.get(timeout=timeout)
        return 0

    def _pass_on(self, child: Child, number: int) -> None:
        if number in _numbers(_PASSED):
            child.signal(number)
            return
        if self.how == "signal":
            child.kill()
            return
        self.how = "signal"
        child.signal(number)
        child.close_stdin()
        self._kill_at = monotonic() + AFTER

    def _shut_down(self, child: Child, stdin: Input, waits: Callable[[], bool]) -> None:
        now = monotonic()
        if self._kill_at is not None:
            if now >= self._kill_at:
                child.kill()
        elif self._term_at is not None:
            if now >= self._term_at:
                child.signal(signal.SIGTERM)
                self._kill_at = now + TERMINATE
        elif stdin.over:
            alone = os.getppid() != self._parent
            if alone or (stdin.ended and not waits()):
                self._term_at = now + GRACE


def _numbers(names: Sequence[str]) -> list[int]:
    """Give the signals that there are here."""
    return [getattr(signal, name) for name in names if hasattr(signal, name)]
