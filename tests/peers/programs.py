"""Peers run as programs of their own: started, told apart by what they print, and ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests.bounds import BOUND, TEST

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


async def _start(*command: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        limit=1 << 20,
    )


def free_port() -> int:
    """Give a port on which nothing listens, for a program that cannot tell which it took."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def servers() -> Iterator[Callable[..., str]]:
    """Give what gives the URL a server prints; each is started once, and stopped at the end."""
    running: list[subprocess.Popen[bytes]] = []

    @cache
    def serving(*command: str) -> str:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        running.append(process)
        assert process.stdout is not None
        assert select.select([process.stdout], [], [], BOUND)[0], f"{command[1]} does not start"
        line = process.stdout.readline()
        assert line, f"{command[1]} ended with {process.wait()}"
        return str(json.loads(line)["url"])

    try:
        yield serving
    finally:
        for process in running:
            process.terminate()
        for process in running:
            with process:
                process.wait(BOUND)


async def outcome(*command: str) -> Any:
    """Run a program to its end; give what it printed as JSON."""
    process = await _start(*command)
    try:
        async with asyncio.timeout(TEST):
            out, _ = await process.communicate()
    finally:
        await _end(process)
    assert process.returncode == 0, f"{command[1]} ended with {process.returncode}"
    return json.loads(out)


@contextlib.asynccontextmanager
async def tapping(url: str, folder: Path, *options: str) -> AsyncIterator[str]:
    """Run `mcp-tap http` before a server, recording to run.jsonl; give the URL for clients."""
    ready = folder / "ready.json"
    capture = str(folder / "run.jsonl")
    words = ["http", url, "-l", "127.0.0.1:0", "--ready-file", str(ready), "-w", capture, *options]
    process = await _start(sys.executable, "-m", "mcp_tap", "-q", *words, "--view", "none")
    try:
        async with asyncio.timeout(BOUND):
            while not ready.exists():
                assert process.returncode is None, "the tap ended"
                await asyncio.sleep(0.01)
        yield json.loads(ready.read_text(encoding="utf-8"))["url"]
    finally:
        code = await _end(process)
    assert code == 0, f"the tap ended with {code}"


async def _end(process: asyncio.subprocess.Process) -> int:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(BOUND):
                await process.communicate()
        except TimeoutError:
            process.kill()
            raise
    return await process.wait()


def python(name: str) -> list[str]:
    """Give the command of a peer written in Python."""
    return [sys.executable, str(HERE / name)]


async def played(client: Sequence[str], url: str, mode: str, folder: Path) -> Any:
    """Let a client play its story without the tap and with it; give what came of it both times."""
    async with tapping(url, folder) as tapped:
        direct, through = await outcome(*client, url, mode, tapped, mode)
    assert through == direct
    return direct
