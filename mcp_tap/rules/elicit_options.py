"""The options of a form's choices: plain, titled, and the older ways to write them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mcp_tap.core.facts.ask import Ask
from mcp_tap.core.forms import KINDS, Field, form_of, is_composition, json_type
from mcp_tap.core.text import brief
from mcp_tap.rules.base import ALL, RECENT, Hit, rule

MOST_TITLES: Final = 1000
"""Options of one list whose titles are looked at."""


@rule(
    "ELIC-026",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/schema#untitledsingleselectenumschema",
    on="ask form",
    versions=ALL,
)
def enum_values_invalid(ask: Ask) -> Iterator[Hit]:
    """An enum is not a non-empty list of distinct strings on a string field.

    Options are texts, also those that look like numbers; clients show them, and send one back as it
    is.  An option that is there twice is a warning.  Looked at are the enum of a field and that of
    an array's items.
    """
    for name, field in form_of(ask).fields.items():
        for place, steps in _places(field):
            if "enum" not in place:
                continue
            words = f"server's form has an enum in field {brief(name, 40)}"
            path = ask.at_field(name, *steps, "enum")
            why = _enum_fault(field, place)
            if why is not None:
                yield Hit(f"{words} {why}", path, spot=name)
            elif len(set(place["enum"])) < len(place["enum"]):
                yield Hit(f"{words} with an option twice", path, spot=name, severity="warning")


def _enum_fault(field: Field, place: dict[str, Any]) -> str | None:
    listed = place["enum"]
    if type(listed) is not list:
        return f"that is {json_type(listed)}, not a list"
    if not listed:
        return "that is empty"
    for value in listed:
        if type(value) is not str:
            return f"with {json_type(value)}: options are strings"
    kind = place.get("type")
    if place is field.schema:
        # A missing or unknown type is told of by its own rule.
        wrong = kind != "string" and type(kind) is str and kind in KINDS
    else:
        wrong = kind != "string"
    if not wrong:
        return None
    what = "of no type" if kind is None else f"of type {brief(kind, 40)}"
    return f"{what}: only strings can be chosen from"


@rule(
    "ELIC-027",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/schema#titledsingleselectenumschema",
    on="ask form",
    versions=RECENT,
)
def titled_option_malformed(ask: Ask) -> Iterator[Hit]:
    """An option of a titled choice lacks a string const or a string title.

    The title is what is shown, the const what is sent.  Two options with one const cannot be told
    apart, and a list without options offers nothing.  What else an option says is tolerated.
    Schemas that are put together under the same keyword are ELIC-021.
    """
    for name, field in form_of(ask).fields.items():
        string = field.kind == "string"
        listed = field.schema.get("oneOf") if string else field.items.get("anyOf")
        if listed is None or is_composition(listed):
            continue
        found = _option_fault(listed)
        if found is not None:
            at, why = found
            steps = ("oneOf",) if string else ("items", "anyOf")
            where = steps if at is None else (*steps, at)
            words = f"server's form has a titled choice in field {brief(name, 40)} {why}"
            yield Hit(words, ask.at_field(name, *where), spot=name)


def _option_fault(listed: list[Any]) -> tuple[int | None, str] | None:
    if not listed:
        return None, "without any option"
    seen: set[str] = set()
    for at, entry in enumerate(listed):
        if type(entry) is not dict:
            return at, f"with {json_type(entry)} for an option"
        const = entry.get("const")
        if type(const) is not str:
            what = f"whose const is {json_type(const)}" if "const" in entry else "without a const"
            return at, f"with an option {what}"
        if type(entry.get("title")) is not str:
            return at, f"with an option {brief(const, 40)} without a title"
        if const in seen:
            return at, f"with two options {brief(const, 40)}"
        seen.add(const)
    return None


@rule(
    "ELIC-028",
    severity="warning",
    level="must",
    blames="server",
    spec="specification/2026-07-28/schema#titledsingleselectenumschema",
    on="ask form",
    versions=RECENT,
)
def choice_combinator_wrong(ask: Ask) -> Iterator[Hit]:
    """A titled choice uses anyOf where oneOf is defined, or the reverse, or two styles at once.

    One of several is `oneOf` of a string, several of several `anyOf` of an array's items.  Clients
    look for just that keyword; under the other they would show a field of free text.  Of two lists
    in one place a client shows one, and nobody knows which.
    """
    for name, field in form_of(ask).fields.items():
        if field.kind == "string":
            wrong, right = "anyOf", "oneOf"
            place: dict[str, Any] = field.schema
            steps: tuple[str, ...] = ()
        elif field.kind == "array":
            wrong, right, place, steps = "oneOf", "anyOf", field.items, ("items",)
        else:
            continue
        if wrong in field.styles and place[wrong]:
            words = f"server's form lists options under {wrong} in field {brief(name, 40)}"
            where = f" in its {steps[0]}" if steps else ""
            yield Hit(
                f"{words}; clients look for {right}{where}", ask.at_field(name, *steps, wrong)
            )
        elif "enum" in place and place.get(right) is not None:
            words = f"server's form has both enum and {right} in field {brief(name, 40)}"
            yield Hit(words, ask.at_field(name, *steps, right))


@rule(
    "ELIC-029",
    severity="note",
    level="should",
    blames="server",
    spec="specification/2026-07-28/schema#legacytitledenumschema",
    on="ask form",
    versions=ALL,
)
def enum_names_legacy(ask: Ask) -> Iterator[Hit]:
    """A choice uses the legacy enumNames instead of oneOf with titles.

    It is still there for the sake of old servers, and will go.  Where there are more names than
    options, or fewer, that is a warning: names then stand at the wrong options.  In 2025-06-18
    enumNames is the only way to give titles, so only their number counts.
    """
    for name, field in form_of(ask).fields.items():
        for place, steps in _places(field):
            names, listed = place.get("enumNames"), place.get("enum")
            if names is None or listed is None:
                continue
            path = ask.at_field(name, *steps, "enumNames")
            if type(listed) is list and (type(names) is not list or len(names) != len(listed)):
                many = f"{len(names)} enumNames" if type(names) is list else json_type(names)
                words = f"server's form has {many} for {len(listed)} options in field"
                yield Hit(f"{words} {brief(name, 40)}", path, spot=name, severity="warning")
            elif ask.flow.band != "2025-06-18":
                words = f"server's form uses enumNames in field {brief(name, 40)}: oneOf has titles"
                yield Hit(words, path, spot=name)


def titles_in(field: Field) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Give the titles of a field's options, however they are written, and the steps to them."""
    for place, steps in _places(field):
        for word in ("oneOf", "anyOf"):
            listed = place.get(word)
            for at, entry in enumerate(listed[:MOST_TITLES] if type(listed) is list else ()):
                title = entry.get("title") if type(entry) is dict else None
                if type(title) is str:
                    yield title, (*steps, word, at, "title")
        names = place.get("enumNames")
        for at, title in enumerate(names[:MOST_TITLES] if type(names) is list else ()):
            if type(title) is str:
                yield title, (*steps, "enumNames", at)


def _places(field: Field) -> tuple[tuple[dict[str, Any], tuple[str, ...]], ...]:
    """Give where options may be listed: in the field, and in an array's items."""
    if not field.items:
        return ((field.schema, ()),)
    return (field.schema, ()), (field.items, ("items",))
