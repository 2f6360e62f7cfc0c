"""Answer scripts on disk: read, put together, with the captures they fill from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tap.errors import CaptureError, ScriptError

if TYPE_CHECKING:
    from mcp_tap.answers.book import Book
    from mcp_tap.answers.lint import Remark
    from mcp_tap.answers.recall import Recording
    from mcp_tap.answers.script import How, Script
    from mcp_tap.capture.reader import CaptureReader
    from mcp_tap.core.model import Call, Exchange

MOST = 4 << 20
"""Bytes of a script that are read."""


def open_book(
    paths: Sequence[str],
    *,
    unmatched: How | None = None,
    advertise: Sequence[str] | None = None,
    env: Mapping[str, str] = os.environ,
) -> Book:
    """Read scripts and what they fill from, as one book.

    Args:
        paths: of the scripts; the first match wins.
        unmatched: overrides what the scripts say.
        advertise: capabilities to declare upstream, in words; overrides what the scripts say.
        env: the environment; its values are for `{ env = "X" }`, and `CI` makes `fail` the default.

    Raises:
        ScriptError: a script cannot be read, or not be meant.
        CaptureError: a capture that one fills from cannot be read.
        UsageError: `advertise` names no capability.
    """
    from mcp_tap.answers.book import Book
    from mcp_tap.answers.reading import advertised

    scripts = [load_script(path) for path in paths]
    return Book(
        scripts,
        env=env,
        unmatched=unmatched,
        advertise=None if advertise is None else advertised(advertise),
        recorded=recordings(scripts),
        default="fail" if env.get("CI") else "pass",
    )


def load_script(path: str) -> Script:
    """Read one script; it is called what it was named.

    Raises:
        ScriptError: it cannot be read, or not be meant.
    """
    from mcp_tap.answers.reading import load

    return load(read_script(path), path)


def read_script(path: str) -> str:
    """Give the text of a script.

    Raises:
        ScriptError: it cannot be read.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(MOST + 1)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        raise ScriptError(
            "script-missing" if missing else "script-unreadable",
            f"there is no script {path}" if missing else f"{path} cannot be read",
            why="" if missing else (error.strerror or str(error)),
            help="mcp-tap answers new CAPTURE > answers.toml drafts one" if missing else "",
        ) from error
    if len(data) > MOST:
        raise ScriptError("script-unreadable", f"{path} is too large for an answer script")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise ScriptError(
            "script-unreadable",
            f"{path} is not in UTF-8",
            why=f"byte {error.start + 1} belongs to no character",
        ) from error


def recordings(scripts: Sequence[Script]) -> dict[tuple[str, str], Recording]:
    """Read the captures that scripts fill from; a path is seen from its script's folder.

    Raises:
        CaptureError: one of them cannot be read.
    """
    from mcp_tap.answers.recall import Recording, asked
    from mcp_tap.capture.reader import open_path

    found = {}
    for script in scripts:
        for path in script.captures():
            try:
                reader = open_path(Path(script.name).parent / Path(path).expanduser())
            except CaptureError as error:
                users = [e for e in script.entries if any(s.capture == path for s in e.steps)]
                error.where = error.where or f'{users[0].place} "{users[0].name}"'
                raise
            pairs = [pair for each in asking(reader) for pair in asked(each)]
            found[script.name, path] = Recording((q, a) for q, a in pairs if a is not None)
    return found


def asking(reader: CaptureReader) -> Iterator[Call | Exchange]:
    """Give the calls of a capture, and exchanges that ask for no call, in the order they began."""
    from mcp_tap.cli.gather import gather
    from mcp_tap.core.model import Call
    from mcp_tap.pipeline.spine import Pipeline

    for found in gather(reader, Pipeline(), shelf=None, see=lambda _: None):
        if isinstance(found, Call) or found.asks:
            yield found


def calls_of(reader: CaptureReader) -> Iterator[Call]:
    """Give the calls of a capture, in the order they began."""
    from mcp_tap.core.model import Call

    return (found for found in asking(reader) if isinstance(found, Call))


def look_through(
    paths: Sequence[str], env: Mapping[str, str]
) -> tuple[list[ScriptError], list[Remark], int]:
    """Find what is wrong with scripts, and what is probably not meant in those that can be read.

    Returns:
        Mistakes, remarks, and how many entries there are.
    """
    from mcp_tap.answers.lint import Remark, lint
    from mcp_tap.answers.reading import read

    errors: list[ScriptError] = []
    remarks: list[Remark] = []
    entries = 0
    for path in paths:
        try:
            script, mistakes = read(read_script(path), path)
        except ScriptError as error:
            errors.append(error)
            continue
        errors += mistakes
        if script is None:
            continue
        entries += len(script.entries)
        remarks += lint(script, env)
        try:
            recordings([script])
        except CaptureError as error:
            what = f"{error.what}: {error.why}" if error.why else error.what
            remarks.append(
                Remark(severity="warning", code=error.code, where=error.where, what=what)
            )
    return errors, remarks, entries
