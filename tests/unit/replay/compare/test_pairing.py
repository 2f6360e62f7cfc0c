from __future__ import annotations

from msgspec.structs import replace

from mcp_tap.replay.compare import pairing
from mcp_tap.replay.compare.pairing import asks_of, notes_of, rounds_of
from mcp_tap.replay.compare.values import Rules
from tests.saying import ask, asking, done, failed, note


def numbers(pairs):
    return [tuple(None if one is None else one.number for one in pair) for pair in pairs]


def keys(pairs):
    return [tuple(None if one is None else one.key for one in pair) for pair in pairs]


def test_rounds_that_ask_for_the_same_belong_together():
    a = [asking(1, ask("x")), asking(2, ask("y")), done(3)]
    b = [asking(1, ask("y")), done(2)]
    assert numbers(rounds_of(a, b, Rules())) == [(1, None), (2, 1), (3, 2)]
    assert numbers(rounds_of(b, a, Rules())) == [(None, 1), (1, 2), (2, 3)]


def test_of_rounds_under_one_key_those_in_the_same_words_belong_together():
    words = [ask("x", params={"message": text}) for text in ("one?", "two?", "three?")]
    a = [asking(n, each) for n, each in enumerate(words, 1)]
    assert numbers(rounds_of(a, a[1:], Rules())) == [(1, None), (2, 2), (3, 3)]
    assert numbers(rounds_of(a, a[:2], Rules())) == [(1, 1), (2, 2), (3, None)]


def test_a_round_that_failed_is_still_that_round():
    a, b = [asking(1, ask()), done(2)], [asking(1, ask()), failed(2)]
    assert numbers(rounds_of(a, b, Rules())) == [(1, 1), (2, 2)]
    assert numbers(rounds_of([asking(1, ask())], [done(1)], Rules())) == [(1, 1)]


def test_very_many_rounds_are_paired_in_order(monkeypatch):
    monkeypatch.setattr(pairing, "MOST_ALIGNED", 3)
    a, b = [done(n) for n in range(3)], [done(n) for n in range(2)]
    assert numbers(rounds_of(a, b, Rules())) == [(0, 0), (1, 1), (2, None)]


def test_asks_belong_together_by_key_then_by_what_they_ask():
    a = [ask("x"), ask("y"), ask("gone", method="roots/list", params={})]
    b = [ask("y"), ask("z", params=ask("x").params), ask("new", params={"message": "else"})]
    assert keys(asks_of(a, b, Rules())) == [("gone", None), ("y", "y"), ("x", "z"), (None, "new")]


def test_pushed_asks_have_no_key_and_belong_together_in_order():
    a, b = [ask(""), ask("", params={"message": "?"})], [ask("k"), ask("")]
    pairs = asks_of(a, b, Rules())
    assert len(pairs) == 2
    assert all(None not in pair for pair in pairs)


def test_notifications_that_came_or_went_leave_the_others_together():
    a = [note(1), note(2), note(3)]
    pairs, moved = notes_of(a, [note(1), note(3)], Rules())
    assert not moved
    assert [n for n, m in pairs if m is None] == [note(2)]
    pairs, _ = notes_of([note(1), note(3)], a, Rules())
    assert [m for n, m in pairs if n is None] == [note(2)]


def test_notifications_in_another_order_are_moved():
    a = [note(1), note(2), note(3)]
    assert notes_of(a, [note(1), note(3), note(2)], Rules()) == ([(note(1), note(1))], True)


def test_another_notification_is_no_counterpart():
    other = replace(note(2), method="notifications/message")
    pairs, _ = notes_of([note(1)], [other], Rules())
    assert pairs == [(note(1), None), (None, other)]


def test_very_many_notifications_are_paired_in_order(monkeypatch):
    monkeypatch.setattr(pairing, "MOST_ALIGNED", 3)
    pairs, moved = notes_of([note(1), note(2)], [note(3), note(4)], Rules())
    assert (pairs, moved) == ([(note(1), note(3)), (note(2), note(4))], False)
