"""What `wrap` and `unwrap` share: their options, the files that are meant, and what is told."""

from __future__ import annotations

import difflib
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec
from msgspec import Struct

from mcp_tap.capture import store
from mcp_tap.cli.called import PROGRAM, as_called
from mcp_tap.cli.common import FILE, option, output, several
from mcp_tap.cli.door import report
from mcp_tap.cli.output import printable
from mcp_tap.config_places import project_folders
from mcp_tap.core.text import pad, safe, width
from mcp_tap.errors import TapError, UsageError
from mcp_tap.wrapping import files, notation
from mcp_tap.wrapping.clients import (
    CLIENTS,
    OTHER,
    Client,
    places,
    read_notation,
    servers,
)
from mcp_tap.wrapping.entries import Outcome
from mcp_tap.wrapping.files import ConfigFile
from mcp_tap.wrapping.notation import Notation, Unreadable
from mcp_tap.wrapping.ports import PortBook

_NAMES = [client.name for client in CLIENTS]


wrapping_options = several(
    option(
        "--client",
        type=click.Choice(_NAMES),
        metavar="NAME",
        help=f"Files of this client only: {', '.join(_NAMES[:-1])} or {_NAMES[-1]}.",
    ),
    option(
        "--config-file",
        type=FILE,
        metavar="FILE",
        help="This file only, whatever client it belongs to.",
    ),
    option("-n", "--dry-run", is_flag=True, help="Print the changes; write nothing."),
)


class Found(Struct, frozen=True):
    """A client's file that is there, and the servers in it that are meant."""

    client: Client
    file: ConfigFile
    doc: Notation
    paths: list[notation.Path]


class Done(Struct, frozen=True):
    """What became of a file."""

    found: Found
    outcomes: list[Outcome]
    data: bytes = b""
    """What it is to hold."""
    backup: Path | None = None


class Job:
    """One run of `wrap` or `unwrap`."""

    def __init__(self, server: str | None, client: str | None, config_file: str | None) -> None:
        """Keep what was asked for."""
        self.server, self.out, self.ports = server, output(), PortBook(store.home())
        self._client = next((one for one in CLIENTS if one.name == client), None)
        self._file = None if config_file is None else Path(config_file)
        self._failed: list[TapError] = []
        self._seen: dict[str, None] = {}

    def find(self, *, every_project: bool) -> list[Found]:
        """Read the files that are meant; one that cannot be used is told of, and left alone.

        Args:
            every_project: servers of all projects are meant, not only those of this folder.

        Raises:
            TapError: the one file that was named cannot be used, or no server has the name.
        """
        projects = None if every_project or self._file else project_folders(Path.cwd())
        found: list[Found] = []
        for client, path in self._candidates():
            try:
                found.append(self._read(client, path, projects))
            except TapError as error:
                self.fail(error)
        if self.server is not None and not any(one.paths for one in found) and not self._failed:
            near = difflib.get_close_matches(self.server, self._seen, 1)
            raise UsageError(
                "unknown-server",
                f"no client's configuration has a server {self.server}",
                help=f"did you mean {near[0]}?" if near else f"{PROGRAM} wrap lists them",
            )
        return found

    def fail(self, error: TapError) -> None:
        """Tell of a file that was left alone; where it was the only one, that ends the command.

        Raises:
            TapError: it is that one.
        """
        if self._file is not None:
            raise error
        report(error, self.out)
        self._failed.append(error)

    def write(self, done: Done, *, backup: bool, dry_run: bool) -> Done:
        """Put a file's new bytes in its place, or print what would change."""
        file = done.found.file
        if done.data == file.data:
            return done
        files.check_writable(file)
        if dry_run:
            if not self.out.json:
                self.out.write_source(difference(file, done.data))
            return done
        copy = files.keep_copy(file) if backup else None
        self.ports.save()  # before the file leads to what nobody could find back from
        files.replace(file, done.data)
        return Done(done.found, done.outcomes, done.data, copy)

    def end(self, results: Sequence[Done], *, dry_run: bool) -> int:
        """Tell what became of each server, and give the exit code."""
        if self.out.json:
            self.out.document(msgspec.json.encode(document(results, dry_run=dry_run)))
        else:
            for line in lines(results):
                (self.out.say if dry_run else self.out.write)(line)
        for done in results:
            if done.backup is not None:
                self.out.say(f"backup: {shown(done.backup)}")
            for outcome in done.outcomes:
                if outcome.state == "skipped" and self.server is not None:
                    self.fail(_skipped(done.found.file.path, outcome))
        return 2 if self._failed else 0

    def _candidates(self) -> Iterator[tuple[Client, Path]]:
        if self._file is not None:
            yield self._client or _client_of(self._file), self._file
            return
        projects, seen = project_folders(Path.cwd()), set()
        for client in CLIENTS if self._client is None else [self._client]:
            for path in places(client, home=Path.home(), env=os.environ, projects=projects):
                real = os.path.realpath(path)
                if os.path.lexists(path) and real not in seen:  # the home may be a project's folder
                    seen.add(real)
                    yield client, path

    def _read(self, client: Client, path: Path, projects: Sequence[Path] | None) -> Found:
        file = files.read(path)
        try:
            doc = read_notation(path, file.data)
        except Unreadable as error:
            raise left_alone(path, error) from None
        paths = servers(client, doc.value, projects)
        self._seen |= {one[-1]: None for one in paths}
        if self.server is not None:
            paths = [one for one in paths if one[-1] == self.server]
        return Found(client, file, doc, paths)


def left_alone(path: Path, error: Unreadable) -> TapError:
    """Say that a file was left as it is, and why."""
    return files.FileError(
        "config-syntax", f"{shown(path)} cannot be read, and was left as it is", why=str(error)
    )


def _skipped(path: Path, outcome: Outcome) -> TapError:
    return files.FileError(
        "not-wrappable",
        f"{outcome.name} in {shown(path)} was left as it is",
        why=outcome.why,
        help=f"what it was may stand in {shown(path)}{files.BACKUP}" if outcome.forgotten else "",
    )


def _client_of(path: Path) -> Client:
    """Tell by the name of a file whose it is."""
    name = path.absolute().as_posix()
    for client in CLIENTS:
        for place in (*client.user, *filter(None, [client.project])):
            if name.endswith("/" + re.sub(r"^(~|\{\w+\})/", "", place)):
                return client
    return OTHER


def executable() -> str:
    """Give the absolute path of this program, as it is to be written into files.

    Clients with windows have no PATH of a shell, so it is not looked up there.  Links are not
    followed: what an installer links to changes with each version, the link does not.

    Raises:
        UsageError: it was not started by a file of its own.
    """
    called = sys.argv[0] if sys.argv else ""
    own = shutil.which(called) if Path(called).stem == PROGRAM else None
    beside = shutil.which(PROGRAM, path=str(Path(sys.executable).parent))
    found = own or beside or shutil.which(PROGRAM)
    if found is None:
        raise UsageError(
            "no-executable",
            f"there is no {PROGRAM} that a client could start",
            help="pipx install mcp-tap-proxy",
        )
    return os.path.abspath(found)  # noqa: PTH100 - links are not followed


def shown(path: Path) -> str:
    """Write a path as people do: from the home where it is there."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def lines(results: Sequence[Done]) -> Iterator[str]:
    """Lay out what became of each server; a server that needs a tap started has a second line."""
    rows = [
        (
            outcome,
            (outcome.state, safe(outcome.name), outcome.kind.replace("none", "-")),
            safe(shown(done.found.file.path)),
        )
        for done in results
        for outcome in done.outcomes
    ]
    widths = [max((width(cells[column]) for _, cells, _ in rows), default=0) for column in range(3)]
    for outcome, cells, file in rows:
        padded = [pad(cell, size) for cell, size in zip(cells, widths, strict=True)]
        project = outcome.path[1] if outcome.path[0] == "projects" else ""
        notes = [f"project {safe(project)}"] * bool(project) + [safe(outcome.why)]
        note = "; ".join(filter(None, notes))
        yield "  ".join([*padded, file]).rstrip() + (f"  ({note})" if note else "")
        if outcome.upstream:
            yield f"  start its tap: {start_command(outcome)}"


def start_command(outcome: Outcome) -> str:
    """Give the command that starts the tap in front of an HTTP server."""
    words = [PROGRAM, "http", outcome.upstream, "-l", str(outcome.port), "--label", outcome.name]
    return as_called(shlex.join(words))


def difference(file: ConfigFile, data: bytes) -> str:
    """Give the changes as a unified diff."""
    before, after = (part.decode().splitlines(keepends=True) for part in (file.data, data))
    path = printable(file.path)
    out: list[str] = []
    for line in difflib.unified_diff(before, after, path, path):
        whole = line.endswith("\n")
        out += [line.rstrip("\r\n")] if whole else [line, "\\ No newline at end of file"]
    return "\n".join(out)


def document(results: Sequence[Done], *, dry_run: bool) -> dict[str, Any]:
    """Say in JSON what became of each server."""
    return {
        "version": 1,
        "dry_run": dry_run,
        "files": [
            {
                "path": printable(done.found.file.path),
                "client": done.found.client.name,
                "backup": None if done.backup is None else printable(done.backup),
                "servers": [
                    {
                        "server": outcome.name,
                        "project": outcome.path[1] if outcome.path[0] == "projects" else None,
                        "kind": outcome.kind,
                        "state": outcome.state,
                        "why": outcome.why or None,
                        "start": start_command(outcome) if outcome.upstream else None,
                    }
                    for outcome in done.outcomes
                ],
            }
            for done in results
        ],
    }
