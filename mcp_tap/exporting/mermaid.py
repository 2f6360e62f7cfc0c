"""Calls as Mermaid sequence diagrams (https://mermaid.js.org/syntax/sequenceDiagram.html).

Everything that is no plain letter of a label is written as an entity code: a text of the wire can
end no line, begin no statement and be no markup.  No `requestState` is shown, only six digits of
its fingerprint.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from mcp_tap.core.model import Ask, Call, Round
from mcp_tap.core.text import cut, safe, short_print, took
from mcp_tap.views.lane import LONG_WAIT
from mcp_tap.views.words import (
    answer_words,
    ask_label,
    ask_words,
    awaited,
    fault_words,
    request_id,
    result_type,
    result_words,
    title,
)

_CELLS: Final = 120
"""Cells of a label at most."""
_SPECIAL: Final = re.compile(r"[^\w .,/()?!'+=-]|\bend\b", re.IGNORECASE)


def mermaid_document(calls: Iterable[Call], *, several: bool) -> Iterator[bytes]:
    """Write a diagram for each call.

    Args:
        calls: that are drawn.
        several: write Markdown, with a heading and a block of its own for each diagram; else there
            is one call, and the diagram stands by itself.
    """
    for number, call in enumerate(calls):
        lines = list(_diagram(call))
        if several:
            heading = f"## Call {call.number}: {_coded(title(call), '&#')}"
            lines = ([""] if number else []) + [heading, "", "```mermaid", *lines, "```"]
        yield ("\n".join(lines) + "\n").encode()


def _diagram(call: Call) -> Iterator[str]:
    asks = [ask for round_ in call.rounds for ask in round_.asks]
    tap = any(r.by_tap for r in call.rounds) or any(ask.answered_by == "tap" for ask in asks)
    yield "sequenceDiagram"
    yield f"  participant C as {label(call.client or 'client')}"
    if tap:
        yield "  participant T as mcp-tap"
    yield f"  participant S as {label(call.server or 'server')}"
    before: Round | None = None
    for index, round_ in enumerate(call.rounds):
        following = call.rounds[index + 1] if index + 1 < len(call.rounds) else None
        if before is not None and before.end is not None:
            waited = round_.t - before.end
            if waited >= LONG_WAIT:
                yield f"  Note over C: {label(took(waited))}"
        who = "T" if round_.by_tap else "C"
        yield f"  {who}->>S: {label(_request(call, round_, before))}"
        yield from _outcome(call, round_, following)
        before = round_
    if words := awaited(call):
        yield f"  Note over C,S: {label(words)}"
    elif call.why:
        yield f"  Note over C,S: {label(safe(call.why))}"
    for finding in call.findings:
        if finding.severity == "note":
            continue
        side = {"client": "C", "server": "S"}.get(finding.blame, "C,S")
        yield f"  Note over {side}: {label(safe(f'{finding.rule} {finding.message}'))}"


def _request(call: Call, round_: Round, before: Round | None) -> str:
    words = title(call) if before is None else "retry"
    words += f", id {request_id(round_.request_id)}"
    if round_.sent_state is not None:
        words += f", state {short_print(round_.sent_state, '..')}"
    if before is not None and before.echo not in ("none", "same"):
        words += f" {before.echo}"
    return words


def _outcome(call: Call, round_: Round, following: Round | None) -> Iterator[str]:
    to = "T" if following is not None and following.by_tap else "C"
    if round_.progress:
        yield f"  S-->>{to}: {round_.progress} progress"
    if round_.asks:
        keys = ", ".join(ask_label(ask) for ask in round_.asks)
        state = f", state {short_print(round_.state, '..')}" if round_.state is not None else ""
        yield f"  S-->>{to}: {label(f'asks {keys}{state}')}"
        for ask in round_.asks:
            yield from _asked(ask)
    elif round_.fault is not None:
        yield f"  S--x{to}: {label(fault_words(round_.fault, round_.status))}"
    elif round_.end is not None:
        kind = result_type(round_, call.era) or "result"
        said = result_words(round_, _CELLS - len(kind) - 2)
        yield f"  S-->>{to}: {label(f'{kind}: {said}' if said else kind)}"


def _asked(ask: Ask) -> Iterator[str]:
    who = "T" if ask.answered_by == "tap" else "C"
    if words := ask_words(ask):
        yield f"  Note over {who}: {label(words)}"
    if ask.action is not None:
        yield f"  Note over {who}: {label(answer_words(ask))}"


def label(text: str) -> str:
    """Write a safe text as a label, cut where it is too long to read in a drawing."""
    return _coded(cut(text, _CELLS), "#") or "#32;"


def _coded(text: str, mark: str) -> str:
    """Write what could be more than a letter by its number."""
    return _SPECIAL.sub(lambda found: f"{mark}{ord(found[0][0])};{found[0][1:]}", text)
