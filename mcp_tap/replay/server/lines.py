"""The replay over stdio: a process that answers lines on stdin with lines on stdout.

`mcp-tap replay server --stdio` puts the tap around it.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from typing import Any, BinaryIO

from mcp_tap.core.records import Headers, Sse
from mcp_tap.core.spec import INTERNAL_ERROR
from mcp_tap.core.text import cut
from mcp_tap.core.wire import dumps, whole_value
from mcp_tap.errors import TapError
from mcp_tap.replay.index import Index
from mcp_tap.replay.server.matching import AfterLast
from mcp_tap.replay.server.misses import Miss
from mcp_tap.replay.server.play import Clock
from mcp_tap.replay.server.player import OnMiss, Player, Request

_BREAKS = bytes.maketrans(b"\r\n", b"  ")
_LONGEST = 1 << 28
_MOST_WORDS = 200


class LinesOutlet:
    """Where the answer to one line goes; implements `Outlet`."""

    def __init__(self, out: BinaryIO, request: Any) -> None:
        """Write to `out` what answers a request."""
        self._out = out
        wants = type(request) is dict and "id" in request and "method" in request
        self._owed = wants
        self._id = request["id"] if wants else None
        self._status = 200
        self._words = b""

    def head(self, status: int, reason: str, headers: Headers) -> None:  # noqa: ARG002
        """Keep what a line cannot say."""
        self._status = status

    def message(self, data: bytes, sse: Sse | None) -> None:  # noqa: ARG002
        """Write a line; line breaks between tokens become blanks."""
        value = whole_value(data) if self._owed else None
        if type(value) is dict and "method" not in value:
            self._owed = False
        self._out.write(data.translate(_BREAKS) + b"\n")

    def other(self, data: bytes, sse: Sse | None, *, comment: bool) -> None:  # noqa: ARG002
        """Keep what is no message, for the words of an error."""
        if not comment:
            self._words += data

    def flush(self) -> None:
        """Let the client have what came."""
        self._out.flush()

    def end(self) -> None:
        """Answer with an error where no message did: a line has no other way to say so."""
        if self._owed:
            words = cut(self._words.decode(errors="replace"), _MOST_WORDS)
            text = f"the recorded answer is HTTP {self._status}, no message: {words}"
            error = {"code": INTERNAL_ERROR, "message": text.rstrip(": ")}
            self._owed = False
            self.message(dumps({"jsonrpc": "2.0", "id": self._id, "error": error}), None)
        self._out.flush()

    def cut(self) -> None:
        """Answer with an error: there is no stream to break."""
        self._words = b"the server broke off"
        self.end()


def command_line(
    captures: Sequence[str], *, after_last: AfterLast, on_miss: OnMiss, pace: float | None
) -> list[str]:
    """Write the command that starts the process."""
    paced = [] if pace is None else [f"--pace={pace}"]
    options = [f"--after-last={after_last}", f"--on-miss={on_miss}", *paced]
    return [sys.executable, "-m", "mcp_tap.replay.server", *options, "--", *captures]


def main(arguments: Sequence[str]) -> int:
    """Serve until stdin ends; 1 where something was not recorded."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--after-last", default="repeat")
    parser.add_argument("--on-miss", default="error")
    parser.add_argument("--pace", type=float)
    parser.add_argument("captures", nargs="+")
    given = parser.parse_args(arguments)
    try:
        with Index.of(given.captures) as index:
            return asyncio.run(_serve(index, given))
    except TapError as error:
        print(error, file=sys.stderr)  # noqa: T201 - the client's log
        return error.exit_code


async def _serve(index: Index, given: argparse.Namespace) -> int:
    loop = asyncio.get_running_loop()
    told: set[str] = set()

    def missed(miss: Miss) -> None:
        text = str(miss.error)
        if text not in told:
            told.add(text)
            print(text, file=sys.stderr, flush=True)  # noqa: T201 - the client's log

    player = Player(
        index,
        Clock(loop.call_later, given.pace),
        after_last=given.after_last,
        on_miss=given.on_miss,
        lines=True,
        report=missed,
    )
    reader = asyncio.StreamReader(limit=_LONGEST)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        body = line.strip()
        if body:
            outlet = LinesOutlet(sys.stdout.buffer, whole_value(body))
            player.take(Request(body=body), outlet)
            outlet.flush()
    return 1 if told else 0
