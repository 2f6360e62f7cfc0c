"""States issued anew, and the lineage by which retries are known."""

from __future__ import annotations

import pytest

from mcp_tap.replay.server import states as module
from mcp_tap.replay.server.matching import Book
from mcp_tap.replay.server.states import Refused, States
from tests.replays import answered, asking, complete, exchange, given, request, rounds

KEYS = frozenset({"sure"})


@pytest.fixture
def served(indexed):
    """Give the first round of what was recorded, served once more each time that is called."""

    def make(*exchanges):
        book = Book(indexed(*exchanges), "repeat")
        states = States(book)

        def serve(*, state=True, arguments=None):
            asks = given(request(9, arguments=arguments))
            node = book.first(asks)
            issued = "recorded" if state is True else state
            return states.issue((node,), asks, KEYS, state=issued, before=None, token=None)

        return states, serve

    return make


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
    assert serve(state=None) is None
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
    serve(state=None)
    serve(state=None)
    found = []
    for _ in range(2):
        path, before, _ = states.find(retry())
        states.complete(path, retry(), before)
        found.append(path[0].exchange.number)
    assert found == [1, 3]


def served_all(states, *retries):
    """Serve retries one after the other; give the exchange each came to."""
    numbers = []
    for each in retries:
        path, before, _ = states.find(each)
        numbers.append(path[-1].exchange.number)
        if before is not None:
            states.complete(path, each, before)
    return numbers


def refusal(number, state, action):
    error = {"code": -32602, "message": "no"}
    body = request(number, requestState=state, **answered(action))
    return exchange(body, {"jsonrpc": "2.0", "id": number, "error": error}, status=400)


def test_a_changed_state_gets_what_it_got_and_the_right_one_what_that_got(served):
    states, serve = served(
        exchange(request(1), asking(1, "a")),
        exchange(request(2, requestState="b", **answered("decline")), asking(2, "c")),
        exchange(request(3, requestState="a", **answered("decline")), complete(3, "no")),
    )
    state = serve()
    found = states.find(retry("changed"))
    states.issue(found[0], retry("changed"), KEYS, state="c", before=found[1], token=None)
    assert ends(found) == [1, 2]
    assert ends(states.find(retry(state))) == [1, 3]
    assert ends(states.find(retry("changed"))) == [1, 2]


def test_a_changed_state_that_was_refused_is_refused_as_it_was(served):
    right = request(3, requestState="a", **answered("decline"))
    states, serve = served(
        exchange(request(1), asking(1, "a")),
        refusal(2, "b", "decline"),
        exchange(right, complete(3, "no")),
    )
    state = serve()
    assert ends(states.find(retry("changed"))) == [1, 2]
    with pytest.raises(Refused, match="was changed"):
        states.find(retry("changed", "accept"))
    assert ends(states.find(retry(state))) == [1, 3]


def test_a_state_that_was_used_again_after_its_call_gets_what_it_got(served):
    reused = request(3, requestState="a", **answered("decline"))
    other = request(4, requestState="a", **answered("accept"))
    states, serve = served(
        *rounds(1, "a", "decline", "no"),
        exchange(reused, complete(3, "no again")),
        exchange(other, complete(4, "yes")),
    )
    state = serve()
    again = retry(state)
    assert served_all(states, again, again, retry(state, "accept"), again) == [2, 3, 4, 3]
    with pytest.raises(Refused, match="has completed"):
        states.find(retry(state, "cancel"))


def test_a_call_that_completed_as_another_is_not_gone_on_with_as_itself(served):
    states, serve = served(*rounds(1, "a", "decline", "no"), *rounds(3, "b", "cancel", "gone"))
    state = serve()
    assert served_all(states, retry(state, "cancel")) == [4]
    with pytest.raises(Refused, match="has completed"):
        states.find(retry(state, "decline"))


def test_a_retry_of_nothing_is_served_where_one_was_and_nothing_else_is_open(served):
    states, serve = served(
        exchange(request(1, requestState="old", **answered("decline")), complete(1, "went on")),
        *rounds(2, "a", "decline", "no"),
    )
    assert served_all(states, retry("unknown"), retry("unknown")) == [1, 1]
    with pytest.raises(Refused, match="is missing"):
        states.find(retry())
    state = serve()
    with pytest.raises(Refused, match="was changed"):
        states.find(retry("unknown"))
    assert served_all(states, retry(state), retry("unknown")) == [3, 1]


def constants(*texts):
    made = []
    for at, text in enumerate(texts):
        made += rounds(1 + 2 * at, "constant", "decline", text)
    return made


def test_a_servers_constant_stays_and_equal_calls_go_on_in_turn(served):
    states, serve = served(*constants("first", "second"))
    assert [serve(state="constant") for _ in range(2)] == ["constant", "constant"]
    again = retry("constant")
    assert served_all(states, again, again) == [2, 4]
    assert ends(states.find(again))[-1] in (2, 4)


@pytest.mark.parametrize(
    ("sent", "word"),
    [
        (retry("constants"), "was changed"),
        (retry(), "is missing"),
        (retry("constant", arguments={"n": 2}), "other arguments"),
        (retry("constant", name="sink"), "another call"),
    ],
    ids=["changed", "dropped", "arguments", "tool"],
)
def test_who_tampers_with_a_constant_is_refused_too(served, sent, word):
    states, serve = served(*constants("first", "second"))
    with pytest.raises(Refused, match="was changed"):
        states.find(retry("constant"))  # nobody was given it yet
    serve(state="constant")
    with pytest.raises(Refused, match=word):
        states.find(sent)


def test_a_constant_of_a_call_that_has_completed_is_refused(served):
    states, serve = served(*constants("first", "second"))
    serve(state="constant")
    assert served_all(states, retry("constant")) == [2]
    with pytest.raises(Refused, match="has completed"):
        states.find(retry("constant", "cancel"))


def test_of_too_many_alike_those_go_first_that_are_over(served, monkeypatch):
    monkeypatch.setattr(module, "MOST_ALIKE", 2)
    states, serve = served(*constants("first", "second"))
    serve(state="constant")
    serve(state="constant")
    again = retry("constant")
    assert served_all(states, again) == [2]
    serve(state="constant")
    assert served_all(states, again) == [4]
    assert served_all(states, again) == [4]  # the first is forgotten, the two later ones went on


def test_what_was_issued_is_forgotten_oldest_first(served, monkeypatch):
    monkeypatch.setattr(module, "MOST_STATES", 3)
    states, serve = served(*rounds(1, "a", "decline", "no"))
    issued = [serve() for _ in range(5)]
    assert [states.gave(retry(state)) for state in issued] == [False, False, True, True, True]
