"""Terminals, and the people who sit at them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any

from tests.bounds import BOUND


class Person:
    """Sits at the other end of a terminal."""

    def __init__(self) -> None:
        self.there, self.end = os.openpty()
        os.set_blocking(self.there, False)
        self.seen = ""

    def look(self) -> str:
        with contextlib.suppress(BlockingIOError, OSError):
            while data := os.read(self.there, 4096):
                self.seen += data.decode()
        return self.seen

    async def sees(self, text: str) -> str:
        """Wait until these words stand there; forget all up to them, and give what that was."""
        limit = time.monotonic() + BOUND
        while text not in self.look():
            assert time.monotonic() < limit, f"never saw {text!r} in {self.seen!r}"
            await asyncio.sleep(0.005)
        before, _, self.seen = self.seen.partition(text)
        return before

    async def types(self, prompt: str, line: str) -> None:
        await self.sees(prompt)
        os.write(self.there, line.encode() + b"\n")

    def leave(self) -> None:
        for number in (self.there, self.end):
            with contextlib.suppress(OSError):
                os.close(number)


def read(person: int) -> bytes:
    """Read what a terminal shows next; nothing where its other side is closed."""
    assert select.select([person], [], [], BOUND)[0], "the terminal shows nothing"
    try:
        return os.read(person, 65536)
    except OSError:  # that is how a terminal ends
        return b""


def read_until(person: int, text: bytes) -> bytes:
    """Read what a terminal shows, which may come in pieces, up to a piece with this text."""
    found = b""
    while text not in found:
        more = read(person)
        assert more, f"never saw {text!r} in {found!r}"
        found += more
    return found


def console(
    command: Sequence[str],
    seen: bytes,
    then: Callable[[subprocess.Popen[bytes]], Any] = lambda child: None,
) -> bytes:
    """Run a program at a terminal until it shows `seen`, press q, and give all that it showed."""
    person, end = os.openpty()
    child = subprocess.Popen(
        command,
        stdin=end,
        stdout=end,
        stderr=end,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"},
    )
    os.close(end)
    try:
        out = read_until(person, seen)
        then(child)
        os.write(person, b"q")
        while more := read(person):
            out += more
        assert child.wait(BOUND) == 0
    finally:
        child.kill()
        child.wait(BOUND)
        os.close(person)
    return out
