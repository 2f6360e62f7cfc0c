"""The live console: drawn on the alternate screen by a thread of its own, `FRAMES` times a second.

`update()` leaves what changed under a lock and returns.  The drawing thread takes it from there,
reads the keys, and writes only the lines that differ from the last frame.  When the terminal does
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
from mcp_tap.views.console_draw import Line, screen
from mcp_tap.views.console_state import ConsoleState
from mcp_tap.views.keys import Keys
from mcp_tap.views.look import ASCII, LINES, Look, Row
from mcp_tap.views.machine import call_doc, encode
from mcp_tap.views.paint import Painter
from mcp_tap.views.text import local_start

FRAMES: Final = 8
_MOST_WAITING: Final = 10_000
_ENTER: Final = "\x1b[?1049h\x1b[?25l\x1b[2J"
_LEAVE: Final = "\x1b[?25h\x1b[?1049l"
_MOST_COPIED: Final = 74_000
"""Bytes terminals take through their copy sequence."""


class ConsoleView:
    """Shows a run on a terminal, and what was selected of it in full."""

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
        self._inbox: OrderedDict[tuple[str, int], Subject] = OrderedDict()
        self._found: deque[Finding] = deque(maxlen=_MOST_WAITING)
        self._begun: Header | None = None
        self._notices: list[str] = []
        self._now = 0.0
        self._heard = monotonic()
        self._ended = False
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._shown: list[str] = []
        self._size = (0, 0)

    def start(self, header: Header) -> None:
        """Take a run and begin to draw; a second run takes the place of the first."""
        with self._lock:
            self._begun = header
            self._inbox.clear()
            self._found.clear()
            self._ended = False
            self._now, self._heard = 0.0, monotonic()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="console", daemon=True)
            self._thread.start()

    def update(self, changes: Sequence[Change], now: float) -> None:
        """Leave what has changed for the drawing thread."""
        with self._lock:
            for change in changes:
                if isinstance(change, Finding):
                    self._found.append(change)
                else:
                    self._inbox[type(change).__name__, change.number] = change
            while len(self._inbox) > _MOST_WAITING:
                self._inbox.popitem(last=False)
            self._now, self._heard = now, monotonic()

    def notice(self, text: str) -> None:
        """Leave words for the lines above the keys."""
        with self._lock:
            self._notices.append(text)
            del self._notices[:-3]

    def finished(self) -> None:
        """Say that nothing more will come: times stand still, keys go on working."""
        with self._lock:
            self._ended = True

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
        second, pressed = -1, False
        while not self._closing.is_set():
            fresh = self._collect()
            was, second = second, int(self._state.now) if self._state.running else 0
            size = shutil.get_terminal_size()
            if fresh or pressed or second != was or size != self._size:
                self._draw(size.columns, size.lines)
            if self._keys is None:
                self._closing.wait(1 / FRAMES)
                continue
            found = keys.read(1 / FRAMES)
            pressed = bool(found)
            for key in found:
                self._press(key)

    def _collect(self) -> bool:
        """Take over what was left; tell whether there was something."""
        state = self._state
        with self._lock:
            changes = list(self._inbox.values())
            self._inbox.clear()
            found = list(self._found)
            self._found.clear()
            begun, self._begun = self._begun, None
            notices, self._notices = self._notices, []
            ended, now, heard = self._ended, self._now, self._heard
        if begun is not None:
            state.begin(begun, Look(glyphs=state.glyphs, start=local_start(begun.started)))
        state.take(changes, found)
        state.notices.extend(notices)
        turned = ended != state.ended
        state.ended = ended
        if not state.paused:
            state.now = now if ended else now + monotonic() - heard
        stats = self.stats() if self.stats else None
        counted, state.stats = stats != state.stats, stats
        return bool(changes or found or begun or notices or turned or counted)

    def _press(self, key: str) -> None:
        effect = self._state.press(key)
        if effect == "quit":
            self._on_quit()
        elif effect == "copy":
            self._copy()

    def _copy(self) -> None:
        chosen = self._state.chosen()
        if not isinstance(chosen, Call):
            return
        data = encode(call_doc(chosen))
        if len(data) > _MOST_COPIED:
            self._state.message = f"call #{chosen.number} is too big to copy"
            return
        # OSC 52: the terminal itself puts it on the clipboard, across ssh too.
        self._write(f"\x1b]52;c;{base64.b64encode(data).decode()}\x07")
        self._state.message = f"call #{chosen.number} copied as JSON, if the terminal allows it"

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
