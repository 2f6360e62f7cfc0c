"""Forms as a client has to read them: fields, what may be entered, and whether a value fits.

Read once an ask (`form_of`), for the rules on the question and those on the answer alike.  What a
server wrote wrong is left out of a reading, so that nobody is blamed for breaking a rule that makes
no sense: a bound that is none, a list of options with a number in it.

A stranger wrote these schemas: never more than `MOST_FIELDS` fields are read of one message's forms
together, and nothing is followed deeper than a form goes.
"""

from __future__ import annotations

import re
from typing import Any, Final, Literal, TypeAlias

from mcp_tap.core.facts.ask import Ask
from mcp_tap.core.facts.message import NONE, Message

MOST_FIELDS: Final = 500
"""Fields read of the forms of one message."""
MOST_OPTIONS: Final = 10_000
"""Options of a field that are read."""

Kind: TypeAlias = Literal["string", "number", "integer", "boolean", "array"]
"""Types a field of a form may have; an `array` is a choice of several."""
Style: TypeAlias = Literal["enum", "oneOf", "anyOf"]
"""Keyword that lists options."""
Number: TypeAlias = int | float

KINDS: Final[frozenset[str]] = frozenset({"string", "number", "integer", "boolean", "array"})
FORMATS: Final[frozenset[str]] = frozenset({"email", "uri", "date", "date-time"})
BOUNDS: Final[dict[str, tuple[str, str]]] = {
    "string": ("minLength", "maxLength"),
    "number": ("minimum", "maximum"),
    "integer": ("minimum", "maximum"),
    "array": ("minItems", "maxItems"),
}
"""Kind -> the keywords that bound it."""

_SCHEMA_WORDS: Final = frozenset(
    {
        *("type", "enum", "format", "pattern", "minLength", "maxLength", "minimum", "maximum"),
        *("exclusiveMinimum", "exclusiveMaximum", "multipleOf", "items", "minItems", "maxItems"),
        *("properties", "required", "additionalProperties"),
        *("$ref", "allOf", "anyOf", "oneOf", "not", "if"),
    }
)
"""Words that say what a value must be like."""

_DATE: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_DATE_TIME: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?"
    r"(?:[Zz]|[+-]([0-9]{2}):([0-9]{2}))"
)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Field:
    """One field of a form."""

    __slots__ = ("choices", "high", "items", "kind", "low", "name", "schema", "styles")

    def __init__(self, name: str, schema: dict[str, Any]) -> None:
        """Read one."""
        self.name = name
        self.schema = schema
        """As the server wrote it."""
        kind = schema.get("type")
        self.kind: str | None = kind if type(kind) is str else None
        """Its `type` where that is one word, known (`KINDS`) or not."""
        items = schema.get("items") if kind == "array" else None
        self.items: dict[str, Any] = items if type(items) is dict else NONE
        """`items` of an array; empty where it has none."""
        self.low, self.high = bounds(schema, self.kind)
        self.styles = styles(self.items if kind == "array" else schema)
        """Keywords that list its options, also those clients do not look for."""
        self.choices: frozenset[str] | None = None
        """The values it offers; None where it is no choice, or its options are no sound list."""
        if self.styles:
            found = choices(schema)
            self.choices = frozenset(found) if found is not None else None

    @property
    def format(self) -> str | None:
        """Its `format`, where it is a string field and that is one of the four."""
        found = self.schema.get("format")
        return found if self.kind == "string" and type(found) is str and found in FORMATS else None

    @property
    def free(self) -> bool:
        """Anything can be typed into it: it is a string or a number, and offers no options."""
        return self.kind in ("string", "number", "integer") and not self.styles

    def has_type(self, value: Any) -> bool:
        """Tell whether a value has the field's JSON type; true where the field's is unknown."""
        return has_type(self.kind, value)


class Form:
    """A reading of one form."""

    __slots__ = ("closed", "defined", "fields", "needs", "required", "whole")

    def __init__(self, schema: dict[str, Any] | None, most: int = MOST_FIELDS) -> None:
        """Read one, `most` fields at most.

        Args:
            schema: `requestedSchema`, where it is an object.
            most: fields to read.
        """
        schema = schema or NONE
        self.closed = schema.get("additionalProperties") is False
        """The schema says that there are no other fields."""
        defined = schema.get("properties")
        self.defined: dict[str, Any] | None = defined if type(defined) is dict else None
        """Its `properties`: name -> schema, whatever that is; None where it has none."""
        required = schema.get("required")
        required = required[: MOST_FIELDS + 1] if type(required) is list else ()
        self.needs: tuple[str, ...] = tuple(dict.fromkeys(n for n in required if type(n) is str))
        """Names it requires, in its order."""
        self.required: frozenset[str] = frozenset(self.needs)
        self.fields: dict[str, Field] = {}
        """Fields that are objects, by name."""
        self.whole = True
        """All fields were read; where not, a name that is missing here may still be a field."""
        for name, found in (self.defined or NONE).items():
            if most <= 0:
                self.whole = False
                return
            most -= 1
            if type(found) is dict:
                self.fields[name] = Field(name, found)


def is_form(ask: Ask) -> bool:
    """Tell whether an elicitation asks for a form: its mode says so, or it has none.

    In sessions of 2025-06-18, which have no modes, everything is a form that is not marked `url`.
    """
    if ask.flow.band == "2025-06-18":
        return ask.kind == "form"
    mode = ask.params.get("mode", "form")
    return type(mode) is str and mode == "form" and ask.kind == "form"


def form_of(ask: Ask) -> Form:
    """Give the reading of an ask's form; it is made once."""
    form: Form | None = ask.form
    if form is None:
        form = ask.form = Form(ask.schema, _left(ask.message))
        _spend(ask.message, len(form.fields))
    return form


def _left(message: Message) -> int:
    seq, spent = message.flow.memo.get("forms", (message.seq, 0))
    return MOST_FIELDS - spent if seq == message.seq else MOST_FIELDS


def _spend(message: Message, fields: int) -> None:
    message.flow.memo["forms"] = (message.seq, MOST_FIELDS - _left(message) + fields)


def choices(schema: dict[str, Any]) -> tuple[str, ...] | None:
    """Give the values a field offers.

    Where clients look for them: `enum` and `oneOf` of a string (or of a field that names no type),
    `enum` and `anyOf` of an array's items.  Of two lists the field offers what either has.

    Args:
        schema: of the field.

    Returns:
        None where it offers none, where one of its lists is none of strings, or has more than
        anybody chooses from.
    """
    kind = schema.get("type")
    place: Any = schema.get("items") if kind == "array" else schema
    if type(place) is not dict:
        return None
    if place.get("type", "string") != "string":
        return None
    found: list[str] = []
    for style in ("enum", "anyOf" if kind == "array" else "oneOf"):
        if style in place:
            listed = options(place[style], style)
            if listed is None or len(listed) > MOST_OPTIONS:
                return None
            found += listed
    return tuple(found) or None


def options(listed: Any, style: str) -> list[str] | None:
    """Read a list of options; None where it is no list, or an option has no string value."""
    if type(listed) is not list:
        return None
    if style == "enum":
        return listed if all(type(value) is str for value in listed) else None
    found = [entry["const"] for entry in listed if type(entry) is dict and "const" in entry]
    sound = len(found) == len(listed) and all(type(value) is str for value in found)
    return found if sound else None


def styles(place: dict[str, Any]) -> tuple[Style, ...]:
    """Say which keywords list options in a field, or in an array's items.

    A `oneOf` or `anyOf` counts where all its branches are objects with `const`.
    """
    found: tuple[Style, ...] = ()
    if "enum" in place:
        found = ("enum",)
    if "oneOf" in place and are_options(place["oneOf"]):
        found += ("oneOf",)
    if "anyOf" in place and are_options(place["anyOf"]):
        found += ("anyOf",)
    return found


def are_options(branches: Any) -> bool:
    """Tell whether a `oneOf` or `anyOf` lists options: every branch is an object with `const`."""
    return type(branches) is list and all(
        type(entry) is dict and "const" in entry for entry in branches
    )


def is_composition(branches: Any) -> bool:
    """Tell whether a `oneOf` or `anyOf` puts schemas together, and is no list of options.

    Options that lack something are still options: only a branch without `const` that says what a
    value must be like is a schema.
    """
    if type(branches) is not list:
        return True
    return any(
        type(entry) is dict and "const" not in entry and not _SCHEMA_WORDS.isdisjoint(entry)
        for entry in branches
    )


def bounds(schema: dict[str, Any], kind: str | None) -> tuple[Number | None, Number | None]:
    """Give the bounds that count for a field of a kind; None for what is absent or no bound."""
    names = BOUNDS.get(kind or "")
    if names is None:
        return None, None
    sound = is_number if names[0] == "minimum" else is_count
    low, high = schema.get(names[0]), schema.get(names[1])
    return low if sound(low) else None, high if sound(high) else None


def is_number(value: Any) -> bool:
    """Tell whether a JSON value is a number."""
    kind = type(value)
    return kind is int or kind is float


def is_whole(value: Any) -> bool:
    """Tell whether a JSON value is an integer; 5.0 is one."""
    kind = type(value)
    return kind is int or (kind is float and value.is_integer())


def is_count(value: Any) -> bool:
    """Tell whether a JSON value is a length or count: an integer from 0 on."""
    return is_whole(value) and value >= 0


def has_type(kind: str | None, value: Any) -> bool:
    """Tell whether a JSON value has the type of a field; true for what is no kind of field."""
    if kind == "string":
        return type(value) is str
    if kind == "number":
        return is_number(value)
    if kind == "integer":
        return is_whole(value)
    if kind == "boolean":
        return type(value) is bool
    if kind == "array":
        return type(value) is list
    return True


def json_type(value: Any) -> str:
    """Name the JSON type of a value: `a string`, `null`, `an array`."""
    kind = type(value)
    if value is None:
        return "null"
    if kind is bool:
        return "a boolean"
    if kind is str:
        return "a string"
    if kind is list:
        return "an array"
    if kind is dict:
        return "an object"
    return "an integer" if is_whole(value) else "a number"


def check_format(name: str, text: str) -> bool:
    """Tell whether a text has a format; false only for clear violations.

    Args:
        name: of the format; any text has those that forms do not define.
        text: entered.
    """
    if name == "email":
        local, at, domain = text.rpartition("@")
        return bool(local and at and domain) and ("@" not in local or local[0] == '"')
    if name == "uri":
        return _SCHEME.match(text) is not None
    if name == "date":
        return _is_date(text)
    if name == "date-time":
        found = _DATE_TIME.fullmatch(text)
        return (
            found is not None
            and _is_date(found[1])
            and int(found[2]) < 24
            and int(found[3]) < 60
            and int(found[4]) <= 60  # a leap second
            and (found[5] is None or (int(found[5]) < 24 and int(found[6]) < 60))
        )
    return True


def _is_date(text: str) -> bool:
    found = _DATE.fullmatch(text)
    if found is None:
        return False
    year, month, day = int(found[1]), int(found[2]), int(found[3])
    if not (1 <= month <= 12 and 1 <= day <= _DAYS[month - 1]):
        return False
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return month != 2 or day < 29 or leap
