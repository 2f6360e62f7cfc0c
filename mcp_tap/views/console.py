"""The live console: drawn on the alternate screen by a thread of its own.

`update()` leaves what changed under a lock and returns.  The drawing thread takes it from there, at
once after a quiet time and `FRAMES` times a second where much happens, reads the keys, and writes
only the lines that differ from the last frame.  When the terminal does
not take them (someone holds it), drawing waits and traffic does not.
"""

from __future__ import annotations

import base64
import os
import shutil
import signal
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Final, TextIO

from mcp_tap.core.finding import Finding
from mcp_tap.core.model import Call
from mcp_tap.core.records import Header
from mcp_tap.core.text import width
from mcp_tap.views.base import Change, Stats, Subject
from mcp_tap.views.console_draw import screen
from mcp_tap.views.console_list import Line
from mcp_tap.views.console_runs import ShownRun
from mcp_tap.views.console_state import ConsoleState
from mcp_tap.views.keys import Keys
from mcp_tap.views.look import ASCII, LINES, Look, Row
from mcp_tap.views.machine import encode, watched_doc
from mcp_tap.views.paint import Painter
from mcp_tap.views.text import local_start

FRAMES: Final = 8
"""Frames in a second, at most."""
_LOOK: Final = 1 / 32
"""Seconds between two looks whether something is new."""
_MOST_WAITING: Final = 10_000
_ENTER: Final = "\x1b[?1049h\x1b[?25l\x1b[2J"
_LEAVE: Final = "\x1b[?25h\x1b[?1049l"
_MOST_COPIED: Final = 74_000
"""Bytes terminals take through their copy sequence."""


class _Feed:
    """One of the runs that are shown: what came of it since the last frame, kept under a lock."""

    def __init__(self, header: Header, lock: threading.Lock) -> None:
        self.header = header
        self.inbox: OrderedDict[tuple[str, int], Subject] = OrderedDict()
        self.found: deque[Finding] = deque(maxlen=_MOST_WAITING)
        self.now = 0.0
        self.heard = monotonic()
        self.ended = False
        self.shown: ShownRun | None = None
        """What the drawing thread made of it."""
        self._lock = lock

    def update(self, changes: Sequence[Change], now: float) -> None:
        """Leave what has changed for the drawing thread."""
        with self._lock:
            for change in changes:
                if isinstance(change, Finding):
                    self.found.append(change)
                else:
                    self.inbox[type(change).__name__, change.number] = change
            while len(self.inbox) > _MOST_WAITING:
                self.inbox.popitem(last=False)
            self.now, self.heard = now, monotonic()

    def finished(self) -> None:
        """Say that nothing more will come: times stand still, keys go on working."""
        with self._lock:
            self.ended = True

    @property
    def fresh(self) -> bool:
        """Tell whether something was left that is not shown."""
        return bool(self.inbox or self.found or self.ended or self.shown is None)

    def take(self) -> tuple[_Feed, list[Subject], list[Finding], bool]:
        """Give what was left, once, and whether nothing more will come; the lock is held."""
        changes, found = list(self.inbox.values()), list(self.found)
        self.inbox.clear()
        self.found.clear()
        return self, changes, found, self.ended


class ConsoleView:
    """Shows runs on a terminal, and what was selected of them in full."""

    def __init__(
        self,
        stream: TextIO,
        *,
        keys: int | None = None,
        color: bool = True,
        ascii: bool = False,  # noqa: A002 - named as its option
        on_quit: Callable[[], None] | None = None,
        stats: Callable[[], Stats] | None = None,
    ) -> None:
        """Draw on `stream`.

        Args:
            stream: the terminal.
            keys: file descriptor keys are read from; None reads none.
            color: use colours.
            ascii: draw with ASCII only.
            on_quit: called, on another thread, when `q` is pressed; otherwise this process is
                interrupted as by Ctrl-C.
            stats: asked for the numbers in the header, before each frame.
        """
        self._stream = stream
        self._keys = keys
        self._painter = Painter(color=color)
        self._on_quit = on_quit or _interrupt
        self.stats = stats
        self._state = ConsoleState(ASCII if ascii else LINES)
        self._lock = threading.Lock()
        self._feeds: list[_Feed] = []
        """Runs that go on, and those of which the drawing thread has not seen the end."""
        self._first: _Feed | None = None
        self._alone = False
        """What is shown is to be forgotten: a run came in place of all others."""
        self._waiting = ""
        self._notices: list[str] = []
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._shown: list[str] = []
        self._size = (0, 0)

    def start(self, header: Header) -> None:
        """Take a run and begin to draw; a second run takes the place of the first."""
        self._first = self.join(header, alone=True)

    def join(self, header: Header, *, alone: bool = False) -> _Feed:
        """Take a further run, beside the others or in place of them, and begin to draw."""
        feed = _Feed(header, self._lock)
        with self._lock:
            if alone:
                self._feeds.clear()
                self._alone = True
            self._feeds.append(feed)
        self._begin()
        return feed

    def wait(self, text: str) -> None:
        """Begin to draw before there is a run, and say so."""
        self._waiting = text
        self._begin()

    def _begin(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="console", daemon=True)
            self._thread.start()

    def update(self, changes: Sequence[Change], now: float) -> None:
        """Leave what has changed in the run that was started for the drawing thread."""
        if self._first is not None:
            self._first.update(changes, now)

    def finished(self) -> None:
        """Say that nothing more will come of the run that was started."""
        if self._first is not None:
            self._first.finished()

    def notice(self, text: str) -> None:
        """Leave words for the lines above the keys."""
        with self._lock:
            self._notices.append(text)
            del self._notices[:-3]

    def close(self) -> None:
        """Stop drawing and give the terminal back, within a second."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(1.0)
            self._thread = None

    def _run(self) -> None:
        try:
            with Keys(-1 if self._keys is None else self._keys) as keys:
                self._write(_ENTER)
                try:
                    self._draw_until_closed(keys)
                finally:
                    self._write(_LEAVE)
        except (OSError, ValueError):
            return  # the terminal is gone: the recording goes on without it

    def _draw_until_closed(self, keys: Keys) -> None:
        second: list[int] = []
        drawn = due = 0.0
        pressed = False
        while not self._closing.is_set():
            now = monotonic()
            if pressed or now >= due or (self._news and now >= drawn + 1 / FRAMES):
                due = now + 1 / FRAMES
                fresh = self._collect()
                was, second = second, [int(run.now) for run in self._state.runs if run.running]
                size = shutil.get_terminal_size()
                if fresh or pressed or second != was or size != self._size:
                    self._draw(size.columns, size.lines)
                    drawn = now
            if self._keys is None:
                self._closing.wait(_LOOK)
                continue
            found = keys.read(_LOOK)
            pressed = bool(found)
            for key in found:
                self._press(key)

    @property
    def _news(self) -> bool:
        """Tell whether a frame would show something new; asked often, so without the lock."""
        return any(feed.fresh for feed in list(self._feeds))

    def _collect(self) -> bool:
        """Take over what was left; tell whether there was something."""
        state = self._state
        with self._lock:
            left = [feed.take() for feed in self._feeds]
            self._feeds = [feed for feed in self._feeds if not feed.ended]
            alone, self._alone = self._alone, False
            notices, self._notices = self._notices, []
        fresh = bool(notices)
        for feed, changes, found, ended in left:
            run = feed.shown
            if run is None:
                look = Look(glyphs=state.glyphs, start=local_start(feed.header.started))
                run = feed.shown = state.begin(feed.header, look, alone=alone)
                alone, fresh = False, True
            if changes or found:
                state.take(run, changes, found)
                fresh = True
            if not state.paused:
                run.now = feed.now if ended else feed.now + monotonic() - feed.heard
            if ended:
                state.end(run)
                fresh = True
        state.notices.extend(notices)
        waited, state.waiting = state.waiting != self._waiting, self._waiting
        stats = self.stats() if self.stats else None
        counted, state.stats = stats != state.stats, stats
        return fresh or waited or counted

    def _press(self, key: str) -> None:
        effect = self._state.press(key)
        if effect == "quit":
            self._on_quit()
        elif effect == "copy":
            self._copy()

    def _copy(self) -> None:
        chosen = self._state.chosen()
        if chosen is None or not isinstance(call := chosen.subject, Call):
            return
        data = encode(watched_doc(call, chosen.run.header.run))
        if len(data) > _MOST_COPIED:
            self._state.message = f"call #{call.number} is too big to copy"
            return
        # OSC 52: the terminal itself puts it on the clipboard, across ssh too.
        self._write(f"\x1b]52;c;{base64.b64encode(data).decode()}\x07")
        self._state.message = f"call #{call.number} copied as JSON, if the terminal allows it"

    def _draw(self, columns: int, lines: int) -> None:
        out = []
        if (columns, lines) != self._size:
            self._size = (columns, lines)
            self._shown = []
            out.append("\x1b[2J")
        shown = [self._line(row) for row in screen(self._state, columns, lines)]
        for n, line in enumerate(shown):
            if n >= len(self._shown) or self._shown[n] != line:
                out.append(f"\x1b[{n + 1};1H{line}\x1b[K")
        self._shown = shown
        if out:
            self._write("".join(out))

    def _line(self, row: Row) -> str:
        chosen = row.chosen if isinstance(row, Line) else 0
        if not chosen:
            return self._painter.cells(row)
        cells, at = 0, 0
        while cells < chosen and at < len(row):
            cells += width(row[at][0])
            at += 1
        return self._painter.cells(row[:at], chosen=True) + self._painter.cells(row[at:])

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def _interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)
