from __future__ import annotations

import pytest

from tests.cases import RESULT, answer, asking, call, exchange, fired, form, ids, traffic

MINE = ("SEC-007", "SEC-008")
TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


def entered(content, action="accept", text="Which value?", **properties):
    given = {"q": {"action": action, "content": content}}
    retry = call(2, inputResponses=given, requestState="state-1")
    return traffic(
        exchange(call(), answer(asking({"q": form(text, **properties)}))),
        exchange(retry, answer({**RESULT, "id": 2})),
    )


def test_a_credential_is_the_clients_fault_unless_the_form_asked_for_it():
    (found,) = fired(entered({"name": TOKEN}), *MINE)
    assert (found.rule, found.blame) == ("SEC-007", "client")
    assert found.path == "/params/inputResponses/q/content/name"
    assert TOKEN not in found.message
    for asked in (
        {"api_key": {"type": "string"}},
        {"api_key": {"type": "string", "title": "Пароль"}},
    ):
        (found,) = fired(entered({"api_key": TOKEN}, **asked), *MINE)
        assert found.blame == "server"
    (found,) = fired(entered({"name": TOKEN}, text="Please enter your access token."), *MINE)
    assert found.blame == "server"


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_only_accepted_content_counts(action):
    assert ids(entered({"name": TOKEN}, action), *MINE) == []


def test_lists_are_looked_through_and_masked_values_are_not():
    assert ids(entered({"name": ["a", TOKEN]}), *MINE) == ["SEC-007"]
    assert ids(entered({"name": "mcp-tap:0123456789abcdef " + TOKEN}), *MINE) == []
    assert ids(entered({"name": {"a": TOKEN}, "b": None, "c": True}), *MINE) == []
    assert ids(entered("text"), *MINE) == []


def test_a_card_number_is_found_and_not_shown():
    (found,) = fired(entered({"name": "4111 1111-1111 1111"}), *MINE)
    assert (found.rule, found.blame) == ("SEC-008", "client")
    assert "1111" not in found.message
    card = {"type": "string"}
    (found,) = fired(entered({"card_number": "4111111111111111"}, card_number=card), *MINE)
    assert found.blame == "server"


def test_a_card_number_counts_in_a_list_of_choices_too():
    (found,) = fired(entered({"name": ["a", "4111 1111 1111 1111"]}), *MINE)
    assert (found.rule, found.path[-5:]) == ("SEC-008", "/name")
    assert ids(entered({"name": ["a", 4111111111111111, None]}), *MINE) == []


def test_a_number_is_a_card_only_where_one_was_asked_for():
    number = {"type": "integer"}
    assert ids(entered({"order": 4111111111111111}, order=number), *MINE) == []
    case = entered({"card_number": 4111111111111111}, card_number=number)
    assert ids(case, *MINE) == ["SEC-008"]
    assert ids(entered({"card_number": 10**30}, card_number=number), *MINE) == []
