"""A user's decision is one of three, carries what it should, and servers respect it."""

from __future__ import annotations

import pytest

from tests.cases import (
    CAPABILITIES,
    CLIENT_INFO,
    SESSION,
    answer,
    asking,
    call,
    exchange,
    fired,
    form,
    handshake,
    ids,
    line,
    message,
    post,
    result,
    stdio,
    stream,
    traffic,
)

URL = {
    "method": "elicitation/create",
    "params": {"mode": "url", "url": "https://mcp.example.com/c", "message": "Connect"},
}
COUNT = form("How many?", n={"type": "integer", "maximum": 5})
DONE = result(2, content=[{"type": "text", "text": "ok"}])
OLD_DONE = result(1, None, content=[{"type": "text", "text": "ok"}])
SIX = {"action": "accept", "content": {"n": 6}}
DECLINE = {"action": "decline"}


def answered(question, given, then=DONE):
    retry = call(2, inputResponses={"q": given}, requestState="state-1")
    return traffic(exchange(call(), answer(asking({"q": question}))), exchange(retry, answer(then)))


def pushed(*turns, then=OLD_DONE):
    """Push asks in a session of 2025-11-25, and answer each."""
    asks = [{"jsonrpc": "2.0", "id": 100 + i, **ask} for i, (ask, _) in enumerate(turns)]
    step = 4 / (len(turns) + 1)
    posts = []
    for i, (_, given) in enumerate(turns):
        t = 20 + step * (i + 1) + 0.1
        body = {"jsonrpc": "2.0", "id": 100 + i, "result": given}
        sent = post(body, SESSION, version="2025-11-25")
        posts.append(exchange(sent, answer(status=202), (t, t + 0.1)))
    first = exchange(
        call(1, version="2025-11-25", headers=SESSION), stream(*asks, then), (20.0, 24.0)
    )
    return traffic(*handshake(), first, *posts)


def spoken(*turns, then=OLD_DONE):
    """Do the same over stdio."""
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": CAPABILITIES,
        "clientInfo": CLIENT_INFO,
    }
    info = {"name": "case-server", "version": "1.0.0"}
    settled = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
    begin = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    lines = [
        line("client", begin),
        line("server", result(0, None, **settled)),
        line("client", {"jsonrpc": "2.0", "method": "notifications/initialized"}),
        line("client", message("tools/call", version="2025-11-25", name="t", arguments={})),
    ]
    for i, (ask, given) in enumerate(turns):
        lines.append(line("server", {"jsonrpc": "2.0", "id": 100 + i, **ask}))
        lines.append(line("client", {"jsonrpc": "2.0", "id": 100 + i, "result": given}))
    return stdio(*lines, line("server", then))


@pytest.mark.parametrize("value", ["accepted", "reject", "ACCEPT", "", None, True, ["accept"]])
@pytest.mark.parametrize("question", [form(), URL], ids=["form", "url"])
def test_no_word_but_three_is_an_action(question, value):
    assert ids(answered(question, {"action": value}), "ELIC-031", "MRTR") == ["ELIC-031"]


def test_an_answer_with_content_and_no_action_lacks_one():
    assert ids(answered(form(), {"content": {"name": "x"}}), "ELIC", "MRTR") == ["ELIC-031"]


def test_an_answer_of_another_kind_is_not_blamed_for_its_action():
    assert "ELIC-031" not in ids(answered(form(), {"roots": []}))
    assert "ELIC-031" not in ids(answered(form(), {}))


def test_a_refusal_in_a_session_has_no_action():
    case = pushed((COUNT, DECLINE))
    body = case["exchanges"][-1]["request"]["body"]
    del body["result"]
    body["error"] = {"code": -32602, "message": "no"}
    assert ids(case, "ELIC") == []


@pytest.mark.parametrize("given", [{"action": "accept"}, {"action": "accept", "content": None}])
def test_accepting_a_form_means_sending_it(given):
    assert ids(answered(form(), given, result(2, content=[], isError=True)), "ELIC") == ["ELIC-032"]


def test_content_of_an_accepted_url_is_found_and_nothing_is_not():
    assert ids(answered(URL, {"action": "accept", "content": {"a": "b"}}), "ELIC") == ["ELIC-033"]
    for content in ({}, None):
        assert ids(answered(URL, {"action": "accept", "content": content}), "ELIC") == []
    assert ids(answered(URL, {"action": "accept"}), "ELIC") == []


@pytest.mark.parametrize("question", [form(), URL], ids=["form", "url"])
@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_what_was_not_accepted_brings_no_content(question, action):
    given = {"action": action, "content": {"name": "x"}}
    assert ids(answered(question, given), "ELIC") == ["ELIC-034"]
    for content in ({}, None):
        assert ids(answered(question, {"action": action, "content": content}), "ELIC") == []


@pytest.mark.parametrize("content", ['{"name":"x"}', [["name", "x"]], 7, False])
def test_content_is_an_object(content):
    given = {"action": "accept", "content": content}
    again = answered(form(), given, asking({"q": form("Again?")}, "state-2", 2))
    assert ids(again, "ELIC") == ["ELIC-035"]


@pytest.mark.parametrize(
    "given",
    [SIX, {"action": "accept"}, {"action": "accept", "content": "x"}],
    ids=["range", "missing", "text"],
)
def test_a_server_that_goes_on_with_a_broken_form_is_found(given):
    assert "ELIC-047" in ids(answered(COUNT, given))
    assert "ELIC-047" in ids(
        answered(COUNT, given, result(2, "task", taskId="t", status="working"))
    )


@pytest.mark.parametrize(
    "then",
    [
        result(2, content=[], isError=True),
        asking({"q": form("At most 5")}, "state-2", 2),
        {"jsonrpc": "2.0", "id": 2, "error": {"code": -32602, "message": "at most 5"}},
    ],
    ids=["isError", "asks again", "error"],
)
def test_a_server_that_does_not_go_on_is_not(then):
    assert "ELIC-047" not in ids(answered(COUNT, SIX, then))


@pytest.mark.parametrize(
    "content", [{"n": None}, {"n": 1, "more": 2}, {}], ids=["null", "unknown", "optional"]
)
def test_what_servers_may_overlook_is_no_reason(content):
    assert "ELIC-047" not in ids(answered(COUNT, {"action": "accept", "content": content}))


def test_a_format_alone_is_no_reason():
    question = form(mail={"type": "string", "format": "email"})
    found = ids(answered(question, {"action": "accept", "content": {"mail": "x"}}), "ELIC")
    assert found == ["ELIC-040"]


def test_another_answer_that_was_declined_is_no_reason():
    retry = call(
        2,
        inputResponses={"a": {"action": "decline", "content": "x"}, "b": {"action": "cancel"}},
        requestState="state-1",
    )
    case = traffic(
        exchange(call(), answer(asking({"a": COUNT, "b": COUNT}))), exchange(retry, answer(DONE))
    )
    assert ids(case, "ELIC") == ["ELIC-035"]


@pytest.mark.parametrize("play", [pushed, spoken])
def test_in_a_session_the_result_of_the_call_tells(play):
    found = fired(play((COUNT, SIX)), "ELIC")
    assert [(f.rule, f.blame, f.round) for f in found] == [
        ("ELIC-039", "client", 2),
        ("ELIC-047", "server", 2),
    ]
    assert found[0].call == found[1].call


@pytest.mark.parametrize("play", [pushed, spoken])
def test_in_a_session_asking_again_is_fine(play):
    assert ids(play((COUNT, SIX), (COUNT, {"action": "accept", "content": {"n": 3}})), "ELIC") == [
        "ELIC-039"
    ]


def asked_again(given, question):
    return answered(COUNT, given, asking({"other": question}, "state-2", 2))


def test_the_same_question_after_a_decline_is_noted():
    found = fired(asked_again(DECLINE, COUNT), "ELIC")
    assert [(f.rule, f.path) for f in found] == [("ELIC-048", "/result/inputRequests/other")]
    assert ids(answered(URL, DECLINE, asking({"q": URL}, "s", 2)), "ELIC") == ["ELIC-048"]


def test_asking_after_a_cancel_or_asking_something_else_is_not():
    assert ids(asked_again({"action": "cancel"}, COUNT), "ELIC") == []
    assert ids(asked_again(DECLINE, form("How many, then?", n={"type": "integer"})), "ELIC") == []


@pytest.mark.parametrize("play", [pushed, spoken])
def test_in_a_session_only_the_next_question_counts(play):
    cancel = {"action": "cancel"}
    assert ids(play((COUNT, DECLINE), (COUNT, cancel), (COUNT, cancel)), "ELIC") == ["ELIC-048"]
    assert ids(play((COUNT, cancel), (COUNT, cancel)), "ELIC") == []


def test_another_call_may_ask_what_was_declined_before():
    again = call(3)
    case = asked_again(DECLINE, form("Other?"))
    case["exchanges"].append(exchange(again, answer(asking({"q": COUNT}, "state-9", 3))))
    assert ids(case, "ELIC") == []
