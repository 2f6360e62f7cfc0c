"""The tap in the entries of a file: put in, taken out, and checked before a byte is written.

What a file is to say afterwards is worked out beside the edits, and the edited bytes are read again
and compared; and what is put in is taken out again, in memory, to see that it can be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, Protocol

from msgspec import Struct, structs

from mcp_tap.core.splice import Edit, spliced
from mcp_tap.wrapping.entry import Entry, Kind, Shape, Unwrappable
from mcp_tap.wrapping.notation import Notation, Path, Unreadable

State = Literal["wrapped", "already wrapped", "unwrapped", "not wrapped", "skipped"]
PORTS: Final = range(17770, 18770)
"""Where taps in front of HTTP servers listen."""
_FORGOTTEN: Final = "it leads to a tap, and what its URL was is not known here"
_NEITHER: Final = "it has neither a command nor a URL"


class Ports(Protocol):
    """Which port of this machine stands for which origin."""

    def origin(self, port: int) -> str | None:
        """Give the text that stood where a tap's address stands now; None: nothing is known."""

    def port(self, name: str, upstream: str, written: str) -> int:
        """Give the port for the tap of this server, where `written` is what is to be replaced."""


class Outcome(Struct, frozen=True):
    """What became of an entry."""

    name: str
    path: Path
    kind: Kind
    state: State
    why: str = ""
    upstream: str = ""
    """Of a wrapped HTTP entry: the URL the tap is to be started with."""
    port: int = 0
    """Of a wrapped HTTP entry: where the tap is to listen."""

    @property
    def forgotten(self) -> bool:
        """It leads to a tap, and nobody knows what stood there before."""
        return self.why == _FORGOTTEN


Made = tuple[list[Edit], dict[str, Any], Outcome]
"""Edits, what the entry says with them, and what is told of it; without edits nothing changes."""


def look(doc: Notation, path: Path, shape: Shape, ports: Ports) -> Outcome:
    """Say how an entry is, and why it cannot be wrapped where that is so."""
    entry = Entry(doc, path, shape)
    why = _NEITHER if entry.kind == "none" else ""
    try:
        seen = _seen(entry, ports)
        if seen is not None:
            return structs.replace(seen, state="wrapped")
        if entry.kind == "http":
            entry.origin()
    except Unwrappable as error:
        why = str(error)
    return Outcome(entry.name, path, entry.kind, "not wrapped", why)


def wrap(
    doc: Notation, paths: Iterable[Path], shape: Shape, *, program: str, ports: Ports
) -> tuple[bytes, list[Outcome]]:
    """Put the tap into entries: the bytes that are to be in the file, and what became of each.

    Raises:
        Unreadable: a member on the way is named twice, or what was put in could not be taken out.
    """
    data, outcomes = _edited(doc, paths, shape, lambda entry: _wrapped(entry, program, ports))
    done = [outcome.path for outcome in outcomes if outcome.state == "wrapped"]
    if unwrap(type(doc)(data), done, shape, ports=ports)[0] != doc.data:
        raise Unreadable("what would be put in could not be taken out again to the byte")
    return data, outcomes


def unwrap(
    doc: Notation, paths: Iterable[Path], shape: Shape, *, ports: Ports
) -> tuple[bytes, list[Outcome]]:
    """Take the tap out of entries: the bytes that are to be in the file, and what became of each.

    Raises:
        Unreadable: a member on the way is named twice.
    """
    return _edited(doc, paths, shape, lambda entry: _unwrapped(entry, ports))


def _seen(entry: Entry, ports: Ports) -> Outcome | None:
    """Tell of an entry that is wrapped; None: it is not."""
    name, path = entry.name, entry.path
    if entry.kind == "none":
        return None
    if entry.kind == "stdio":
        return Outcome(name, path, "stdio", "already wrapped") if entry.ours else None
    port = entry.tap_port
    written = ports.origin(port)
    if written is None:
        return None
    return Outcome(name, path, "http", "already wrapped", "", entry.upstream(written), port)


def _wrapped(entry: Entry, program: str, ports: Ports) -> Made:
    seen = _seen(entry, ports)
    if seen is not None:
        return [], {}, seen
    if entry.kind == "none":
        raise Unwrappable(_NEITHER)
    if entry.kind == "stdio":
        return *entry.put_in(program), Outcome(entry.name, entry.path, "stdio", "wrapped")
    _, written = entry.origin()
    upstream = entry.upstream(written)
    port = ports.port(entry.name, upstream, written)
    outcome = Outcome(entry.name, entry.path, "http", "wrapped", "", upstream, port)
    return *entry.with_origin(f"http://127.0.0.1:{port}"), outcome


def _unwrapped(entry: Entry, ports: Ports) -> Made:
    seen = _seen(entry, ports)
    if seen is None and entry.kind == "http" and entry.tap_port in PORTS:
        raise Unwrappable(_FORGOTTEN)
    if seen is None:
        return [], {}, Outcome(entry.name, entry.path, entry.kind, "not wrapped")
    outcome = Outcome(entry.name, entry.path, entry.kind, "unwrapped")
    if entry.kind == "stdio":
        return *entry.take_out(), outcome
    return *entry.with_origin(ports.origin(entry.tap_port) or ""), outcome


def _edited(
    doc: Notation, paths: Iterable[Path], shape: Shape, make: Callable[[Entry], Made]
) -> tuple[bytes, list[Outcome]]:
    edits: list[Edit] = []
    outcomes: list[Outcome] = []
    expected = doc.value
    for path in paths:
        entry = Entry(doc, path, shape)
        try:
            made, said, outcome = make(entry)
        except Unwrappable as error:
            outcomes.append(Outcome(entry.name, path, entry.kind, "skipped", str(error)))
            continue
        if made:
            edits += made
            expected = _with(expected, entry.where, said)
        outcomes.append(outcome)
    data = spliced(doc.data, edits)
    try:
        right = type(doc)(data).value == expected
    except RecursionError:
        raise Unreadable("it is nested too deep") from None
    if not right:
        raise Unreadable("after the edit it would say something else than it should")
    return data, outcomes


def _with(value: Any, path: Path, said: Any) -> Any:
    """Give the value with something else at `path`; what is on the way is copied."""
    if not path:
        return said
    return value | {path[0]: _with(value[path[0]], path[1:], said)}
