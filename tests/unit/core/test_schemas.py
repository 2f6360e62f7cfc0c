from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.core import schemas
from mcp_tap.core.wire import dumps
from tests.work import seconds_of


def misfit(schema, value):
    return schemas.misfit(dumps(schema), value)


def test_a_misfit_says_where_and_by_which_keyword():
    schema = {"properties": {"a": {"items": {"type": "string"}}}}
    flaw = misfit(schema, {"a": ["x", 1]})
    assert flaw is not None
    assert (flaw.path, flaw.keyword) == (("a", 1), "type")
    assert misfit(schema, {"a": ["x"]}) is None


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ({}, "Draft202012Validator"),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema"}, "Draft202012Validator"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "Draft7Validator"),
        ({"$schema": "http://json-schema.org/draft-04/schema"}, "Draft4Validator"),
        ({"$schema": "https://example.com/json-schema.org/draft-07/schema"}, None),
        ({"$schema": 7}, None),
    ],
)
def test_the_dialect_is_the_one_a_schema_names(said, name):
    assert schemas.validator_name(said) == name


def test_the_dialect_decides_what_a_flaw_is():
    draft4 = {"$schema": "http://json-schema.org/draft-04/schema#"}
    assert schemas.flaw_of({"exclusiveMinimum": True, "minimum": 1}) is not None
    assert schemas.flaw_of({**draft4, "exclusiveMinimum": True, "minimum": 1}) is None


@pytest.mark.parametrize("ref", ["http://127.0.0.1:9/x", "file:///etc/passwd", "other.json"])
def test_nothing_is_ever_fetched(ref):
    shape = schemas.outline({"allOf": [{"$ref": ref}]})
    assert shape is not None
    assert shape.refs == (ref,)
    assert misfit({"allOf": [{"$ref": ref}], "type": "number"}, "x") is None


def test_references_to_what_a_schema_holds_itself_are_not_foreign():
    schema = {
        "$id": "https://x.example/a",
        "$defs": {"b": {"$id": "b", "type": "string"}},
        "properties": {"p": {"$ref": "b"}, "q": {"$ref": "https://x.example/a#/$defs/b"}},
    }
    shape = schemas.outline(schema)
    assert shape is not None
    assert shape.refs == ()


def doubling(steps):
    defs = {
        f"a{i}": {"allOf": [{"$ref": f"#/$defs/a{i + 1}"}, {"$ref": f"#/$defs/a{i + 1}"}]}
        for i in range(steps)
    }
    return {"$defs": {**defs, f"a{steps}": {"type": "number"}}, "$ref": "#/$defs/a0"}


def test_references_that_multiply_are_followed_only_while_they_are_few():
    assert misfit(doubling(8), "x") is not None
    assert misfit(doubling(40), "x") is None


def test_recursion_is_judged_while_it_is_cheap():
    tree = {
        "$defs": {"t": {"required": ["v"], "properties": {"c": {"items": {"$ref": "#/$defs/t"}}}}},
        "$ref": "#/$defs/t",
    }
    flaw = misfit(tree, {"v": 1, "c": [{"v": 1, "c": [{}]}]})
    assert flaw is not None
    assert flaw.path == ("c", 0, "c", 0)
    twice = {"properties": {"x": {"$ref": "#"}}}
    wild = {"allOf": [twice, twice], "required": ["q"]}
    value = {}
    for _ in range(90):
        value = {"x": value}
    assert misfit(wild, value) is None
    assert misfit(wild, {"x": {}}) is not None


def test_a_schema_that_leads_back_to_itself_at_once_is_not_judged_by():
    assert misfit({"$ref": "#", "type": "number"}, "x") is None
    assert misfit({"allOf": [{"$ref": "#"}], "type": "number"}, "x") is None


def test_references_that_are_no_pointers_from_the_root_are_not_judged_by():
    assert misfit({"$defs": {"a": {"$anchor": "x"}}, "$ref": "#x", "type": "number"}, "x") is None
    assert misfit({"$dynamicRef": "#x", "type": "number"}, "x") is None
    assert misfit({"$ref": "#/$defs/nowhere", "type": "number"}, "x") is None


def test_patterns_are_linear_or_not_judged_by():
    assert misfit({"pattern": "^(a+)+$"}, "a" * 30_000 + "!") is not None
    assert misfit({"pattern": "(?=a)b", "type": "number"}, "x") is None
    assert misfit({"pattern": "(a)\\1", "type": "number"}, "x") is None


def nested(depth):
    schema = {"type": "string"}
    for _ in range(depth):
        schema = {"properties": {"a": schema}}
    return schema


HOSTILE = {
    "doubling": doubling(60),
    "deep": nested(400),
    "wide": {"properties": {str(i): {"type": "string"} for i in range(4_000)}},
    "enum": {"enum": [f"{i:08}" for i in range(4_000)]},
    "repeats": {"pattern": "(a{1000}){1000}"},
    "classes": {"properties": {str(i): {"pattern": r"[\p{L}]{50}"} for i in range(300)}},
    "patterns": {"properties": {str(i): {"pattern": f"^{i}.{{40}}"} for i in range(300)}},
    "pattern keys": {"patternProperties": {f"^{i}.*x{{50}}$": True for i in range(300)}},
}
VALUES = {
    "text": "01" * 250_000,
    "numbers": list(range(80_000)),
    "objects": [{"a": i} for i in range(20_000)],
    "keys": {f"key {i}": i for i in range(50_000)},
}


@pytest.mark.parametrize("schema", HOSTILE)
@pytest.mark.parametrize("value", VALUES)
def test_a_hostile_schema_costs_little(schema, value):
    data = dumps(HOSTILE[schema])
    assert seconds_of(lambda: schemas.flaw_of(HOSTILE[schema])) < 2
    assert seconds_of(lambda: schemas.misfit(data, VALUES[value])) < 3


WORDS = st.sampled_from(
    ("type", "properties", "items", "allOf", "anyOf", "not", "$ref", "$defs", "enum", "pattern")
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from(("string", "object", "#", "#/$defs/a", "other.json")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(WORDS, JSON, max_size=5), JSON)
def test_whatever_is_written_nothing_is_raised(schema, value):
    schemas.flaw_of(schema)
    schemas.misfit(dumps(schema), value)


def test_what_was_made_of_usual_schemas_is_remembered_and_of_few_large_ones():
    made: list[bytes] = []

    @schemas._remembered(100)
    def make(data: bytes) -> int:
        made.append(data)
        return len(data)

    usual, large = ([b"%03d" % n + b"x" * size for n in range(40)] for size in (10, 10_000))
    for data in (*usual, *large, *usual, large[-1]):
        assert make(data) == len(data)
    assert made == [*usual, *large]
    make(large[0])
    assert made[-1] == large[0]
