"""What is said again is what was said to the question most like the one at hand."""

from __future__ import annotations

from pathlib import Path

from mcp_tap.answers.recall import Recording, asked
from mcp_tap.capture.reader import open_path
from mcp_tap.cli.scripting import calls_of
from mcp_tap.core.model import Ask, Exchange
from tests.asks import form, of, roots, url

ROOT = Path(__file__).parents[3]
ASK = form("seat", message="Seat on tue?", a=None)


def find(ask, *pairs):
    return Recording((question, {"action": said}) for question, said in pairs).find(ask)


def test_the_same_question_is_found():
    assert find(ASK, (ASK, "accept")) == {"action": "accept"}


def test_another_tool_kind_or_key_is_another_question():
    others = [of(ASK, name="search"), of(ASK, method="prompts/get"), of(ASK, key="day"),
              url("https://a.example/", "seat")]  # fmt: skip
    assert find(ASK, *((other, "accept") for other in others)) is None


def test_of_several_the_most_alike_counts():
    args = of(ASK, round=5)
    message = of(ASK, arguments={"n": 1})
    neither = of(ASK, arguments={"n": 1}, params={**ASK.params, "message": "Seat on wed?"})
    assert find(ASK, (args, "accept"), (message, "decline"), (neither, "cancel")) == {
        "action": "accept"
    }
    assert find(ASK, (neither, "cancel"), (message, "decline")) == {"action": "decline"}
    assert find(of(ASK, round=2), (ASK, "accept"), (of(ASK, round=2), "decline")) == {
        "action": "decline"
    }


def test_of_two_as_much_alike_the_last_counts():
    assert find(ASK, (ASK, "accept"), (ASK, "decline")) == {"action": "decline"}


def test_without_keys_the_message_tells():
    pushed = of(ASK, key="7", pushed=True)
    assert find(pushed, (of(ASK, key="3", pushed=True), "accept")) == {"action": "accept"}
    assert find(pushed, (ASK, "accept")) == {"action": "accept"}
    other = {**ASK.params, "message": "Meal?"}
    assert find(pushed, (of(ASK, key="7", pushed=True, params=other), "accept")) is None


def test_it_tells_what_kinds_it_knows():
    assert Recording([(ASK, {}), (roots(), {})]).kinds() == {"form", "roots"}
    assert Recording([]).kinds() == frozenset()


def test_the_questions_of_a_call_are_read_with_their_answers():
    calls = calls_of(open_path(ROOT / "captures" / "py-py-2026.jsonl"))
    found = [pair for call in calls if call.number == 6 for pair in asked(call)]
    assert [(q.place, q.key, q.arguments, a) for q, a in found] == [
        ("tools/call book_table, round 1", "day", {"guests": 3},
         {"action": "accept", "content": {"day": "tue"}}),
        ("tools/call book_table, round 2", "seat", {"guests": 3}, {"action": "decline"}),
    ]  # fmt: skip


def test_a_pushed_question_says_so_and_one_nobody_answered_has_no_answer():
    calls = calls_of(open_path(ROOT / "captures" / "py-py-2025.jsonl"))
    assert all(q.pushed for call in calls for q, _ in asked(call))
    calls = calls_of(open_path(ROOT / "captures" / "py-py-2026-ambiguous.jsonl"))
    assert [a for call in calls if call.number > 14 for _, a in asked(call)] == [None] * 4


def test_what_an_exchange_asks_for_no_call_is_read_ask_by_ask():
    asks = [
        Ask(key="0", method="roots/list", kind="roots", params={}, seq=1, t=0.0,
            action="answered", answer={"roots": []}),
        Ask(key="1", method="elicitation/create", kind="form", params={"message": "Who?"}, seq=2,
            t=0.0, action="error", answer={"code": -32601}),
    ]  # fmt: skip
    one, other = asked(Exchange(number=3, t=0.0, asks=asks))
    assert [one[1], other[1]] == [{"roots": []}, None]
    assert [one[0].round, other[0].round] == [1, 2]
    assert (one[0].method, one[0].name, one[0].pushed) == (None, None, True)
    assert other[0].message == "Who?"
    assert one[0].call == other[0].call
