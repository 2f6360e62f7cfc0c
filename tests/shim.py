"""`mcp-tap stdio` as a client starts it: real processes, raw bytes, and every wait bounded."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from mcp_tap.capture.reader import open_path
from mcp_tap.core.records import AnyRecord, Header, Message, Noise, Payload, Stderr
from tests.bounds import BOUND

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
PONG = b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
TAP = (sys.executable, "-m", "mcp_tap")
_TIMED = """
from mcp_tap.proxy.stdio import ending, sluice
%s
from mcp_tap.__main__ import main; main()
"""
_PATIENCE = f"ending.GRACE = ending.TERMINATE = ending.AFTER = {2 * BOUND}"
PATIENT = (sys.executable, "-c", _TIMED % _PATIENCE)
"""The tap with more patience than a test: it ends no server because a machine is busy."""
HURRIED = (sys.executable, "-c", _TIMED % "sluice.LAST = 0.3")
"""The tap that waits for no last answer."""


def python(code: str) -> tuple[str, ...]:
    """Give the command line of a small server; `I`, `O` and `E` are its raw streams."""
    front = "import os, sys, time, signal; I, O, E = 0, 1, 2\n"
    return sys.executable, "-S", "-c", front + code


ECHO = python("while data := os.read(I, 65536):\n while data: data = data[os.write(O, data):]")
"""Sends back what it gets, byte for byte."""


class Shim:
    """A client's end of a running tap."""

    def __init__(self, process: subprocess.Popen[bytes], capture: Path) -> None:
        self.process = process
        self.capture = capture
        self.out = b""
        self.err = b""

    def send(self, data: bytes) -> None:
        while data:
            try:
                data = data[os.write(_there(self.process.stdin).fileno(), data) :]
            except BrokenPipeError as error:
                error.add_note(f"it ended with {self.process.poll()}")
                raise

    def close(self) -> None:
        _there(self.process.stdin).close()

    def read_until(self, end: bytes, bound: float = BOUND) -> bytes:
        """Read stdout up to and with these bytes; what came after them stays."""
        while end not in self.out:
            assert self._read_out(bound), f"the stream ended after {self.out!r}"
        whole, mark, self.out = self.out.partition(end)
        return whole + mark

    def line(self, bound: float = BOUND) -> bytes:
        return self.read_until(b"\n", bound)

    def ask(self, request: bytes = PING) -> bytes:
        self.send(request)
        return self.line()

    def at_eof(self, bound: float = BOUND) -> bool:
        """Read stdout to its end; tell that it was reached."""
        while self._read_out(bound):
            pass
        return True

    def said(self, words: bytes, bound: float = BOUND) -> bytes:
        """Read stderr until it says this."""
        while words not in self.err:
            assert self._read_err(bound), f"stderr ended after {self.err!r}"
        return self.err

    def end(self, number: int | None = None, bound: float = BOUND) -> int:
        """Close stdin, or send a signal; read both streams to their ends, give the exit code."""
        if number is None:
            self.close()
        else:
            self.process.send_signal(number)
        return self.ended(bound)

    def ended(self, bound: float = BOUND) -> int:
        stdin, self.process.stdin = self.process.stdin, None  # if it is closed, the test says
        out, err = self.process.communicate(timeout=bound)
        self.out += out
        self.err += err
        self.process.stdin = stdin
        return self.process.returncode

    def records(self) -> list[AnyRecord]:
        return list(open_path(self.capture))

    def payloads(self, *senders: str) -> list[Payload]:
        """Give what was recorded of the protocol's streams."""
        kinds = (Message, Noise)
        return [r for r in self.records() if isinstance(r, kinds) and r.sender in senders]

    def told(self) -> list[tuple[str, str, bytes]]:
        """Give kind, sender and payload of each record that has one."""
        kinds = {Message: "message", Noise: "noise", Stderr: "stderr"}
        return [
            (kinds[type(r)], r.sender, r.payload())
            for r in self.records()
            if isinstance(r, Payload)
        ]

    def header(self) -> Header:
        header = self.records()[0]
        assert isinstance(header, Header)
        return header

    def _read_out(self, bound: float) -> bytes:
        data = read(_there(self.process.stdout), bound)
        self.out += data
        return data

    def _read_err(self, bound: float) -> bytes:
        data = read(_there(self.process.stderr), bound)
        self.err += data
        return data


def _there(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def read(stream: IO[bytes], bound: float = BOUND) -> bytes:
    """Read what there is; nothing at the end."""
    ready, _, _ = select.select([stream], [], [], bound)
    assert ready, "nothing came"
    return os.read(stream.fileno(), 1 << 16)


@contextlib.contextmanager
def shim(
    command: Sequence[str],
    folder: Path,
    *options: str,
    tap: Sequence[str] = PATIENT,
    **popen: Any,
) -> Iterator[Shim]:
    """Run a server behind the tap."""
    capture = folder / "run.jsonl"
    line = [*tap, "stdio", "-w", str(capture), *options, "--", *command]
    with started(line, capture, **popen) as running:
        yield running


@contextlib.contextmanager
def started(line: Sequence[str], capture: Path, **popen: Any) -> Iterator[Shim]:
    """Run a command line as a client does."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        line, bufsize=0, **{"stdin": pipe, "stdout": pipe, "stderr": pipe, **popen}
    )
    running = Shim(process, capture)
    try:
        yield running
    finally:
        process.kill()
        process.wait(BOUND)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def request(number: int, method: str = "tools/list", **params: Any) -> bytes:
    message = {"jsonrpc": "2.0", "id": number, "method": method}
    return json.dumps(message | ({"params": params} if params else {})).encode() + b"\n"


def is_alive(pid: int) -> bool:
    """Tell whether a process runs: neither gone nor a zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state.rpartition(")")[2].split()[0] not in "ZX"
