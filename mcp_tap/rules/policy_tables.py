"""Read what `[check]` holds beside options: `[check.severity]`, `[[check.suppress]]`; baselines.

Whoever wrote them is told of the first thing that cannot be meant, with file and entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from difflib import get_close_matches
from typing import Any, Final, get_args

import msgspec

from mcp_tap.core.filters import parse
from mcp_tap.core.finding import Severity
from mcp_tap.errors import ConfigError, UsageError
from mcp_tap.rules.policy import Known, Suppression
from mcp_tap.rules.selectors import Selector, selector

_SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)
_KEYS: Final = ("rule", "where", "reason", "until")


def read_severity(table: Any, where: str) -> dict[str, tuple[Selector, Severity]]:
    """Read `[check.severity]`: rules (or families) and how bad they are.

    Args:
        table: what stands there.
        where: file and table, for errors.

    Raises:
        ConfigError: it cannot be meant.
    """
    if not isinstance(table, Mapping):
        raise ConfigError(
            "setting-type",
            '"severity" takes a table of rules',
            where=where,
            help=f'[check.severity] with lines such as ELIC-050 = "{_SEVERITIES[-1]}"',
        )
    found = {}
    for word, value in table.items():
        if value not in _SEVERITIES:
            raise ConfigError(
                "bad-value",
                f"severity {word}: {_shown(value)} is no severity",
                where=where,
                help=f"one of {', '.join(_SEVERITIES)}",
            )
        found[word] = (_selector(word, "severity", where), value)
    return found


def read_suppressions(entries: Any, where: str) -> list[Suppression]:
    """Read `[[check.suppress]]`: each a rule, a reason, perhaps a filter and a last day.

    Args:
        entries: what stands there.
        where: file and table, for errors.

    Raises:
        ConfigError: one of them cannot be meant.
    """
    if not isinstance(entries, list) or not all(isinstance(e, Mapping) for e in entries):
        raise ConfigError(
            "setting-type",
            '"suppress" takes entries, each in a table of its own',
            where=where,
            help='[[check.suppress]] with rule = "HDR-006" and reason = "..."',
        )
    return [
        _suppression(entry, f"suppression {number}", where)
        for number, entry in enumerate(entries, 1)
    ]


def _suppression(entry: Mapping[str, Any], name: str, where: str) -> Suppression:
    for key in entry:
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, 1)
            raise ConfigError(
                "unknown-setting",
                f'{name} has no setting "{key}"',
                where=where,
                help=f'did you mean "{near[0]}"?' if near else f"it takes {', '.join(_KEYS)}",
            )
    for key in ("rule", "reason"):
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            why = {"rule": "which rule", "reason": "why the finding is not to be mended"}[key]
            raise ConfigError(
                "suppression-incomplete",
                f'{name} has no "{key}"',
                where=where,
                why=f"it must say {why}",
                help=f'{key} = "..."',
            )
    return Suppression(
        rules=_selector(entry["rule"], name, where),
        where=_filter(entry.get("where", ""), name, where),
        reason=entry["reason"].strip(),
        until=_day(entry.get("until"), name, where),
        place=f"{where}, {name}",
    )


def _filter(text: Any, name: str, where: str) -> Any:
    if not isinstance(text, str):
        raise ConfigError("setting-type", f'{name}: "where" takes a filter, as text', where=where)
    try:
        return parse(text) if text.strip() else None
    except UsageError as error:
        raise ConfigError(
            error.code,
            f"{name}: {error.what}",
            where=f"{where}: {error.where}" if error.where else where,
            why=error.why,
            help=error.help,
        ) from error


def _day(value: Any, name: str, where: str) -> date | None:
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise ConfigError(
            "bad-value",
            f"{name}: until = {_shown(value)} is no date",
            where=where,
            help="until = 2026-12-31",
        ) from None


def _selector(word: str, name: str, where: str) -> Selector:
    try:
        return selector(word, where=f"{name}:")
    except UsageError as error:
        raise ConfigError(error.code, error.what, where=where, help=error.help) from error


def _shown(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def read_baseline(data: bytes, name: str) -> list[Known]:
    """Read the lines of a baseline.

    Args:
        data: what the file holds.
        name: what it is called, for errors.

    Raises:
        ConfigError: a line is no entry.
    """
    found = []
    decoder = msgspec.json.Decoder(Known)
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            found.append(decoder.decode(line))
        except (msgspec.DecodeError, ValueError) as error:
            raise ConfigError(
                "baseline-damaged",
                f"{name} cannot be read at line {number}",
                why=str(error)[:200],
                help="mcp-tap check --baseline FILE --write-baseline writes one anew",
            ) from error
    return found


def write_baseline(lines: list[Known]) -> bytes:
    """Render a baseline: one entry a line, always in the same order, for small differences."""
    ordered = sorted(lines, key=lambda k: (k.rule, *(v or "" for v in (k.server, k.method)),
                                           k.name or "", k.spot))  # fmt: skip
    return b"".join(msgspec.json.encode(line) + b"\n" for line in dict.fromkeys(ordered))
