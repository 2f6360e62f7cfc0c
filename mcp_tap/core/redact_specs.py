"""What `--redact` asks for, taken apart: `header:NAME key:GLOB path:JSONPATH value:REGEX`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TypeAlias

from msgspec import Struct

from mcp_tap.core.regex import Pattern, PatternError, compile_pattern
from mcp_tap.errors import UsageError

Step: TypeAlias = str | int | None
"""A glob over names, an index, or any index."""
_STEP = re.compile(
    r"(?P<down>\.\.)?(?:\[(?:(?P<index>\d+)|(?P<all>\*)|'(?P<quoted>[^']+)')\]"
    r"|(?:(?<=\.\.)|\.)(?P<name>[^.\[\]]+))"
)


class Path(Struct, frozen=True):
    """Places in a JSON document.

    Matched step by step and without going back: the places come from peers, who may nest deeply.
    """

    parts: tuple[tuple[Step, ...], ...]
    """Runs of steps; between two of them (`..`) there may be any others."""

    def matches(self, at: tuple[str | int, ...]) -> bool:
        """Tell whether this is the place; the messages of a batch count each as a document."""
        if at and isinstance(at[0], int):
            at = at[1:]
        first, *others = self.parts
        if not others:
            return len(at) == len(first) and _fits(first, at, 0)
        if not _fits(first, at, 0):
            return False
        here = len(first)
        for part in others[:-1]:
            while here + len(part) <= len(at) and not _fits(part, at, here):
                here += 1
            here += len(part)
        end = len(at) - len(others[-1])
        return here <= end and _fits(others[-1], at, end)

    @property
    def tail(self) -> str:
        """Give the last name in it, lower case."""
        names = [step for part in self.parts for step in part if isinstance(step, str)]
        return names[-1].lower() if names else "*"


class Wanted(Struct, frozen=True, kw_only=True):
    """Specifications of a run, sorted by what they speak of."""

    headers: frozenset[str] = frozenset()
    """Names of header fields, lower case."""
    keys: tuple[str, ...] = ()
    """Globs over the names of members and parameters, lower case."""
    paths: tuple[Path, ...] = ()
    """Places in JSON documents."""
    tails: tuple[str, ...] = ()
    """Globs over the last names of the paths, for what is no whole JSON."""
    values: tuple[Pattern, ...] = ()
    """What a value may not hold."""


def parse_specs(specs: Sequence[str]) -> Wanted:
    """Take specifications apart; raise `UsageError` for one that is none."""
    headers: set[str] = set()
    keys: list[str] = []
    paths: list[Path] = []
    values: list[Pattern] = []
    for spec in specs:
        kind, colon, rest = spec.partition(":")
        if not colon or not rest or kind not in ("header", "key", "path", "value"):
            raise UsageError(
                "bad-redaction",
                f"--redact {spec!r} is no redaction",
                help="write header:NAME, key:GLOB, path:JSONPATH or value:REGEX",
            )
        if kind == "header":
            headers.add(rest.lower())
        elif kind == "key":
            keys.append(rest.lower())
        elif kind == "path":
            paths.append(_path(spec, rest))
        else:
            values.append(_value(spec, rest))
    return Wanted(
        headers=frozenset(headers),
        keys=tuple(keys),
        paths=tuple(paths),
        tails=tuple(path.tail for path in paths),
        values=tuple(values),
    )


def _path(spec: str, text: str) -> Path:
    """Take a path apart: `$.a.*.b[0]..c`, `$['a.b'][*]`."""
    parts: list[list[Step]] = [[]]
    at = 1
    while text.startswith("$") and at < len(text):
        found = _STEP.match(text, at)
        if found is None:
            break
        at = found.end()
        if found["down"]:
            parts.append([])
        if found["index"]:
            parts[-1].append(int(found["index"]))
        elif found["all"]:
            parts[-1].append(None)
        else:
            parts[-1].append(found["name"] or found["quoted"])
    if at < max(2, len(text)):
        raise UsageError(
            "bad-redaction",
            f"--redact {spec!r} is no path that can be followed",
            help="for example path:$.params.arguments.password or path:$.params..token",
        )
    return Path(parts=tuple(tuple(part) for part in parts))


def _value(spec: str, pattern: str) -> Pattern:
    try:
        return compile_pattern(pattern)
    except PatternError as error:
        raise UsageError(
            "bad-redaction",
            f"--redact {spec!r} is no regular expression that can be used",
            why=str(error),
            help=error.help,
        ) from None


def _fits(part: tuple[Step, ...], at: tuple[str | int, ...], start: int) -> bool:
    """Tell whether a run of steps stands at one place of a path."""
    if start + len(part) > len(at):
        return False
    for step, there in zip(part, at[start : start + len(part)], strict=True):
        if isinstance(step, str):
            if not (isinstance(there, str) and fnmatchcase(there, step)):
                return False
        elif not isinstance(there, int) or step not in (None, there):
            return False
    return True
