"""Whatever a server asks: what is made up fits, what is drafted says the same, nothing raises."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.answers.book import Answered, Book, Unmatched
from mcp_tap.answers.draft import draft
from mcp_tap.answers.explain import explain
from mcp_tap.answers.question import questions
from mcp_tap.answers.reading import load
from mcp_tap.answers.recall import Recording, asked
from mcp_tap.capture.reader import open_path
from mcp_tap.cli.scripting import calls_of
from mcp_tap.core.contents import INVALID, faults
from mcp_tap.core.facts.flow import MODERN
from mcp_tap.core.forms import Form
from tests.asks import book, question
from tests.property.test_answers import ASKS, JSON

CAPTURES = sorted((Path(__file__).parents[2] / "captures").glob("*.jsonl"))
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


def pairs(low, high):
    return st.tuples(low, high).map(sorted)


@st.composite
def texts(draw):
    schema = {"type": "string"}
    form = draw(st.sampled_from([None, "email", "uri", "date", "date-time"]))
    if form is not None:
        return {**schema, "format": form}
    low, high = draw(pairs(st.integers(0, 200), st.integers(0, 200)))
    return schema | draw(st.sampled_from([{}, {"minLength": low}, {"maxLength": high},
                                          {"minLength": low, "maxLength": high}]))  # fmt: skip


@st.composite
def numbers(draw):
    kind = draw(st.sampled_from(["integer", "number"]))
    of = st.integers(-(10**12), 10**12)
    if kind == "number":
        of |= st.floats(-1e12, 1e12, allow_nan=False)
    low, high = draw(pairs(of, of))
    return {"type": kind} | draw(st.sampled_from([{}, {"minimum": low}, {"maximum": high},
                                                  {"minimum": low, "maximum": high}]))  # fmt: skip


@st.composite
def options(draw):
    values = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    titled = [{"const": value, "title": value.upper()} for value in values]
    if draw(st.booleans()):
        return {"type": "string", **draw(st.sampled_from([{"enum": values}, {"oneOf": titled}]))}
    low, high = draw(pairs(st.integers(0, len(values)), st.integers(0, len(values))))
    items = draw(st.sampled_from([{"type": "string", "enum": values}, {"anyOf": titled}]))
    return {"type": "array", "items": items, "minItems": low, "maxItems": high}


FIELDS = texts() | numbers() | options() | st.just({"type": "boolean"})


def _has_whole(schema):
    """An integer between bounds that are integers: those are what forms have."""
    bounds = [schema.get(name) for name in ("minimum", "maximum")]
    return schema["type"] != "integer" or all(not isinstance(b, float) for b in bounds)


FORMS = st.dictionaries(NAMES, FIELDS.filter(_has_whole), max_size=5)


@given(FORMS, st.integers(0, 2**64), st.booleans())
def test_what_is_made_up_for_a_form_always_fits_it(fields, seed, every):
    required = list(fields) if every else list(fields)[:1]
    schema = {"type": "object", "properties": fields, "required": required}
    ask = question("q", "form", message="?", requestedSchema=schema)
    decided = book(f'[[answer]]\nfill = ["generate"]\nseed = {seed}').decide([ask])
    assert isinstance(decided, Answered), decided.error
    content = decided.answers["q"].answer["content"]
    assert content.keys() == fields.keys()
    assert INVALID.isdisjoint(faults(Form(schema), content, MODERN))
    jsonschema_rs.validator_for(schema, validate_formats=True).validate(content)


SCRIPT = """
[[answer]]
match = { field = "a", message = "o" }
each_round = [{ content = { a = { env = "X" }, "*" = { default = true } } }, { content = {} }]
[[answer]]
match = { arguments = { a = 1 }, key = "*a*" }
fill = ["capture", "default", "generate"]
capture = "c.jsonl"
[[answer]]
times = 2
fill = ["default", "generate"]
[[answer]]
match = { mode = "url", url = "file:*" }
action = "accept"
[[answer]]
text = "Paris."
[[answer]]
roots = [{ uri = "file:///a" }]
"""
MAPS = st.dictionaries(st.text(max_size=5), ASKS | JSON, max_size=4)


@given(st.lists(MAPS | JSON, max_size=4), JSON, JSON, st.sampled_from(["pass", "decline", "fail"]))
def test_whatever_is_asked_a_round_is_answered_whole_or_not_at_all(rounds, arguments, said, how):
    script = load(SCRIPT, "a.toml")
    asks = [questions(m, method="tools/call", name="t", arguments=arguments, call=1)
            for m in rounds]  # fmt: skip
    known = Recording((ask, said) for of_round in asks for ask in of_round if type(said) is dict)
    found = Book([script], env={"X": "1"}, unmatched=how, recorded={("a.toml", "c.jsonl"): known})
    assert found.advertised()
    for of_round in asks:
        explained = explain(found, of_round)
        assert [e.question for e in explained] == of_round
        decided = found.decide(of_round)
        assert decided.answers.keys() in ({ask.key for ask in of_round}, set())
        if isinstance(decided, Answered):
            assert len(decided.answers) == len(of_round)
            found.stop(of_round, decided)
        else:
            assert isinstance(decided, Unmatched)
            assert str(decided.error)
            assert "\n" not in decided.why


@given(st.lists(st.lists(st.tuples(ASKS, JSON | st.none()), max_size=3), max_size=4), JSON)
def test_whatever_was_said_a_draft_can_be_read(calls, arguments):
    drafted = []
    for number, call in enumerate(calls):
        found = []
        for at, (entry, answer) in enumerate(call):
            (ask,) = questions({str(at): entry}, method="tools/call", name="t", call=number,
                               arguments=arguments, pushed=number % 2 == 1)  # fmt: skip
            found.append((ask, answer if isinstance(answer, dict) else None))
        drafted.append(found)
    load(draft(drafted, source="x", capture=None), "a.toml")


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.stem)
def test_a_draft_gives_every_ask_of_its_capture_the_answer_the_client_gave(path):
    calls = [asked(call) for call in calls_of(open_path(path))]
    script = load(draft(calls, source="x", capture=None), "a.toml")
    found = Book([script], env={})
    for call in calls:
        for _, of_round in groupby(call, key=lambda pair: pair[0].round):
            pairs_ = list(of_round)
            for each, (_, answer) in zip(
                explain(found, [q for q, _ in pairs_]), pairs_, strict=True
            ):
                assert each.given is not None, each.error
                assert answer in (None, each.given.answer)
    assert found.unused() == []
