"""Clients' configuration files to put the tap into, and a book of ports without a disk."""

from __future__ import annotations

from pathlib import Path

from mcp_tap.wrapping import entries
from mcp_tap.wrapping.clients import CLIENTS, OTHER, Client, read_notation, servers
from mcp_tap.wrapping.entries import PORTS, Outcome

PROGRAM = "/opt/tap/bin/mcp-tap"
FOLDER = Path(__file__).parent / "data" / "clients"
FIXTURES = sorted(path for path in FOLDER.rglob("*") if path.is_file())


class Book:
    """Ports from the first one on, each for its server."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[tuple[str, str, str], str]] = {}

    def origin(self, port: int) -> str | None:
        return self.known[port][1] if port in self.known else None

    def port(self, name: str, upstream: str, written: str) -> int:
        mark = (name, upstream, written)
        for port, (known, _) in self.known.items():
            if known == mark:
                return port
        port = PORTS[len(self.known)]
        self.known[port] = (mark, written)
        return port


def client_of(path: Path) -> Client:
    """Give the client whose fixture this is."""
    return next(client for client in CLIENTS if client.name == path.parent.name)


def wrapped(
    data: bytes, book: Book, name: str = "mcp.json", client: Client = OTHER, program: str = PROGRAM
) -> tuple[bytes, list[Outcome]]:
    """Wrap all servers of a file."""
    doc = read_notation(Path(name), data)
    paths = servers(client, doc.value)
    return entries.wrap(doc, paths, client.shape, program=program, ports=book)


def unwrapped(
    data: bytes, book: Book, name: str = "mcp.json", client: Client = OTHER
) -> tuple[bytes, list[Outcome]]:
    """Unwrap all servers of a file."""
    doc = read_notation(Path(name), data)
    return entries.unwrap(doc, servers(client, doc.value), client.shape, ports=book)
