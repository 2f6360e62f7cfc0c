"""What is measured: the stub itself, the references, the tap, and peers that are on PATH."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from benchmarks import traffic
from benchmarks.children import Child, cpu, free_port, wait_idle

PYTHON = sys.executable


class Target:
    """Something that answers on a port."""

    def __init__(self, name: str, port: int, child: Child, capture: Path | None = None) -> None:
        self.name = name
        self.port = port
        self.child = child
        self.capture = capture
        """File in which every exchange has to arrive."""
        self.exchanges = 0
        """Exchanges sent through it so far."""

    def recorded(self) -> int:
        """Count the exchanges that are complete in the capture."""
        assert self.capture
        count, tail = 0, b""
        with self.capture.open("rb") as file:
            while data := file.read(1 << 20):
                # A match that starts in the tail of the block before is found with that tail.
                count += (tail + data).count(CLOSED)
                tail = data[-len(CLOSED) + 1 :]
        return count


CLOSED = b'{"kind":"closed"'


class Rig:
    """Starts and ends all processes of a benchmark."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._stack = ExitStack()
        self._log = folder / "stderr.log"
        # What is measured has one core, load generator and stub have another: else the scheduler
        # moves them about, and the ratios with them.
        cores = sorted(os.sched_getaffinity(0))
        self._core, others = cores[0], cores[-1]
        self._load = self.child("-m", "benchmarks.load", core=others)
        stub = self.child("-m", "benchmarks.stub", core=others)
        self.direct = Target("direct", int(stub.line()), stub)
        self.upstream = f"http://127.0.0.1:{self.direct.port}"

    def __enter__(self) -> Self:
        """Give itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End every process, the last started first."""
        self._stack.close()

    def child(self, *arguments: str, argv: Sequence[str] = (), core: int | None = None) -> Child:
        """Start a Python program, or any other by its whole `argv`."""
        core = self._core if core is None else core
        child = Child(argv or [PYTHON, *arguments], log=self._log, core=core)
        self._stack.callback(child.end)
        return child

    def plain(self) -> Target:
        """Start the plain aiohttp pass-through."""
        child = self.child("-m", "benchmarks.plain", self.upstream)
        return Target("plain", int(child.line()), child)

    def bare(self) -> Target:
        """Start the tap with recording off."""
        child = self.child("-m", "benchmarks.bare_tap", self.upstream + "/mcp")
        return Target("tap not recording", int(child.line()), child)

    def tap(self, name: str = "tap", *options: str) -> Target:
        """Start the tap as a user does."""
        return self._live(name, "http", self.upstream + "/mcp", *options)

    def replay(self, capture: Path) -> Target:
        """Start a replay of a capture as a user does."""
        return self._live("replay server", "replay", "server", str(capture))

    def _live(self, name: str, *words: str) -> Target:
        safe = name.replace(",", "").replace(" ", "-")
        ready, capture = self.folder / f"{safe}.json", self.folder / f"{safe}.jsonl"
        paths = ["--ready-file", str(ready), "-w", str(capture), "--view", "none", "--no-config"]
        child = self.child("-m", "mcp_tap.cli.main", *words, "-l", "127.0.0.1:0", *paths)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and child.process.poll() is None:
            text = ready.read_text(encoding="utf-8") if ready.exists() else ""
            if text.endswith("\n"):
                port = int(json.loads(text)["url"].split(":")[2].split("/")[0])
                return Target(name, port, child, capture)
            time.sleep(0.01)
        log = self._log.read_text(encoding="utf-8", errors="replace")[-2000:]
        raise RuntimeError(f"the tap did not start: {' '.join(child.argv)}\n{log}")

    def answering(self) -> Iterator[Target]:
        """Start taps with scripts nobody needs: as the client declares it, and declaring more."""
        for name, script in traffic.SCRIPTS.items():
            path = self.folder / f"{name.replace(' ', '-').replace(',', '')}.toml"
            path.write_text(script, encoding="utf-8")
            yield self.tap(name, "--answers", str(path))

    def peers(self) -> list[Target]:
        """Start other proxies that happen to be installed."""
        found = []
        for program, argv in PEERS.items():
            if path := shutil.which(program):
                port = free_port()
                child = self.child(argv=[path, *argv(self.upstream, port, self.folder)])
                if _accepts(port):
                    found.append(Target(program, port, child))
        return found

    def run(
        self,
        target: Target,
        path: str,
        *,
        connections: int = 16,
        seconds: float = 1.0,
        limit: int = 1 << 30,
    ) -> dict[str, Any]:
        """Load a target and wait until it has nothing left to do.

        The outcome's `seconds` end when the last answer is there and the backlog is worked off.
        """
        before = target.child.cpu()
        outcome = self._do(
            port=target.port, path=path, connections=connections, seconds=seconds, limit=limit
        )
        idle = wait_idle(target.child.pid)
        end = max(outcome["ended"], idle)
        count = outcome["count"]
        target.exchanges += count
        return {
            **outcome,
            "seconds": end - outcome["began"],
            "rate": count / (end - outcome["began"]),
            "backlog": max(0.0, idle - outcome["ended"]),
            "cpu_us": (cpu(target.child.pid) - before) / count * 1e6,
        }

    def stream(self, target: Target, path: str, *, upload: int = 0) -> dict[str, Any]:
        """Pass one big body through a target."""
        target.exchanges += 1
        return self._do(port=target.port, path=path, upload=upload)

    def start_stream(self, target: Target, path: str, *, upload: int = 0) -> Callable[[], Any]:
        """Begin to pass a big body through; give what waits for its end."""
        target.exchanges += 1
        self._load.say(json.dumps({"port": target.port, "path": path, "upload": upload}))
        return self._outcome

    def _do(self, **job: Any) -> dict[str, Any]:
        self._load.say(json.dumps(job))
        return self._outcome()

    def _outcome(self) -> dict[str, Any]:
        outcome: dict[str, Any] = json.loads(self._load.line())
        if "error" in outcome:
            log = self._log.read_text(encoding="utf-8", errors="replace")[-2000:]
            raise RuntimeError(f"{outcome['error']}\n{log}")
        return outcome


def _accepts(port: int, within: float = 15.0) -> bool:
    import socket  # noqa: PLC0415 - only for peers

    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.05)
    return False


def _mitmdump(upstream: str, port: int, folder: Path) -> list[str]:
    mode = f"reverse:{upstream}"
    listen = ["--listen-host", "127.0.0.1", "--listen-port", str(port)]
    return ["-q", "--mode", mode, *listen, "-w", str(folder / "mitmdump.flows")]


def _mcpsnoop(upstream: str, port: int, _: Path) -> list[str]:
    return ["http", "--target", f"{upstream}/mcp", "--listen", f"127.0.0.1:{port}"]


def _nginx(upstream: str, port: int, folder: Path) -> list[str]:
    conf = folder / "nginx.conf"
    conf.write_text(
        f"""daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
        events {{ worker_connections 4096; }}
        http {{ access_log off; client_max_body_size 0;
          upstream stub {{ server {upstream.removeprefix("http://")}; keepalive 512; }}
          server {{ listen 127.0.0.1:{port} backlog=1024; keepalive_requests 100000000;
            location / {{ proxy_pass http://stub; proxy_http_version 1.1; proxy_buffering off;
              proxy_set_header Connection ""; proxy_request_buffering off; }} }} }}""",
        encoding="utf-8",
    )
    return ["-c", str(conf), "-p", str(folder)]


PEERS: dict[str, Callable[[str, int, Path], list[str]]] = {
    "nginx": _nginx,
    "mcpsnoop": _mcpsnoop,
    "mitmdump": _mitmdump,
}
"""Program -> its arguments.  nginx records nothing; the other two record."""
