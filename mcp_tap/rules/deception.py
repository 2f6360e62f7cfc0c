"""What keeps people from deciding for themselves: answers too fast for them, texts that mislead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from mcp_tap.core.facts.ask import Answer, Ask
from mcp_tap.core.facts.message import NONE
from mcp_tap.core.forms import form_of, is_form
from mcp_tap.core.text import brief, took
from mcp_tap.rules.base import RECENT, Hit, Hits, rule
from mcp_tap.rules.elicit_options import titles_in
from mcp_tap.rules.entries import entry_of, spend

INSTANT: Final = 0.3
"""Seconds in which nobody reads a question."""
MOST_TEXT: Final = 100_000
"""Characters looked at of the asks in one message."""

_DECEPTIVE: Final = re.compile(
    "[\u202a-\u202e\u2066-\u2069]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)"
    "|(?<=[A-Za-z\u00c0-\u024f])[\u200b\u200c\u200d\u2060\ufeff]+(?=[A-Za-z\u00c0-\u024f])"
)
_SAID: Final = ("title", "description")
_PLAIN: Final = re.compile("[ -~\t\n]*")


@rule(
    "SEC-020",
    severity="note",
    level="heuristic",
    blames="client",
    spec="specification/2026-07-28/client/elicitation#user-interaction-model",
    on=("answer url", "answer form"),
    versions=RECENT,
)
def instant_accept(answer: Answer) -> Hits:
    """An elicitation is accepted faster than any person could read it.

    Less than 0.3 s lie between the question and its answer, so nobody was asked: a link was
    accepted, or a form in which a required field had to be filled in freely.  A client may decline
    by policy as fast as it likes, and forms that can be accepted as they are may be; what a script
    of the tap answers is nobody's claim to have asked.
    """
    if answer.action != "accept" or answer.message.sender == "tap":
        return None
    elapsed = answer.elapsed
    if not 0 <= elapsed < INSTANT:
        return None
    if answer.ask.kind == "form" and not _needs_a_person(answer.ask):
        return None
    what = "a link" if answer.ask.kind == "url" else "a form with a required field"
    words = f"client accepted {what} {took(elapsed)} after it was asked: nobody read that"
    return Hit(words, answer.at("action"))


@rule(
    "SEC-021",
    severity="warning",
    level="heuristic",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#safe-url-handling",
    on=("ask form", "ask url"),
    versions=RECENT,
)
def deceptive_characters(ask: Ask) -> Hits:
    """Texts or url of an elicitation contain control or bidirectional override characters.

    They make a text look like another, or play with a terminal that shows it: overrides and
    isolates of direction, control characters other than tab and line break, and characters without
    width between Latin letters.  Emoji, Persian and Indic text need joiners, soft hyphens are
    harmless, and letters that run from right to left are letters.
    """
    found = []
    for path, text in _texts(ask):
        if _PLAIN.fullmatch(text) is not None:
            continue
        size = spend(ask.message, "deceptive", len(text), MOST_TEXT)
        character = _DECEPTIVE.search(text[:size])
        if character is not None:
            code = f"U+{ord(character[0][0]):04X}"
            spot = path[-1] if type(path[-1]) is str else path[-2]
            words = f"server sends the deceptive character {code} in {brief(str(spot), 40)}"
            found.append(Hit(f"{words} of an elicitation", ask.at(*path)))
    return found


def _needs_a_person(ask: Ask) -> bool:
    form = form_of(ask)
    return any(
        name in form.required and "default" not in field.schema and entry_of(field) is not None
        for name, field in form.fields.items()
    )


def _texts(ask: Ask) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Give what people are shown, with the steps to it in the ask's params."""
    yield from _of(ask.params, (), ("message", "url"))
    if not is_form(ask):
        return
    yield from _of(ask.schema or NONE, ("requestedSchema",), _SAID)
    for name, field in form_of(ask).fields.items():
        steps = ("requestedSchema", "properties", name)
        yield from _of(field.schema, steps, _SAID)
        if "enumNames" in field.schema or field.styles:
            for title, place in titles_in(field):
                yield (*steps, *place), title


def _of(
    place: dict[str, Any], steps: tuple[Any, ...], keys: tuple[str, ...]
) -> Iterator[tuple[tuple[Any, ...], str]]:
    for key in keys:
        text = place.get(key)
        if type(text) is str:
            yield (*steps, key), text
