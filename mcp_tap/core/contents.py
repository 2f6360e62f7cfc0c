"""What is wrong with what was entered into a form: read once an answer, for all rules on answers.

Nobody is blamed for a form that cannot be filled: where the server's own schema makes no sense (a
type that is none, a minimum above the maximum, an option without a value) the answer is not held
against it.  A masked value counts as entered and is not looked at.

Never more than `MOST_VALUES` values of one message's answers are looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from mcp_tap.core.facts.ask import Answer, Ask
from mcp_tap.core.facts.message import NONE, Message, is_masked
from mcp_tap.core.forms import (
    BOUNDS,
    KINDS,
    Field,
    Form,
    Number,
    check_format,
    form_of,
    is_form,
    json_type,
)
from mcp_tap.core.text import brief, plural

MOST_VALUES: Final = 1000
"""Values looked at of the answers of one message."""
MOST_FAULTS: Final = 200
"""Fields of an answer that are said to have the same flaw."""
OLDEST: Final = "2025-06-18"
"""The revision without choices of several, and without titled ones."""

Flaw: TypeAlias = Literal[
    "missing",
    "type",
    "length",
    "range",
    "format",
    "option",
    "count",
    "unknown",
    "nested",
    "null",
    "default",
]
"""What may be wrong; `default`: a field with a default was left out."""

INVALID: Final[frozenset[Flaw]] = frozenset(
    {"missing", "type", "length", "range", "format", "option", "count", "nested", "null"}
)
"""Flaws that break the form's schema; of `unknown` it depends."""


class Fault(Struct, frozen=True):
    """One thing that is wrong with one field."""

    field: str
    what: str
    """What there is in the content: `null for city instead of leaving it out`."""

    @property
    def message(self) -> str:
        """Say it of a client."""
        return "client sent " + self.what


Faults: TypeAlias = dict[Flaw, list[Fault]]

_WANTED: Final = {
    "string": "a string",
    "number": "a number",
    "integer": "an integer",
    "boolean": "a boolean",
    "array": "an array",
}


def faults_of(answer: Answer) -> Faults:
    """Say what is wrong with the content of an accepted form; it is worked out once.

    Empty where nothing is, and for any other answer.
    """
    found: Faults | None = answer.faults
    if found is None:
        found = {}
        if accepts_form(answer.ask, answer.value):
            content = answer.value.get("content")
            if type(content) is dict:
                form = form_of(answer.ask)
                found = faults(form, content, answer.flow.band, _left(answer.message))
                _spend(answer.message, len(content))
        answer.faults = found
    return found


def accepts_form(ask: Ask, value: Any) -> bool:
    """Tell whether an answer accepts what was clearly asked for as a form."""
    return type(value) is dict and value.get("action") == "accept" and is_form(ask)


def is_valid(ask: Ask, value: Any, band: str) -> bool:
    """Tell whether an answer accepts a form with content that fits its schema.

    False also where that cannot be told, since the content is masked or too large.
    """
    if not accepts_form(ask, value):
        return False
    content = value.get("content")
    if content is None:
        return not ask.fields
    if type(content) is not dict or len(content) > MOST_VALUES:
        return False
    form = form_of(ask)
    found = faults(form, content, band, MOST_VALUES)
    return INVALID.isdisjoint(found) and not (form.closed and "unknown" in found)


def faults(form: Form, content: dict[str, Any], band: str, most: int = MOST_VALUES) -> Faults:
    """Compare what was entered with the form.

    Args:
        form: what could be entered.
        content: what was.
        band: the rules that hold.
        most: values to look at.
    """
    found: Faults = {}
    defined = form.defined
    if defined is not None:
        for name in islice(content, most):
            if name not in defined:
                _add(found, "unknown", name, "{0}, which the form does not define")
    for name, value in islice(content.items(), most):
        _value(found, form, name, value, band)
    for name in form.needs:
        if name in (defined or NONE) and name not in content:
            _add(found, "missing", name, "no {0}, which is required")
    for name, field in form.fields.items():
        offers = field.schema.get("default") is not None
        if offers and name not in content:
            _add(found, "default", name, "no {0}, for which the server offers a default")
    return found


def _value(found: Faults, form: Form, name: str, value: Any, band: str) -> None:
    """Look at one value of whatever field."""
    if value is None:
        _add(found, "null", name, "null for {0} instead of leaving it out")
        return
    field = form.fields.get(name)
    nested = _is_nested(value)
    if nested:
        what = "an object" if type(value) is dict else "an array of something but strings"
        _add(found, "nested", name, what + " for {0}, which no form can ask for")
        if type(value) is dict or (field is not None and field.kind != "array"):
            return
    if field is not None and field.kind in KINDS and not is_masked(value):
        _judge(found, field, value, band, required=name in form.required, nested=nested)


def _judge(
    found: Faults, field: Field, value: Any, band: str, *, required: bool, nested: bool
) -> None:
    """Compare a value, not masked, with a field of a known kind."""
    name, kind = field.name, field.kind
    if kind == "array" and band == OLDEST:
        return
    if not field.has_type(value):
        if kind != "array" or field.styles:
            what = f"{json_type(value)} for {{0}} instead of {_WANTED[kind or '']}"
            _add(found, "type", name, what)
    elif kind == "array":
        _between(found, "count", field, len(value), _entries(len(value)))
        if not nested:
            _options(found, field, value)
    elif kind == "string":
        _between(found, "length", field, len(value), plural(len(value), "character"))
        wanted = field.format
        if wanted is not None and (value or required) and not check_format(wanted, value):
            _add(found, "format", name, f"something that is no {wanted} for {{0}}")
        if band != OLDEST or "oneOf" not in field.schema:
            _options(found, field, (value,))
    elif kind != "boolean":
        _between(found, "range", field, value, "a number")


def _between(found: Faults, flaw: Flaw, field: Field, measure: Number, what: str) -> None:
    low, high = field.low, field.high
    if low is not None and high is not None and low > high:
        return
    if flaw == "count" and low is not None and field.choices and low > len(field.choices):
        low = None
    least, most = BOUNDS[field.kind or ""]
    if low is not None and measure < low:
        _add(found, flaw, field.name, f"{what} for {{0}}, below its {least} of {brief(low, 20)}")
    elif high is not None and measure > high:
        _add(found, flaw, field.name, f"{what} for {{0}}, above its {most} of {brief(high, 20)}")


def _options(found: Faults, field: Field, values: Sequence[str]) -> None:
    choices = field.choices
    if choices is None:
        return
    for value in values:
        if value not in choices and not is_masked(value):
            what = "a value for {0} that is none of its options"
            if value in _titles(field):
                what = "the title of an option for {0} instead of its value"
            _add(found, "option", field.name, what)
            return


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"


def _titles(field: Field) -> set[str]:
    """Give what people see instead of the values."""
    place = field.items if field.kind == "array" else field.schema
    found = [place.get("enumNames"), field.schema.get("enumNames")]
    titles = {text for texts in found if type(texts) is list for text in texts if _is_text(text)}
    for style in ("oneOf", "anyOf"):
        branches = place.get(style)
        if type(branches) is list:
            named = [branch.get("title") for branch in branches if type(branch) is dict]
            titles.update(text for text in named if _is_text(text))
    return titles


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_nested(value: Any) -> bool:
    kind = type(value)
    return kind is dict or (kind is list and not all(type(entry) is str for entry in value))


def _add(found: Faults, flaw: Flaw, name: str, what: str) -> None:
    """Keep a fault; `{0}` stands for the field."""
    known = found.setdefault(flaw, [])
    if len(known) < MOST_FAULTS:
        known.append(Fault(name, what.replace("{0}", brief(name, 40))))


def _left(message: Message) -> int:
    seq, spent = message.flow.memo.get("contents", (message.seq, 0))
    return max(MOST_VALUES - spent, 0) if seq == message.seq else MOST_VALUES


def _spend(message: Message, values: int) -> None:
    message.flow.memo["contents"] = (message.seq, MOST_VALUES - _left(message) + values)
