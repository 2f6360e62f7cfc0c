"""The shape each message must have, by revision, event and method: compiled when first needed.

The schemas are data, made by `scripts/make_schemas.py`.  They refer to nothing outside themselves
and nothing in them recurses, so a hostile message costs what its size costs.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import msgspec

from mcp_tap.core.facts.message import is_masked
from mcp_tap.core.records import pointer

if TYPE_CHECKING:
    from jsonschema_rs import Validator

_MOST_STEPS: Final = 12
_MOST_OPTIONS: Final = 12
_MOST_MEMBERS: Final = 16
_MOST_SIGNATURES: Final = 64
"""Sets of members with their types that are remembered of one shape."""
_LONGEST_NAMES: Final = 500
"""Characters of the names in such a set."""
_WIDEST: Final = 200
"""Members of an object that are looked at for a fault, beside those the schemas name."""
_LONGEST_LIST: Final = 1000
"""Entries of an array that are looked at for it."""
_MOST_VALUES: Final = 20_000
"""Values that are looked at for it."""
_UNKNOWN: Final = ("\0",)
_OF_MEMBERS: Final = frozenset({"type", "properties", "required"})
_TEXTS: Final = [{"type": "text", "text": text} for text in ("", "x" * 10_000)]
_PLAIN: Final[dict[Any, frozenset[type]]] = {
    "object": frozenset({dict}),
    "string": frozenset({str}),
    "number": frozenset({int, float}),
    "boolean": frozenset({bool}),
}
_ALL: Final[frozenset[type]] = frozenset({dict, list, str, int, float, bool, type(None)})
_NO_TYPES: Final[frozenset[type]] = frozenset()
_TYPES: Final = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "number": "a number",
    "boolean": "true or false",
}


class Shape:
    """What `params`, or a result, must look like."""

    __slots__ = ("_kinds", "_required", "_signatures", "_texts", "_validator")

    def __init__(self, validator: Validator, schema: dict[str, Any], texts: frozenset[str]) -> None:
        """Stand for one definition.

        Args:
            validator: for values of it.
            schema: the definition itself.
            texts: members that may be an array of text blocks.
        """
        self._validator = validator
        self._texts = texts
        self._required: list[str] = schema.get("required", [])
        self._kinds: dict[str, frozenset[type]] | None = None
        """Types that are all the schema asks for, by member; None where it speaks of more."""
        if schema.keys() <= _OF_MEMBERS:
            members = schema.get("properties", {})
            self._kinds = {name: _kinds_of(member) for name, member in members.items()}
        self._signatures: dict[tuple[Any, ...], tuple[str, ...] | None] = {}

    def is_valid(self, value: dict[str, Any]) -> bool:
        """Tell whether an object looks so; what is ordinary is seen without the validator."""
        return self._is_ordinary(value) or self._validator.is_valid(value)

    def _is_ordinary(self, value: dict[str, Any]) -> bool:
        if len(value) > _MOST_MEMBERS:
            return False
        signature = (*value, *map(type, value.values()))
        arrays = self._signatures.get(signature, _UNKNOWN)
        if arrays is _UNKNOWN:
            if len(self._signatures) >= _MOST_SIGNATURES:
                self._signatures.clear()
            arrays = self._arrays(value)
            if sum(map(len, value)) <= _LONGEST_NAMES:
                self._signatures[signature] = arrays
        if arrays is None:
            return False
        for name in arrays:
            for block in value[name]:
                if type(block) is not dict or len(block) != 2 or block.get("type") != "text":
                    return False
                if type(block.get("text")) is not str:
                    return False
        return True

    def _arrays(self, value: dict[str, Any]) -> tuple[str, ...] | None:
        """Give the members that have to be text blocks; None where an object is not ordinary."""
        kinds = self._kinds
        if kinds is None or any(name not in value for name in self._required):
            return None
        arrays = []
        for name, member in value.items():
            allowed = kinds.get(name)
            if allowed is None or type(member) in allowed:
                continue
            if name not in self._texts or type(member) is not list:
                return None
            arrays.append(name)
        return tuple(arrays)

    def fault(self, value: Any) -> tuple[str, str] | None:
        """Say what is wrong first: a JSON pointer and a few words, which quote no value.

        None where nothing is, where the value in question was masked, and where it cannot be told
        since the value is nested too deep, or so much that looking would take long.
        """
        from jsonschema_rs import ValidationError  # noqa: PLC0415 (known to be loaded by now)

        # The validator copies what it finds fault with, for each form it may have once.
        value = _Excerpt().of(value)
        if value is None:
            return None
        try:
            self._validator.validate(value)
        except ValidationError as error:
            steps = error.instance_path
            if _masked(value, steps) or len(steps) > _MOST_STEPS:
                return None
            return pointer(*steps), _words(error)
        except ValueError:
            return None
        return None


class _Excerpt:
    """Copies a value without what no fault can be found in, where it is large."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def of(self, value: Any) -> Any:
        """Copy it; None where too much is left."""
        found = self._copy(value, 0)
        return found if self._left >= 0 else None

    def _copy(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if (kind is not dict and kind is not list) or self._left < 0:
            return value
        if depth > _MOST_STEPS:
            return kind()
        if kind is list:
            kept = value[:_LONGEST_LIST]
            self._left -= len(kept)
            return [self._copy(one, depth + 1) for one in kept]
        names = list(islice(value, _WIDEST))
        if len(value) > _WIDEST:
            names += [name for name in _named() if name in value]
        self._left -= len(names)
        return {name: self._copy(value[name], depth + 1) for name in names}


@cache
def _named() -> tuple[str, ...]:
    """List all members the schemas name."""
    found: dict[str, None] = {}
    waiting: list[Any] = list(_data()["definitions"].values())
    while waiting:
        one = waiting.pop()
        if type(one) is dict:
            members = one.get("properties")
            found.update(dict.fromkeys(members if type(members) is dict else ()))
            waiting += one.values()
        elif type(one) is list:
            waiting += one
    return tuple(found)


_shapes: dict[tuple[str, str, str], Shape] = {}


def shape_of(revision: str, event: str, method: str) -> Shape | None:
    """Find the shape for the params, or the result, of a method the specification knows.

    Args:
        revision: one that rules are written for.
        event: of the message; `answer` for a client's result.
        method: of the request or notification, or of the request a result answers.
    """
    found = _shapes.get((revision, event, method))
    if found is not None:
        return found
    table = _data()["revisions"].get(revision)
    name = table[event].get(method) if table is not None else None
    if name is None:
        return None
    found = _shapes[revision, event, method] = _shape(table["definitions"], name)
    return found


@cache
def _shape(definitions: str, name: str) -> Shape:
    from jsonschema_rs import Draft202012Validator  # noqa: PLC0415 (only who judges pays for it)

    schema = {"$ref": f"#/$defs/{name}", "$defs": _data()["definitions"][definitions]}
    shape = _data()["definitions"][definitions][name]
    texts = frozenset(
        member
        for member, of_member in shape.get("properties", {}).items()
        if _takes_texts(of_member, schema["$defs"])
    )
    return Shape(Draft202012Validator(schema), shape, texts)


def _takes_texts(schema: Any, definitions: dict[str, Any]) -> bool:
    """Tell whether a member may be any array of text blocks that have nothing but their text."""
    if type(schema) is not dict or schema.keys() != {"type", "items"}:
        return False
    from jsonschema_rs import Draft202012Validator  # noqa: PLC0415 (only who judges pays for it)

    return Draft202012Validator({**schema, "$defs": definitions}).is_valid(_TEXTS)


def _kinds_of(schema: Any) -> frozenset[type]:
    """Give the types for which nothing else is asked of a value; none where more is."""
    if schema is True or schema == {}:
        return _ALL
    if type(schema) is not dict or len(schema) != 1:
        return _NO_TYPES
    if "anyOf" in schema:
        return _NO_TYPES.union(*map(_kinds_of, schema["anyOf"]))
    kind = schema.get("type")
    return _PLAIN.get(kind, _NO_TYPES) if type(kind) is str else _NO_TYPES


@cache
def _data() -> Any:
    data = pkgutil.get_data("mcp_tap.rules", "data/schemas.json")
    return msgspec.json.decode(data or b"")


def _masked(value: Any, steps: list[str | int]) -> bool:
    for step in steps:
        value = value[step]
    return is_masked(value)


def _words(error: Any) -> str:  # noqa: PLR0911 (one a keyword)
    kind = error.kind
    name, told = kind.name, kind.value
    if name == "required":
        return f"lacks {told}"
    if name == "type":
        return f"must be {_one_of([_TYPES.get(t, t) for t in told])}"
    if name == "const":
        return f"must be {_one_of([told])}"
    if name == "enum":
        return f"must be {_one_of(told)}"
    if name == "anyOf":
        needed = [inner[0].kind for inner in told if inner and inner[0].kind.name == "required"]
        if needed:
            return f"lacks {_one_of([kind.value for kind in needed])}"
        kinds = [e.kind for inner in told for e in inner if e.kind.name == "type"]
        types = [_TYPES.get(t, t) for kind in kinds for t in kind.value]
        return f"must be {_one_of(types)}" if types else "is none of the forms it may have"
    if name == "maxItems":
        return f"has more than {told} entries"
    if name in {"minimum", "maximum"}:
        return f"is beyond its {name} of {told}"
    return f"breaks {name}"


def _one_of(options: list[Any]) -> str:
    words = [str(option) for option in dict.fromkeys(options)][:_MOST_OPTIONS]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
