"""States issued anew, and the lineage by which retries are known."""

from __future__ import annotations

import pytest

from mcp_tap.replay.keys import key_of, params_of, target_of
from mcp_tap.replay.server import states as module
from mcp_tap.replay.server.matching import Book, Given
from mcp_tap.replay.server.states import Refused, States
from tests.replays import answered, asking, complete, exchange, index_of, request, rounds

KEYS = frozenset({"sure"})


@pytest.fixture
def served(tmp_path):
    """Give the first round of what was recorded, served once more each time that is called."""
    made = []

    def make(*exchanges):
        made.append(index_of(tmp_path / f"{len(made)}.jsonl", *exchanges))
        book = Book(made[-1], "repeat")
        states = States(book)

        def serve(*, state=True, arguments=None):
            asks = given(request(9, arguments=arguments))
            node = book.first(asks)
            return states.issue((node,), asks, KEYS, state=state, before=None, token=None)

        return states, serve

    yield make
    for index in made:
        index.close()


def given(value):
    answers = params_of(value).get("inputResponses")
    return Given(key_of(value), value, (value["method"], target_of(value)), answers)


def retry(state=None, action="decline", **more):
    carried = {} if state is None else {"requestState": state}
    return given(request(10, **carried, **answered(action), **more))


def ends(found):
    path, _, _ = found
    return [node.exchange.number for node in path]


def test_states_say_nothing_and_are_never_the_same(served):
    _, serve = served(*rounds(1, "recorded", "decline", "no"))
    issued = [serve() for _ in range(50)]
    assert len(set(issued)) == 50
    assert all(len(state) >= 32 and "recorded" not in state for state in issued)


def test_a_retry_is_known_by_its_state(served):
    states, serve = served(*rounds(1, "a", "decline", "no"))
    state = serve()
    assert ends(states.find(retry(state))) == [1, 2]
    assert states.gave(retry(state))
    assert not states.gave(retry("another"))
    assert not states.gave(retry())


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda s: retry(s[:-1]), "was changed"),
        (lambda s: retry("a"), "was changed"),
        (lambda s: retry(""), "was changed"),
        (lambda s: retry(), "is missing"),
        (lambda s: retry(s, arguments={"n": 2}), "other arguments"),
        (lambda s: retry(s, name="sink"), "another call"),
    ],
    ids=["cut", "recorded", "empty", "dropped", "arguments", "tool"],
)
def test_a_retry_that_tampers_is_refused(served, change, word):
    states, serve = served(*rounds(1, "a", "decline", "no"))
    with pytest.raises(Refused, match=word):
        states.find(change(serve()))


def test_a_retry_before_anything_was_asked_is_refused(served):
    states, _ = served(*rounds(1, "a", "decline", "no"))
    with pytest.raises(Refused, match="is missing"):
        states.find(retry())


def test_an_answer_nobody_gave_is_not_refused_but_not_found(served):
    states, serve = served(*rounds(1, "a", "decline", "no"))
    state = serve()
    assert states.find(retry(state, "cancel")) is None
    assert [node.exchange.number for node in states.near(retry(state, "cancel"))] == [2]


def test_the_same_retry_once_more_gets_the_same_another_one_is_refused(served):
    states, serve = served(*rounds(1, "a", "decline", "no"), *rounds(3, "b", "cancel", "gone"))
    state = serve()
    path, before, _ = states.find(retry(state))
    states.complete(path, retry(state), before)
    assert ends(states.find(retry(state))) == [1, 2]
    with pytest.raises(Refused, match="has completed"):
        states.find(retry(state, "cancel"))


def test_a_round_served_again_has_the_state_it_had(served):
    more = request(2, requestState="a", **answered("decline"))
    states, serve = served(exchange(request(1), asking(1, "a")), exchange(more, asking(2, "b")))
    state = serve()
    path, before, token = states.find(retry(state))
    assert token is None
    second = states.issue(path, retry(state), KEYS, state=True, before=before, token=token)
    path, before, token = states.find(retry(state))
    assert token == second
    again = states.issue(path, retry(state), KEYS, state=True, before=before, token=token)
    assert again == second != state


def test_rounds_without_a_state_are_known_by_what_they_asked(served):
    more = request(2, **answered("decline"))
    states, serve = served(exchange(request(1), asking(1, None)), exchange(more, complete(2, "no")))
    assert serve(state=False) is None
    assert ends(states.find(retry())) == [1, 2]
    other = {"inputResponses": {"other": {"action": "decline"}}}
    with pytest.raises(Refused):
        states.find(given(request(10, **other)))


def test_without_states_each_of_several_equal_calls_goes_on_once(served):
    made = []
    for n, text in ((1, "first"), (3, "second")):
        made.append(exchange(request(n), asking(n, None)))
        made.append(exchange(request(n + 1, **answered("decline")), complete(n + 1, text)))
    states, serve = served(made[0], made[1], made[2], made[3])
    serve(state=False)
    serve(state=False)
    found = []
    for _ in range(2):
        path, before, _ = states.find(retry())
        states.complete(path, retry(), before)
        found.append(path[0].exchange.number)
    assert found == [1, 3]


def test_what_was_issued_is_forgotten_oldest_first(served, monkeypatch):
    monkeypatch.setattr(module, "MOST_STATES", 3)
    states, serve = served(*rounds(1, "a", "decline", "no"))
    issued = [serve() for _ in range(5)]
    assert [states.gave(retry(state)) for state in issued] == [False, False, True, True, True]
