"""Drafting a script from what a client answered.

Rules of this file:

- The draft says again what was said: asks that look alike share an entry as long as their answers
  agree.  Where they differ, the entries tell them apart by message, then by the call's arguments;
  where nothing tells them apart, by the order of the calls (`times`).
- What was masked in the capture becomes `{ env = "NAME" }`.
- What nobody answered gets an entry that says so, with defaults and made-up values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct

from mcp_tap.answers import toml
from mcp_tap.answers.draft_answers import Draft, Names, answered, made_up
from mcp_tap.answers.fill import has_mask
from mcp_tap.answers.match import Unusable, condition
from mcp_tap.answers.question import EVERY, Question
from mcp_tap.answers.script import VERSION
from mcp_tap.core.facts.message import is_masked
from mcp_tap.core.text import cut, safe
from mcp_tap.core.values import same_json

Asked: TypeAlias = tuple[Question, dict[str, Any] | None]
Place: TypeAlias = tuple[str | None, str | None, str, str | None]
"""Method, name, kind and key of what is asked; no key where keys say nothing."""

_TELLING: Final = ((), ("message",), ("arguments",), ("message", "arguments"))
"""What may tell asks of one place apart, the least first."""
MOST_MESSAGE: Final = 200
"""Characters of a message that an entry asks for."""
_META: Final = re.compile(r"([\\.+*?()|\[\]{}^$])")


class Part(Struct, kw_only=True):
    """Asks of one place that one entry is to answer: those of each call, in order."""

    telling: dict[str, Any]
    """Conditions beside the place."""
    calls: list[list[tuple[Question, dict[str, Any]]]]
    times: int | None = None

    def agreed(self) -> list[tuple[Question, dict[str, Any]]] | None:
        """Give what a call is answered, round by round; None where calls differ."""
        longest = max(self.calls, key=len)
        for call in self.calls:
            pairs = zip(call, longest, strict=False)
            if not all(same_json(one[1], other[1]) for one, other in pairs):
                return None
        same = all(same_json(longest[0][1], other[1]) for other in longest)
        return longest[:1] if same else longest


def draft(
    calls: Iterable[Sequence[Asked]],
    *,
    source: str,
    capture: str | None,
    only: int | None = None,
) -> str:
    """Write a script.

    Args:
        calls: the questions of each call, with the answers.
        source: what they were taken from, in words.
        capture: path under which entries can fill from it, for answers that no entry can spell.
        only: number of the one call it is about; it is then no file of its own, but to be added to
            one.
    """
    if only is None:
        lines = [f"# Drafted from {_comment(source)}.", f"version = {VERSION}"]
        lines.append('unmatched = "fail"')
    else:
        lines = [f"# Drafted from {_comment(source)}, call {only}."]
    names = Names("" if only is None else f", call {only}")
    groups: dict[Place, list[list[Asked]]] = {}
    for call in calls:
        within: dict[Place, list[Asked]] = {}
        for question, answer in call:
            if question.ask not in EVERY:
                continue
            within.setdefault(_place(question), []).append((question, answer))
        for place, asked in within.items():
            groups.setdefault(place, []).append(asked)
    for asked_calls in _last_for_no_call(groups):
        for members, notes in _entries(asked_calls, names, capture):
            lines.append("")
            lines += [f"# {_comment(note)}" for note in notes]
            lines += toml.entry("answer", members)
    return "\n".join(lines) + "\n"


def _last_for_no_call(groups: dict[Place, list[list[Asked]]]) -> list[list[list[Asked]]]:
    """Give what is asked for no call last: nothing keeps its entries from taking other asks."""
    return [groups[place] for place in sorted(groups, key=lambda place: place[0] is None)]


def _place(question: Question) -> Place:
    key = None if question.pushed else question.key
    return question.method, question.name, question.ask, key


def _comment(text: str) -> str:
    return cut(safe(text).replace("\n", " "), 200)


def _entries(
    calls: list[list[Asked]], names: Names, capture: str | None
) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Give the entries for what is asked in one place."""
    said = [[(q, a) for q, a in call if a is not None] for call in calls]
    known = [call for call in said if call]
    if not known:
        question = calls[0][0][0]
        drafted = made_up(question)
        if drafted is not None:
            yield _entry(question, Part(telling={}, calls=[]), [drafted], names)
        return
    parts = _parts(known)
    for part in sorted(parts, key=lambda p: -len(p.telling)):
        agreed = part.agreed() or part.calls[0]
        answers = [answered(question, answer, names, capture) for question, answer in agreed]
        yield _entry(agreed[0][0], part, answers, names)


def _parts(calls: list[list[tuple[Question, dict[str, Any]]]]) -> list[Part]:
    """Find the least that tells apart what was answered in different ways."""
    parts: list[Part] = []
    for telling in _TELLING:
        if calls[0][0][0].pushed and "message" not in telling and calls[0][0][0].message:
            continue  # without a key, the message is what there is
        parts = _divided(calls, telling)
        if all(part.agreed() is not None for part in parts):
            return parts
    return [one for part in parts for one in _in_turn(part)]


def _divided(
    calls: list[list[tuple[Question, dict[str, Any]]]], telling: Sequence[str]
) -> list[Part]:
    differing = _differing(calls) if "arguments" in telling else []
    parts: list[Part] = []
    for call in calls:
        here: list[tuple[Part, list[tuple[Question, dict[str, Any]]]]] = []
        for question, answer in call:
            conditions = _conditions(question, telling, differing)
            part = next((p for p in parts if same_json(p.telling, conditions)), None)
            if part is None:
                part = Part(telling=conditions, calls=[])
                parts.append(part)
            own = next((own for found, own in here if found is part), None)
            if own is None:
                own = []
                here.append((part, own))
                part.calls.append(own)
            own.append((question, answer))
    return parts


def _conditions(
    question: Question, telling: Sequence[str], differing: Sequence[str]
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    message = question.message
    if "message" in telling and message and not is_masked(message):
        whole = len(message) <= MOST_MESSAGE
        found["message"] = f"^{_META.sub(_quoted, message[:MOST_MESSAGE])}{'$' * whole}"
    if "arguments" in telling and isinstance(question.arguments, dict):
        given = {n: v for n, v in question.arguments.items() if n in differing}
        named = {n: v for n, v in given.items() if _is_usable("arguments", {n: v})}
        if named:
            found["arguments"] = named
    return found


def _quoted(found: re.Match[str]) -> str:
    return "\\" + found[1]


def _differing(calls: list[list[tuple[Question, dict[str, Any]]]]) -> list[str]:
    """Name the arguments that are not the same in all calls."""
    given = [call[0][0].arguments for call in calls]
    tables = [found if isinstance(found, dict) else {} for found in given]
    names = dict.fromkeys(name for found in tables for name in found)
    return [
        name
        for name in names
        if any(
            name not in found
            or name not in tables[0]
            or not same_json(found[name], tables[0][name])
            for found in tables
        )
    ]


def _is_usable(key: str, value: Any) -> bool:
    """Tell whether a script can have a condition: it can be written, and read again."""
    if value is None or has_mask(value):
        return False
    try:
        toml.table({key: value})
        condition(key, value)
    except (toml.Unwritable, Unusable):
        return False
    return True


def _in_turn(part: Part) -> list[Part]:
    """Divide by the order of calls, where nothing else tells them apart."""
    if part.agreed() is not None:
        return [part]
    found: list[Part] = []
    for call in part.calls:
        if found:
            joined = Part(telling=part.telling, calls=[*found[-1].calls, call])
            if joined.agreed() is not None:
                found[-1] = joined
                continue
        found.append(Part(telling=part.telling, calls=[call]))
    for one in found[:-1]:
        one.times = len(one.calls)
    return found


def _entry(
    question: Question, part: Part, answers: list[Draft], names: Names
) -> tuple[dict[str, Any], list[str]]:
    match: dict[str, Any] = {}
    if question.method == "tools/call":
        match["tool"] = question.name
    elif question.method is not None:
        match["method"] = question.method
        match["name"] = question.name
    if question.pushed:
        match["ask"] = question.ask
    else:
        match["key"] = question.key
    match.update(part.telling)
    bare = any(draft.members.keys() <= {"action"} for draft in answers)
    if bare and question.mode is not None and "ask" not in match:
        match["mode"] = question.mode
    members: dict[str, Any] = {"name": names.entry(_named(question))}
    members["match"] = {key: value for key, value in match.items() if _is_usable(key, value)}
    if len(answers) == 1:
        members |= answers[0].members
    else:
        members["each_round"] = [draft.members for draft in answers]
    if part.times is not None:
        members["times"] = part.times
    if any(draft.misfit for draft in answers):
        members["check"] = False
    notes = list(dict.fromkeys(note for draft in answers for note in draft.notes))
    if part.times is not None:
        notes.append("calls like this one were answered in different ways; this is for the first")
    return members, notes


def _named(question: Question) -> str:
    """Name an entry: what asks, and for what."""
    what = question.key
    if question.pushed:
        what = question.message or question.ask
    target = question.name or question.method or ""
    return " ".join(part for part in (cut(safe(target), 60), cut(safe(what), 60)) if part)
