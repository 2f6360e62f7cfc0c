"""What a validation may cost, worked out before it is begun: references can multiply.

A schema is a graph.  Some keywords ask the same value once more (`allOf`, `$ref`), others ask the
values inside of it (`properties`, `items`).  How often each schema is asked of one value on each
level follows from that, as an upper bound; times the values there are, it is the price.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any, Final

MOST_WORK: Final = 2_000_000
"""Steps a validation may take: values times what is asked of each."""
MOST_MATCHING: Final = 2_000_000
"""Steps the patterns of a schema may take: characters of text times length of the patterns."""
MOST_PATTERNS: Final = 100_000
"""Length of all patterns of a schema that is judged by: they have to be compiled."""
MOST_SPENT: Final = 100_000
"""Steps that working out the price may take."""
MOST_COPIED: Final = 20_000
"""Values that may be copied to say where a value does not fit: all of it for each alternative."""

_SAME: Final = ("not", "if", "then", "else")
_SAME_LIST: Final = ("allOf", "anyOf", "oneOf")
_ALTERNATIVES: Final = ("anyOf", "oneOf")
_SAME_MAP: Final = ("dependentSchemas", "dependencies")
_INNER: Final = (
    "items", "additionalItems", "contains", "additionalProperties", "unevaluatedItems",
    "unevaluatedProperties", "propertyNames",
)  # fmt: skip
_INNER_LIST: Final = ("items", "prefixItems")
_INNER_MAP: Final = ("properties", "patternProperties")
_DEAR: Final = {"uniqueItems": 60, "multipleOf": 700}
"""What it costs more to compare the items of an array with each other, and to divide exactly."""
_ODD: Final = 700
"""What it costs more to compare with a number that is `is_odd`."""
_HUGE: Final = 10**30
_TINY: Final = 1e-30


class Node:
    """A schema within a schema."""

    __slots__ = ("branches", "index", "inner", "same", "weight")

    def __init__(self) -> None:
        self.index = 0
        """Its place: before all nodes it asks the same value once more."""
        self.same: list[Node] = []
        self.inner: list[Node] = []
        self.weight = 1
        self.branches = False
        """It has alternatives, of which each says for itself why it does not fit."""


class Price:
    """Says what it costs to judge values by one schema."""

    def __init__(self, nodes: list[Node], root: Node, patterns: int) -> None:
        """Begin at the root.

        Args:
            nodes: all of them, by their index.
            root: the whole schema.
            patterns: length of the patterns, repeats counted.
        """
        self._nodes = nodes
        self._branches = any(node.branches for node in nodes)
        self._patterns = patterns
        self._asked: dict[int, int] = {root.index: 1}
        self._totals: list[int] = []
        self._spent = 0

    def allows(self, values: list[int], text: int) -> bool:
        """Tell whether a value is cheap enough.

        Args:
            values: how many values it has on each level.
            text: how many characters it has.
        """
        if text * self._patterns > MOST_MATCHING:
            return False
        while len(self._totals) < len(values) and self._asked:
            if self._spent > MOST_SPENT:
                return False
            self._descend()
        price = sum(count * total for count, total in zip(values, self._totals, strict=False))
        return price <= MOST_WORK

    def shows(self, values: list[int]) -> bool:
        """Tell whether it is cheap enough to say where a value does not fit, once it is allowed."""
        steps = sum(self._totals[: len(values)]) if self._branches else 1
        return sum(values) * steps <= MOST_COPIED

    def _descend(self) -> None:
        """Work out one more level."""
        asked = self._asked
        below: dict[int, int] = {}
        total = 0
        waiting = sorted(asked)
        while waiting:
            index = heappop(waiting)
            node = self._nodes[index]
            times = min(asked[index], MOST_WORK)
            total += times * node.weight
            self._spent += 1 + len(node.same) + len(node.inner)
            for other in node.same:
                if other.index not in asked:
                    heappush(waiting, other.index)
                asked[other.index] = asked.get(other.index, 0) + times
            for other in node.inner:
                below[other.index] = below.get(other.index, 0) + times
        self._totals.append(total)
        self._asked = below


def price_of(schema: dict[str, Any], patterns: int) -> Price | None:
    """Read what judging by a schema costs; None where it asks the same of a value for ever.

    Args:
        schema: of bounded size and depth; its references are JSON pointers from its root.
        patterns: length of its patterns, repeats counted.
    """
    if patterns > MOST_PATTERNS:
        return None
    nodes: dict[int, Node] = {}
    root = _node(nodes, schema)
    waiting = [schema]
    done: set[int] = set()
    while waiting:
        one = waiting.pop()
        if id(one) in done:
            continue
        done.add(id(one))
        node = _node(nodes, one)
        node.weight += _ODD * sum(map(is_odd, one.values()))
        for inside, inner in _parts(schema, one, node):
            other = _node(nodes, inner)
            (node.inner if inside else node.same).append(other)
            waiting.append(inner)
    order = _ordered(list(nodes.values()))
    return None if order is None else Price(order, root, patterns)


def is_odd(value: Any) -> bool:
    """Tell whether it is a number so large or so small that exact arithmetic takes long."""
    if type(value) is int:
        return not -_HUGE < value < _HUGE
    return type(value) is float and value != 0 and not _TINY < abs(value) < _HUGE


def _node(nodes: dict[int, Node], schema: dict[str, Any]) -> Node:
    found = nodes.get(id(schema))
    if found is None:
        found = nodes[id(schema)] = Node()
    return found


def _parts(
    root: dict[str, Any], schema: dict[str, Any], node: Node
) -> list[tuple[bool, dict[str, Any]]]:
    """Give the schemas a schema refers to, and whether they are asked of the values inside."""
    found: list[tuple[bool, dict[str, Any]]] = []
    for keyword, value in schema.items():
        if type(value) is dict:
            if keyword in _SAME or keyword in _INNER:
                found.append((keyword in _INNER, value))
            elif keyword in _SAME_MAP or keyword in _INNER_MAP:
                inside = keyword in _INNER_MAP
                found += [(inside, v) for v in value.values() if type(v) is dict]
                node.weight += len(value)
        elif type(value) is list:
            if keyword in _SAME_LIST or keyword in _INNER_LIST:
                inside = keyword in _INNER_LIST
                node.branches = node.branches or keyword in _ALTERNATIVES
                found += [(inside, v) for v in value if type(v) is dict]
            node.weight += len(value)
        elif keyword == "$ref":
            target = _resolve(root, value)
            if target is not None:
                found.append((False, target))
        elif keyword in _DEAR:
            node.weight += _DEAR[keyword]
    return found


def _resolve(root: dict[str, Any], ref: Any) -> dict[str, Any] | None:
    if type(ref) is not str or not ref.startswith("#"):
        return None
    node: Any = root
    for part in ref[1:].split("/")[1:]:
        step = part.replace("~1", "/").replace("~0", "~")
        if type(node) is dict:
            node = node.get(step)
        elif type(node) is list and step.isdecimal() and len(step) < 6 and int(step) < len(node):
            node = node[int(step)]
        else:
            return None
    return node if type(node) is dict else None


def _ordered(nodes: list[Node]) -> list[Node] | None:
    """Put each node before those asked of the same value; None where they go round in a circle."""
    incoming = dict.fromkeys(nodes, 0)
    for node in nodes:
        for other in node.same:
            incoming[other] += 1
    ready = [node for node, count in incoming.items() if not count]
    order: list[Node] = []
    while ready:
        node = ready.pop()
        order.append(node)
        for other in node.same:
            incoming[other] -= 1
            if not incoming[other]:
                ready.append(other)
    for index, node in enumerate(order):
        node.index = index
    return order if len(order) == len(nodes) else None
