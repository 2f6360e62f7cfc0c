from __future__ import annotations

from typing import Any

import pytest

from mcp_tap.core.linking.evidence import MOST_AMONG, Evidence, Retry, Rounds, sum_of
from mcp_tap.core.linking.state import NOBODY
from mcp_tap.core.values import same_arguments
from tests.talk import Talk, accept, call


def deep(end: Any) -> Any:
    for _ in range(5000):
        end = [end]
    return {"deep": end}


ARGUMENTS: list[Any] = [
    None, {}, {"n": 1}, {"n": 1.0}, {"n": True}, {"n": 1e30}, {"n": int(1e30)}, {"n": 10**6000},
    {"n": "\ud83d"}, {"n": ["\ud83d", 1]}, {"n": ["\ud83d", 1.0]}, {"n": ["\ud83d", True]},
    {"a": "\ud83d", "b": {}}, {"b": {}, "a": "\ud83d"}, {"a": "\ud83d", "b": []},
    deep(0), deep(0.0), deep("0"), deep([]), deep({}), deep(0.5),
]  # fmt: skip


@pytest.mark.parametrize("at", range(len(ARGUMENTS)))
def test_arguments_have_equal_sums_where_they_are_equal(at):
    one = ARGUMENTS[at]
    assert [sum_of(one) == sum_of(other) for other in ARGUMENTS] == [
        same_arguments(one, other) for other in ARGUMENTS
    ]


def test_where_nothing_is_open_there_is_no_evidence():
    retry = Retry((NOBODY, "tools/call", "t"), "s", frozenset(), None, None)
    assert Evidence(retry, Rounds(), (), 0).judge().link == "none"


def test_an_answer_that_may_belong_to_very_many_calls_is_held_for_none_of_them():
    talk = Talk()
    for n in range(MOST_AMONG + 1):
        talk.ask(talk.post(call(n)), "q")
    for n in range(MOST_AMONG + 1):
        talk.result(talk.post(call(500 + n, inputResponses=accept("q"))))
    calls = list(talk.calls.values())
    asked, retried = calls[: MOST_AMONG + 1], calls[MOST_AMONG + 1 :]
    assert {c.rounds[0].link for c in retried} == {"ambiguous"}
    newest = [c.number for c in asked[1:]]
    assert all(c.rounds[0].candidates == newest for c in retried)
    assert {c.rounds[0].claimants for c in asked} == {()}
