"""The fields of a form: formats, keywords, bounds and defaults."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mcp_tap.core.facts.ask import Ask
from mcp_tap.core.facts.message import is_masked
from mcp_tap.core.forms import (
    BOUNDS,
    FORMATS,
    KINDS,
    Field,
    check_format,
    form_of,
    is_count,
    is_number,
    json_type,
)
from mcp_tap.core.text import brief
from mcp_tap.rules.base import ALL, RECENT, Hit, rule

_IGNORED: Final = (
    "const",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "contentEncoding",
    "contentMediaType",
)
"""Keywords that are ignored in every field."""
_SWITCHES: Final = ("uniqueItems", "readOnly", "writeOnly")
"""Likewise, where they are on."""
_ELSEWHERE: Final = ("properties", "additionalProperties", "items", "contains")
"""Keywords that are ignored in everything but objects and arrays, which are no plain fields."""
_ALL_BOUNDS: Final = {
    "minLength": ("string",),
    "maxLength": ("string",),
    "minimum": ("number", "integer"),
    "maximum": ("number", "integer"),
    "minItems": ("array",),
    "maxItems": ("array",),
}


@rule(
    "ELIC-022",
    severity="warning",
    level="must",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#requested-schema",
    on="ask form",
    versions=ALL,
)
def field_format_unsupported(ask: Ask) -> Iterator[Hit]:
    """A string field uses a format other than email, uri, date or date-time.

    Clients know these four.  With any other the field is plain text, and nobody checks what the
    server expects.  The format of a number is ELIC-023.
    """
    for name, field in form_of(ask).fields.items():
        found = field.schema.get("format")
        if found is None or field.kind != "string" or is_masked(found):
            continue
        if type(found) is not str or found not in FORMATS:
            words = f"server's form asks for format {brief(found, 40)} in field {brief(name, 40)}"
            yield Hit(words, ask.at_field(name, "format"), spot=name)


@rule(
    "ELIC-023",
    severity="warning",
    level="should",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#requested-schema",
    on="ask form",
    versions=ALL,
)
def field_keyword_unsupported(ask: Ask) -> Iterator[Hit]:
    """A form field uses a validation keyword outside the subset, which clients silently ignore.

    The server counts on a check that nobody makes.  Annotations (title, description, default,
    examples, deprecated, `$comment`, `x-*`) check nothing and are fine, and so is a switch that is
    off.  `pattern` is ELIC-024, `contains` in an array ELIC-020.
    """
    for name, field in form_of(ask).fields.items():
        for word in _ignored(field):
            words = (
                f"server's form uses {word} in field {brief(name, 40)}, which is no part of what"
                " forms may use"
            )
            yield Hit(words, ask.at_field(name, word))


def _ignored(field: Field) -> Iterator[str]:
    schema = field.schema
    for word in _IGNORED:
        if word in schema:
            yield word
    for word in _SWITCHES:
        if word in schema and schema[word] is not False and schema[word] is not None:
            yield word
    if field.kind in KINDS and field.kind != "array":
        for word in _ELSEWHERE:
            if schema.get(word) is not None:
                yield word
    if field.kind in ("number", "integer") and schema.get("format") is not None:
        yield "format"


@rule(
    "ELIC-024",
    severity="warning",
    level="should",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#requested-schema",
    on="ask form",
)
def field_pattern_dropped(ask: Ask) -> Iterator[Hit]:
    """A string field uses pattern, which this revision's description of the subset does not list.

    Clients may show it as they like, or not at all.  The text of 2025-11-25 had it in an example,
    so nothing is said of sessions of that time.  Answers are never held against a pattern.
    """
    for name, field in form_of(ask).fields.items():
        if field.kind == "string" and field.schema.get("pattern") is not None:
            words = f"server's form uses pattern in field {brief(name, 40)}"
            yield Hit(words, ask.at_field(name, "pattern"), spot=name)


@rule(
    "ELIC-025",
    severity="warning",
    level="should",
    blames="server",
    spec="specification/2026-07-28/schema#stringschema",
    on="ask form",
    versions=ALL,
)
def field_bounds_invalid(ask: Ask) -> Iterator[Hit]:
    """A bound is on the wrong kind of field, makes no sense, or makes the field impossible to fill.

    Lengths bound strings, minimum and maximum numbers, counts choices of several.  Lengths and
    counts are integers from 0 on; numbers may have fractions, and equal bounds are one value.
    Fields whose type is wrong itself are not looked at.
    """
    for name, field in form_of(ask).fields.items():
        if field.kind in KINDS:
            for word, why in _bound_faults(field):
                words = f"server's form has {word} in field {brief(name, 40)}, {why}"
                yield Hit(words, ask.at_field(name, word))


def _bound_faults(field: Field) -> Iterator[tuple[str, str]]:
    schema, kind = field.schema, field.kind or ""
    for word, kinds in _ALL_BOUNDS.items():
        if word not in schema:
            continue
        value = schema[word]
        if kind not in kinds:
            yield word, f"which is of type {kind}"
        elif word.endswith("imum"):
            if not is_number(value):
                yield word, f"where {brief(value, 20)} is no number"
        elif not is_count(value):
            yield word, f"where {brief(value, 20)} is no length or count"
    if field.low is None:
        return
    low, high = BOUNDS[kind]
    if field.high is not None and field.low > field.high:
        yield low, f"where {brief(field.low, 20)} is above {high} {brief(field.high, 20)}"
    if kind == "array" and field.choices is not None and field.low > len(field.choices):
        yield low, f"where {brief(field.low, 20)} is more than the {len(field.choices)} options"


@rule(
    "ELIC-030",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#requested-schema",
    on="ask form",
    versions=RECENT,
)
def default_violates_field(ask: Ask) -> Iterator[Hit]:
    """A field's default does not satisfy the field's own definition.

    Clients fill the form with it, so a person who changes nothing sends an answer the server must
    refuse.  An empty text in a field of free text means blank, and is fine; 5.0 is an integer.
    What cannot be told is not judged: a field of no known type, options that are no list of texts.
    """
    for name, field in form_of(ask).fields.items():
        if "default" in field.schema:
            value = field.schema["default"]
            why = None if is_masked(value) else _default_fault(field, value)
            if why is not None:
                words = f"server's form has a default in field {brief(name, 40)} that {why}"
                yield Hit(words, ask.at_field(name, "default"), spot=name)


def _default_fault(field: Field, value: Any) -> str | None:
    if field.kind not in KINDS:
        return None
    if not field.has_type(value):
        return f"is {json_type(value)}, in a field of type {field.kind}"
    if field.kind == "string":
        return _text_fault(field, value)
    if field.kind == "array":
        choices = field.choices
        if choices is not None:
            for entry in value:
                if type(entry) is not str or entry not in choices:
                    return f"has {brief(entry, 40)}, which is none of the options"
        return _size_fault(field, len(value), "options")
    return _size_fault(field, value, "") if field.kind != "boolean" else None


def _text_fault(field: Field, text: str) -> str | None:
    if field.styles:
        if field.choices is None or text in field.choices:
            return None
        return f"is {brief(text, 40)}, which is none of the options"
    if not text:
        return None
    if field.format is not None and not check_format(field.format, text):
        return f"is no {field.format}"
    return _size_fault(field, len(text), "characters")


def _size_fault(field: Field, size: float, of: str) -> str | None:
    low, high = BOUNDS[field.kind or ""]
    of = of and f" {of}"
    if field.low is not None and size < field.low:
        return f"has {size}{of}, below its {low}" if of else f"is below its {low}"
    if field.high is not None and size > field.high:
        return f"has {size}{of}, above its {high}" if of else f"is above its {high}"
    return None
