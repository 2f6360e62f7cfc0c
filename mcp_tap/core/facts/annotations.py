"""`x-mcp-header` annotations of a tool: the arguments that travel in headers as well.

An annotation counts where the property it stands on is reached from the root through `properties`
alone.  Anywhere else, and wherever its name or the type beside it is not allowed, it spoils the
definition: clients on HTTP must drop the tool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from msgspec import Struct

from mcp_tap.core.records import pointer
from mcp_tap.core.redact_text import MARK
from mcp_tap.core.text import brief

if TYPE_CHECKING:
    from mcp_tap.core.facts.message import Message

KEYWORD: Final = "x-mcp-header"
PREFIX: Final = "mcp-param-"
"""What the header's name begins with, in lower case."""
MOST_NODES: Final = 10_000
"""Values looked at in the schemas of one message; what lies beyond is not known."""
MOST_STEPS: Final = 128
"""Steps from the root to a schema that are followed."""
_ANNOTATION: Final = 4
"""Values that one annotation counts for: it takes longer to read."""
MOST_FAULTS: Final = 100
MOST_NAME: Final = 1000

_MARK: Final = KEYWORD.encode()
_TOKEN: Final = frozenset(
    "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)
_SCALAR: Final = frozenset({"string", "integer", "boolean"})
_ONE: Final = frozenset((
    "items", "additionalItems", "contains", "additionalProperties", "unevaluatedItems",
    "unevaluatedProperties", "propertyNames", "not", "if", "then", "else", "contentSchema",
))  # fmt: skip
"""Keywords whose value is a schema."""
_LIST: Final = frozenset(("items", "prefixItems", "oneOf", "anyOf", "allOf"))
"""Keywords whose value is a list of schemas."""
_MAP: Final = frozenset((
    "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies",
))  # fmt: skip
"""Keywords whose value holds schemas by name."""


Place: TypeAlias = tuple[dict[str, Any], tuple[Any, ...], tuple[str, ...] | None]


class Mirrored(Struct, frozen=True):
    """An argument that travels in a header as well."""

    header: str
    """Name of the header, in lower case."""
    name: str
    """What the annotation says, as it is spelled."""
    path: tuple[str, ...]
    """Where the argument stands in `arguments`."""


class Fault(Struct, frozen=True):
    """What is wrong with an annotation."""

    path: str
    """JSON pointer, from the root of the schema to the annotation."""
    why: str


class Annotations(Struct, frozen=True):
    """All annotations of one tool."""

    mirrored: tuple[Mirrored, ...] = ()
    faults: tuple[Fault, ...] = ()


_UNREAD: Final[tuple[int, dict[int, Annotations | None]]] = (-1, {})
_NO_ANNOTATIONS: Final = Annotations()


def annotations_in(message: Message) -> dict[int, Annotations | None]:
    """Read the annotations of a `tools/list` result, by the position of the tool.

    A tool that is not in there has none.  None stands for one that was too large to read.
    """
    memo = message.flow.memo
    read: tuple[int, dict[int, Annotations | None]] = memo.get(KEYWORD, _UNREAD)
    seq, found = read
    if seq != message.seq:
        found = _read(message) if _MARK in message.record.payload() else {}
        memo[KEYWORD] = message.seq, found
    return found


def annotations_of(schema: dict[str, Any]) -> Annotations | None:
    """Read the annotations of one tool's input schema; None where it is too large to read."""
    return _Reader(MOST_NODES).read(schema)


def _read(message: Message) -> dict[int, Annotations | None]:
    tools = message.result.get("tools") if message.result is not None else None
    found: dict[int, Annotations | None] = {}
    left = MOST_NODES
    for index, tool in enumerate(tools if type(tools) is list else ()):
        schema = tool.get("inputSchema") if type(tool) is dict else None
        if type(schema) is not dict:
            continue
        reader = _Reader(left)
        read = reader.read(schema)
        left = reader.left
        if read is not _NO_ANNOTATIONS:
            found[index] = read
    return found


class _Reader:
    """Walks one schema."""

    def __init__(self, left: int) -> None:
        self.left = left
        self._mirrored: list[Mirrored] = []
        self._faults: list[Fault] = []
        self._names: set[str] = set()

    def read(self, root: dict[str, Any]) -> Annotations | None:
        # Schemas with the steps to them and the path of the property they are: None where they are
        # no property that is reached through `properties` alone.
        waiting: list[Place] = [(root, (), ())]
        while waiting:
            schema, steps, path = waiting.pop()
            if KEYWORD in schema:
                self._annotation(schema, steps, path)
            below = self._below(schema, steps, path)
            if below is None:
                return None
            waiting += below
        if self._mirrored or self._faults:
            return Annotations(tuple(self._mirrored), tuple(self._faults[:MOST_FAULTS]))
        return _NO_ANNOTATIONS

    def _below(
        self, schema: dict[str, Any], steps: tuple[Any, ...], path: tuple[str, ...] | None
    ) -> list[Place] | None:
        """Give the schemas in a schema; None where they are too many or too deep."""
        found: list[Place] = []
        for keyword, value in schema.items():
            kind = type(value)
            if kind is not dict and kind is not list:
                continue
            self.left -= len(value)
            if self.left <= 0 or len(steps) > MOST_STEPS:
                return None
            here = (*steps, keyword)
            if kind is list:
                if keyword in _LIST:
                    found += [(one, (*here, i), None) for i, one in enumerate(value)]
            elif keyword in _ONE:
                found.append((value, here, None))
            elif keyword == "properties" and path is not None:
                found += [(one, (*here, name), (*path, name)) for name, one in value.items()]
            elif keyword == "properties" or keyword in _MAP:
                found += [(one, (*here, name), None) for name, one in value.items()]
        return [place for place in found if type(place[0]) is dict]

    def _annotation(
        self, schema: dict[str, Any], steps: tuple[Any, ...], path: tuple[str, ...] | None
    ) -> None:
        name = schema[KEYWORD]
        self.left -= _ANNOTATION
        why = self._why(name, schema, path)
        if why is not None:
            self._faults.append(Fault(pointer(*steps, KEYWORD), why))
        elif path is not None and MARK not in name:
            self._mirrored.append(Mirrored(PREFIX + name.lower(), name, path))
        if type(name) is str:
            self._names.add(name.lower())

    def _why(self, name: Any, schema: dict[str, Any], path: tuple[str, ...] | None) -> str | None:
        if type(name) is not str:
            return "it is no string"
        if MARK in name:
            return None
        why = None
        if not name:
            why = "it is empty"
        elif len(name) > MOST_NAME or not _TOKEN.issuperset(name):
            why = f"{brief(name, 40)} is no name a header field can have"
        elif name.lower() in self._names:
            why = f"{brief(name, 40)} is there twice, letter case aside"
        elif not path:
            why = "no chain of properties leads to it"
        elif not _is_scalar(schema.get("type")):
            why = f"it stands on a property of type {brief(schema['type'], 40)}"
        return why


def _is_scalar(kind: Any) -> bool:
    """Tell whether a `type` allows only what a header can carry, null aside."""
    if type(kind) is not list:
        return type(kind) is not str or kind in _SCALAR  # of any other, nothing can be said
    words = {word for word in kind if type(word) is str} - {"null"}
    return bool(words) and words <= _SCALAR
