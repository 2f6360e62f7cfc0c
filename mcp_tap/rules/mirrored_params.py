"""Arguments of a call that travel in `Mcp-Param-*` headers as well, compared with these."""

from __future__ import annotations

from typing import Any, Final

from mcp_tap.core.facts.annotations import PREFIX, Mirrored
from mcp_tap.core.facts.message import Message, is_masked
from mcp_tap.core.finding import Severity
from mcp_tap.core.mirrored import agrees, argument, decoded, is_encoded, is_plain
from mcp_tap.core.records import pointer
from mcp_tap.core.text import brief
from mcp_tap.rules.base import Hit
from mcp_tap.rules.mirrored_form import Reading, check

SAFE: Final = 2**53 - 1
"""The largest integer that every peer reads exactly."""
MOST_LEAVES: Final = 1000
"""Values of a call's arguments that are looked at where no definition says which one to take."""


def read_params(found: Reading, m: Message) -> None:
    """Put into `found` what is wrong with the `Mcp-Param-*` headers of a call."""
    fields = m.flow.fields
    tools = m.flow.seen.tools
    tool = tools.of(m)
    mirrored = tool.mirrored if tool is not None else None
    known: set[str] = set()
    if tool is not None and mirrored is not None:
        fresh = tools.is_fresh(tool)
        for entry in mirrored:
            known.add(entry.header)
            _compare(found, m, entry, fields.get(entry.header), fresh=fresh)
    damaged = {
        header: [v for v in values if is_encoded(v) and decoded(v) is None]
        for header, values in fields.items()
        if header.startswith(PREFIX) and header not in known
    }
    if any(damaged.values()):
        _read_unknown(found, m, damaged)


def _read_unknown(found: Reading, m: Message, damaged: dict[str, list[str]]) -> None:
    """Put into `found` damaged headers of which nobody said what they repeat."""
    arguments = _leaves(m.params.get("arguments"))
    spelled = {n.lower(): n for n, _ in m.flow.head.headers} if m.flow.head is not None else {}
    for header, values in damaged.items():
        odd = [v for v in values if not (is_plain(v) and v in arguments)]
        check(found, brief(spelled.get(header, header), 60).strip('"'), odd, None, strict=False)


def _compare(
    found: Reading, m: Message, entry: Mirrored, values: list[str] | None, *, fresh: bool
) -> None:
    value = argument(m.params.get("arguments"), entry.path)
    if is_masked(value) or not can_travel(value):
        return
    if type(value) is float and values is None and not value.is_integer():
        return
    header = f"Mcp-Param-{entry.name}"
    path = "/params/arguments" + pointer(*entry.path)
    rule = "HDR-010"
    why: str | None = None
    if type(value) is int and abs(value) > SAFE:
        why = f"client gave an integer beyond the safe range for the argument {header} repeats"
    elif values is None:
        if value is not None:
            rule = "HDR-009"
            why = f"client sent no {header} header, although the call has the argument it repeats"
    elif value is None:
        why = f"client sent {header}, although the call has no value for the argument it repeats"
    elif type(value) is str:
        wrong = check(found, header, values, value, path=path)
        if wrong is not None:
            # Nobody knows what an argument holds: it is not shown.
            why = f"client sent {header}, which is not the argument's value"
    else:
        why = _not_that(found, header, values, value)
    if why is not None:
        severity: Severity | None = None if fresh else "note"
        found.setdefault(rule, []).append(Hit(why, path, header, severity=severity))


def _not_that(found: Reading, header: str, values: list[str], value: float) -> str | None:
    """Compare a header with a number or a boolean; say what is wrong, or put it into `found`."""
    for text in values:
        if is_masked(text) or agrees(text, value):
            continue
        if is_encoded(text) and decoded(text) is None:
            check(found, header, [text], None, strict=False)
            continue
        right = f"{value}".lower() if type(value) is bool else "number"
        return f"client sent {header}, which is not the argument's {right}"
    return None


def can_travel(value: Any) -> bool:
    """Tell whether an argument may be one of those a header can repeat, or is none at all."""
    return value is None or type(value) in (str, bool, int, float)


def _leaves(arguments: Any) -> set[str]:
    """Give the texts in arguments, as far as they are looked at."""
    found: set[str] = set()
    waiting = [arguments]
    for _ in range(MOST_LEAVES):
        if not waiting:
            break
        value = waiting.pop()
        if type(value) is str:
            found.add(value)
        elif type(value) is dict:
            waiting += list(value.values())[:MOST_LEAVES]
    return found
