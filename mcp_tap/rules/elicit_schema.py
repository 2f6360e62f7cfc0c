"""The schema of a form: its root, and what kind of thing each field is.

Forms are flat: an object of strings, numbers, booleans and choices.  Everything else of JSON Schema
is left out on purpose, so that a client can draw a form without being a validator.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mcp_tap.core.facts.ask import Ask
from mcp_tap.core.forms import (
    KINDS,
    MOST_FIELDS,
    Field,
    are_options,
    form_of,
    is_composition,
    json_type,
)
from mcp_tap.core.text import brief
from mcp_tap.rules.base import ALL, RECENT, Hit, Hits, rule

_ADVANCED: Final = (
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "$ref",
    "patternProperties",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "unevaluatedProperties",
    "minProperties",
    "maxProperties",
)
"""Keywords no root of a form has."""
_COMPOSED: Final = ("$ref", "allOf", "not", "if")
"""Keywords no field has; `anyOf` and `oneOf` may list options."""


@rule(
    "ELIC-013",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#requested-schema",
    on="ask form",
    versions=ALL,
)
def schema_root_not_object(ask: Ask) -> Hits:
    """The requestedSchema of a form does not have type object at its root.

    An answer is always an object of fields, so the schema has to say so, in so many words: a single
    value is a field of its own, and a list of types is not one type.
    """
    schema = ask.schema
    if schema is None or schema.get("type") == "object":
        return None
    known = "type" in schema
    what = f"type {brief(schema['type'], 40)}" if known else "no type"
    words = f"server's form has a requestedSchema of {what}, not of type object"
    return Hit(words, ask.at("requestedSchema", "type"))


@rule(
    "ELIC-014",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/schema#elicitrequestformparams",
    on="ask form",
    versions=ALL,
)
def schema_properties_missing(ask: Ask) -> Hits:
    """The requestedSchema of a form has no properties object.

    Clients draw the form from it.  An empty one is fine: it asks for a plain yes or no.  Where the
    root is no object either, ELIC-013 says enough.
    """
    schema = ask.schema
    if schema is None or schema.get("type") != "object":
        return None
    found = schema.get("properties")
    if type(found) is dict:
        return None
    what = f"{json_type(found)} for properties" if "properties" in schema else "no properties"
    words = f"server's form has a requestedSchema with {what}"
    return Hit(words, ask.at("requestedSchema", "properties"))


@rule(
    "ELIC-015",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#requested-schema",
    on="ask form",
    versions=ALL,
)
def schema_root_advanced_keyword(ask: Ask) -> Hits:
    """The root of a requestedSchema uses JSON Schema features outside the flat subset.

    Clients do not know them: a condition between fields is silently not checked, a reference draws
    nothing.  What generators add without consequence is fine: `$schema`, `title`, `$id`,
    `$comment`, `$defs` that nothing refers to, `x-*`, and `additionalProperties` when it is true or
    false.
    """
    schema = ask.schema
    if schema is None:
        return None
    found = [word for word in _ADVANCED if schema.get(word) is not None]
    if type(schema.get("additionalProperties")) is dict:
        found.append("additionalProperties")
    return [
        Hit(
            f"server's form uses {word} at the root of its requestedSchema, which is no part of"
            " what forms may use",
            ask.at("requestedSchema", word),
        )
        for word in found
    ]


@rule(
    "ELIC-016",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#requested-schema",
    on="ask form",
    versions=ALL,
)
def required_list_invalid(ask: Ask) -> Hits:
    """The required list is not a list of strings, or names a field that properties does not define.

    A required field that is nowhere on the form can never be filled in, so the form can never be
    accepted; that, and a name that is there twice, is a warning.  `required: true` inside a field
    is a habit of old drafts, and makes nothing required.  No list, or an empty one, is fine.
    """
    return [*_list_faults(ask), *_inner_required(ask)] if ask.schema is not None else None


def _list_faults(ask: Ask) -> Iterator[Hit]:
    schema = ask.schema or {}
    if "required" not in schema:
        return
    listed: Any = schema["required"]
    path = ask.at("requestedSchema", "required")
    if type(listed) is not list:
        yield Hit(f"server's form has {json_type(listed)} for its list of required fields", path)
        return
    seen: set[str] = set()
    properties = schema.get("properties")
    for index, name in enumerate(listed[:MOST_FIELDS]):
        here = ask.at("requestedSchema", "required", index)
        if type(name) is not str:
            words = f"server's form has {json_type(name)} in its list of required fields"
            yield Hit(words, here, spot="required")
            return
        if name in seen:
            words = f"server's form requires field {brief(name, 40)} twice"
            yield Hit(words, here, spot=name, severity="warning")
        elif type(properties) is dict and name not in properties:
            words = f"server's form requires field {brief(name, 40)}, which it does not have"
            yield Hit(words, here, spot=name, severity="warning")
        seen.add(name)


def _inner_required(ask: Ask) -> Iterator[Hit]:
    for name, field in form_of(ask).fields.items():
        inner = field.schema.get("required")
        if inner is not None and type(inner) is not list:
            words = (
                f"server's form has required: {brief(inner, 20)} inside field {brief(name, 40)},"
                " where it requires nothing"
            )
            yield Hit(words, ask.at_field(name, "required"))


@rule(
    "ELIC-017",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#requested-schema",
    on="ask form",
    versions=ALL,
)
def field_type_missing(ask: Ask) -> Iterator[Hit]:
    """A form field is not a schema object with a type.

    The type decides which control a client draws; a list of options alone does not.  A field that
    is made of a reference, or of schemas put together, is ELIC-021.
    """
    form = form_of(ask)
    for count, (name, schema) in enumerate(ask.fields.items()):
        if count >= MOST_FIELDS:
            return
        if type(schema) is not dict:
            words = f"server's form has {json_type(schema)} for field {brief(name, 40)}"
            yield Hit(words, ask.at_field(name))
        elif schema.get("type") is None and name in form.fields and not _composed(schema):
            words = f"server's form has a field {brief(name, 40)} without a type"
            yield Hit(words, ask.at_field(name, "type"), spot=name)


@rule(
    "ELIC-018",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#requested-schema",
    on="ask form",
    versions=ALL,
)
def field_type_unsupported(ask: Ask) -> Iterator[Hit]:
    """A form field has a type that is not string, number, integer, boolean or a choice array.

    Among these are lists of types, also those that only add null: a field that may stay empty is
    one that is not required.  Types of other systems (date, text, file) are formats here, or
    nothing.  Nested objects are ELIC-019, arrays ELIC-020.
    """
    for name, field in form_of(ask).fields.items():
        kind = field.schema.get("type")
        if kind is None or (type(kind) is str and (kind in KINDS or kind == "object")):
            continue
        words = f"server's form has a field {brief(name, 40)} of type {brief(kind, 40)}"
        yield Hit(words, ask.at_field(name, "type"), spot=name)


@rule(
    "ELIC-019",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#requested-schema",
    on="ask form",
    versions=ALL,
)
def field_nested_object(ask: Ask) -> Iterator[Hit]:
    """A form field is a nested object.

    Forms are flat: the parts of an address are fields of their own, perhaps with dotted names.
    """
    for name, field in form_of(ask).fields.items():
        if field.kind == "object":
            words = f"server's form has a nested object for field {brief(name, 40)}"
            yield Hit(words, ask.at_field(name))


@rule(
    "ELIC-020",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#requested-schema",
    on="ask form",
    versions=RECENT,
)
def field_array_not_choice_list(ask: Ask) -> Iterator[Hit]:
    """An array field is not a multi-select over fixed string options.

    The one array of a form is a choice of several: its items are strings with `enum`, or `anyOf`
    with a `const` and a `title` for each option.  Lists of free text, of numbers or of objects
    cannot be drawn.  Options under `oneOf` are ELIC-028, and in 2025-06-18, which has no arrays at
    all, every one is LEG-007.
    """
    for name, field in form_of(ask).fields.items():
        if field.kind == "array":
            why = _no_choice(field)
            if why is not None:
                words = f"server's form has an array for field {brief(name, 40)} that {why}"
                yield Hit(words, ask.at_field(name))


def _no_choice(field: Field) -> str | None:
    schema, items = field.schema, field.schema.get("items")
    for word in ("prefixItems", "contains"):
        if schema.get(word) is not None:
            return f"uses {word}"
    if type(items) is not dict:
        return "has no items" if items is None else f"has {json_type(items)} for items"
    kind = items.get("type", "string")
    if kind != "string":
        return f"is of items of type {brief(kind, 40)}: only strings can be chosen from"
    listed = items.get("anyOf")
    if field.styles or "enum" in items or (listed is not None and not is_composition(listed)):
        return None
    return "is a list of anything: its items offer no options"


@rule(
    "ELIC-021",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#requested-schema",
    on="ask form",
    versions=ALL,
)
def field_composition_or_ref(ask: Ask) -> Iterator[Hit]:
    """A form field uses `$ref` or a composition keyword.

    Generators write optional fields as `anyOf` with null, and move enums to `$defs`: a client that
    reads the flat subset finds no type there, or ignores half of the field.  `oneOf` that lists
    options of a string is how titled choices are written; options that are listed under the wrong
    keyword are ELIC-028, options that lack something ELIC-027.
    """
    for name, field in form_of(ask).fields.items():
        found = _composed(field.schema)
        if found is not None:
            words = f"server's form uses {found} in field {brief(name, 40)}"
            yield Hit(words, ask.at_field(name, found))


def _composed(schema: dict[str, Any]) -> str | None:
    for word in _COMPOSED:
        if schema.get(word) is not None:
            return word
    for word in ("anyOf", "oneOf"):
        branches = schema.get(word)
        if branches is None or are_options(branches):
            continue
        if word == "anyOf" or schema.get("type") != "string" or is_composition(branches):
            return word
    return None
