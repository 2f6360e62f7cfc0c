"""Which port of this machine stands for which origin: remembered beside the captures.

A URL in a configuration file has its origin replaced by a tap's address; this file tells it back.
It is only ever added to, so that a server gets the same port each time; it holds scheme, host and
port, and neither path nor query, in which there may be a secret.
"""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from mcp_tap.capture.file import make_private_folder
from mcp_tap.errors import TapError
from mcp_tap.wrapping.entries import PORTS
from mcp_tap.wrapping.files import put

NAME = "wrapped.json"


class Known(Struct):
    """What a port stands for."""

    server: str
    mark: str
    """Tells servers apart: a digest of name and URL."""
    origin: str
    """As it stood in the file."""


class _Memory(Struct):
    version: Literal[1]
    ports: dict[int, Known]


def is_free(port: int) -> bool:
    """Tell whether a port of this machine's loopback can be listened on."""
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


class PortBook:
    """The ports that are known, and those that are given out now."""

    def __init__(self, folder: Path, *, free: Callable[[int], bool] = is_free) -> None:
        """Read what is remembered in a folder.

        Raises:
            TapError: the file there cannot be used.
        """
        self._path, self._free = folder / NAME, free
        self._new: dict[int, Known] = {}
        self._ports = self._read()

    def origin(self, port: int) -> str | None:
        """Give the text that stood where this port stands now."""
        known = self._ports.get(port)
        return None if known is None else known.origin

    def port(self, name: str, upstream: str, written: str) -> int:
        """Give this server's port: the one it had, else a free one that name and URL lead to."""
        digest = hashlib.sha256(f"{name}\n{upstream}\n{written}".encode())
        mark, first = digest.hexdigest()[:16], int.from_bytes(digest.digest()[-4:])
        for port, known in self._ports.items():
            if known.mark == mark:
                return port
        for step in range(len(PORTS)):
            port = PORTS[(first + step) % len(PORTS)]
            if port not in self._ports and self._free(port):
                self._ports[port] = self._new[port] = Known(name, mark, written)
                return port
        raise TapError(
            "no-port",
            f"all ports from {PORTS[0]} to {PORTS[-1]} are given out or taken",
            where=str(self._path),
        )

    def save(self) -> None:
        """Remember what was given out, beside what other commands have meanwhile.

        Raises:
            TapError: the file cannot be written, or another command gave out one of the ports.
        """
        if not self._new:
            return
        there = self._read()
        if any(there.get(port, known) != known for port, known in self._new.items()):
            raise TapError(
                "ports-taken",
                "another command gave out the same port just now",
                where=str(self._path),
                help="run the command again",
            )
        data = msgspec.json.format(msgspec.json.encode(_Memory(1, there | self._new)), indent=1)
        try:
            make_private_folder(self._path.parent)
            put(self._path, data + b"\n", lambda _: None)
        except OSError as error:
            raise self._failed("cannot be written", error.strerror) from error

    def _read(self) -> dict[int, Known]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=_Memory).ports
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._failed("cannot be read", error.strerror) from error
        except ValueError as error:
            raise self._failed("is not as mcp-tap wrote it", str(error)) from error

    def _failed(self, what: str, why: str | None) -> TapError:
        return TapError(
            "ports-file",
            f"{self._path} {what}",
            why=(why or "unknown reason").lower(),
            help="no client's configuration was changed",
        )
