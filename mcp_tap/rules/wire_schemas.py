"""The shape each message must have, by revision, event and method: compiled when first needed.

The schemas are data, made by `scripts/make_schemas.py`.  They refer to nothing outside themselves
and nothing in them recurses, so a hostile message costs what its size costs.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import msgspec

from mcp_tap.core.facts.message import is_masked
from mcp_tap.core.records import pointer

if TYPE_CHECKING:
    from jsonschema_rs import Validator

_MOST_STEPS: Final = 12
_MOST_OPTIONS: Final = 12
_TYPES: Final = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "number": "a number",
    "boolean": "true or false",
}


class Shape:
    """What `params`, or a result, must look like."""

    __slots__ = ("_validator", "is_valid")

    def __init__(self, validator: Validator) -> None:
        """Stand for one definition."""
        self._validator = validator
        self.is_valid = validator.is_valid

    def fault(self, value: Any) -> tuple[str, str] | None:
        """Say what is wrong first: a JSON pointer and a few words, which quote no value.

        None where nothing is, or where the value in question was masked.
        """
        from jsonschema_rs import ValidationError  # noqa: PLC0415 (known to be loaded by now)

        try:
            self._validator.validate(value)
        except ValidationError as error:
            steps = error.instance_path
            if _masked(value, steps) or len(steps) > _MOST_STEPS:
                return None
            return pointer(*steps), _words(error)
        return None


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


def methods(event: str) -> tuple[str, ...]:
    """List the methods for which any revision has a shape."""
    tables = _data()["revisions"].values()
    return tuple(sorted({method for table in tables for method in table[event]}))


@cache
def _shape(definitions: str, name: str) -> Shape:
    from jsonschema_rs import Draft202012Validator  # noqa: PLC0415 (only who judges pays for it)

    schema = {"$ref": f"#/$defs/{name}", "$defs": _data()["definitions"][definitions]}
    return Shape(Draft202012Validator(schema))


@cache
def _data() -> Any:
    source = files("mcp_tap.rules").joinpath("data", "schemas.json")
    return msgspec.json.decode(source.read_bytes())


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
