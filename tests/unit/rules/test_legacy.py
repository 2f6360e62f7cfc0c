"""In a session counts what `initialize` settled."""

from __future__ import annotations

import pytest

from tests.cases import (
    CAPABILITIES,
    SESSION,
    answer,
    call,
    error,
    exchange,
    fired,
    form,
    handshake,
    ids,
    note,
    post,
    result,
    stream,
    traffic,
)

OLD, NEW = "2025-06-18", "2025-11-25"
DONE = result(1, None, content=[{"type": "text", "text": "ok"}])
ENTRY = {"mode": "url", "elicitationId": "e-1", "url": "https://mcp.example.com/c", "message": "m"}


def url(**change):
    params = {key: value for key, value in {**ENTRY, **change}.items() if value is not ...}
    return {"jsonrpc": "2.0", "id": 100, "method": "elicitation/create", "params": params}


def push(question):
    return {"jsonrpc": "2.0", "id": 100, **question}


def complete(**params):
    return note("notifications/elicitation/complete", **params)


def session(*messages, version=NEW, caps=CAPABILITIES, ready=True, begun=True, then=DONE, **reply):
    """Open a session, call a tool, and let the server send `messages` before its response."""
    first, second = handshake(version, caps)
    opened = [first, second] if ready else [first]
    asked = call(1, version=version, headers=SESSION)
    rest = [exchange(asked, stream(*messages, then), (20.0, 24.0))]
    if reply:
        body = {"jsonrpc": "2.0", "id": 100, **reply}
        rest.append(
            exchange(post(body, SESSION, version=version), answer(status=202), (22.5, 22.6))
        )
    return traffic(*(opened if begun else ()), *rest)


@pytest.mark.parametrize(
    ("caps", "question"),
    [
        ({}, push(form())),
        ({}, url()),
        ({"elicitation": {}}, url()),
        ({"elicitation": {"form": {}}}, url()),
        ({"elicitation": {"url": {}}}, push(form())),
    ],
)
def test_a_mode_that_was_not_declared_is_found(caps, question):
    found = fired(session(question, caps=caps), "LEG")
    assert [(f.rule, f.blame) for f in found] == [("LEG-003", "server")]


@pytest.mark.parametrize(
    ("caps", "question"),
    [
        ({"elicitation": {}}, push(form())),
        ({"elicitation": {"form": {}, "url": {}}}, url()),
        ({"elicitation": {"form": {}}}, push(form())),
        ({"elicitation": {"url": {}}}, url()),
        ({"elicitation": {"audio": {}}}, push(form())),
    ],
)
def test_one_that_was_is_not(caps, question):
    assert ids(session(question, caps=caps), "LEG") == []


def test_a_session_that_was_not_seen_to_begin_is_left_alone():
    assert ids(session(push(form()), complete(elicitationId="e-9"), begun=False), "LEG") == []


def test_the_newest_handshake_of_a_session_counts():
    again = handshake(NEW, {})
    case = session(push(form()))
    case["exchanges"][2:2] = again
    assert ids(case, "LEG") == ["LEG-003"]


def test_two_sessions_of_one_client_have_their_own_capabilities():
    other = handshake(NEW, {})
    other[0]["response"]["headers"]["Mcp-Session-Id"] = "other"
    other[1]["request"]["headers"]["Mcp-Session-Id"] = "other"
    case = session(push(form()))
    case["exchanges"][2:2] = other
    assert ids(case, "LEG") == []


@pytest.mark.parametrize("method", ["elicitation/create", "sampling/createMessage", "roots/list"])
def test_asking_before_the_client_is_ready_is_found(method):
    asked = {**push(form()), "method": method}
    assert "LEG-004" in ids(session(asked, ready=False))
    assert "LEG-004" not in ids(session(asked))


def test_a_ping_or_a_log_message_may_come_before():
    ping = {"jsonrpc": "2.0", "id": 100, "method": "ping"}
    log = note("notifications/message", level="info", data="x")
    assert ids(session(ping, log, ready=False), "LEG") == []


@pytest.mark.parametrize("name", ["elicitationId", "url"])
def test_a_url_elicitation_has_its_id_and_url(name):
    found = fired(session(url(**{name: ...})), "LEG")
    assert [(f.rule, f.path) for f in found] == [("LEG-005", f"/params/{name}")]


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"elicitations": []},
        {"elicitations": {}},
        {"elicitations": [ENTRY, {"mode": "form", "message": "m"}]},
        {"elicitations": [{**ENTRY, "url": None}]},
        {"elicitations": [{**ENTRY, "elicitationId": None}]},
        {"elicitations": ["e-1"]},
    ],
)
def test_the_error_says_which_elicitations_it_needs(data):
    assert ids(session(then=error(1, -32042, "go there", **data)), "LEG") == ["LEG-005"]


def test_a_whole_one_and_another_error_are_fine():
    assert ids(session(then=error(1, -32042, "go there", elicitations=[ENTRY])), "LEG") == []
    assert ids(session(then=error(1, -32602, "no")), "LEG") == []


def test_an_id_that_was_issued_may_complete_once():
    assert ids(session(url(), complete(elicitationId="e-1")), "LEG") == []
    twice = session(url(), *[complete(elicitationId="e-1")] * 2)
    assert [(f.rule, f.severity) for f in fired(twice, "LEG")] == [("LEG-006", "note")]
    needed = session(then=error(1, -32042, "go there", elicitations=[ENTRY]))
    later = call(2, version=NEW, headers=SESSION)
    done = {**DONE, "id": 2}
    needed["exchanges"].append(
        exchange(later, stream(complete(elicitationId="e-1"), done), (30.0, 31.0))
    )
    assert ids(needed, "LEG") == []


@pytest.mark.parametrize("params", [{"elicitationId": "e-2"}, {}, {"elicitationId": 1}])
def test_another_id_or_none_is_found(params):
    found = fired(session(url(), complete(**params)), "LEG")
    assert [(f.rule, f.severity) for f in found] == [("LEG-006", "warning")]


MULTI = {"type": "array", "items": {"type": "string", "enum": ["a"]}}
TITLED = {"type": "string", "oneOf": [{"const": "a", "title": "A"}]}


@pytest.mark.parametrize(
    "question",
    [
        url(elicitationId=...),
        push(form(f=MULTI)),
        push(form(f=TITLED)),
        push(form(f={"type": "string", "default": "a"})),
        push(form(f={"type": "integer", "default": 1})),
        complete(elicitationId="e-1"),
    ],
)
def test_what_the_oldest_revision_does_not_have_is_found_there_only(question):
    assert ids(session(question, version=OLD), "LEG") == ["LEG-007"]
    assert "LEG-007" not in ids(session(question))


def test_the_error_for_urls_is_too_new_as_well():
    case = session(then=error(1, -32042, "go there", elicitations=[]), version=OLD)
    assert ids(case, "LEG") == ["LEG-007"]


@pytest.mark.parametrize(
    "question",
    [
        push(form(f={"type": "boolean", "default": True})),
        push(form(f={"type": "string", "enum": ["a"], "enumNames": ["A"]})),
    ],
)
def test_what_it_has_is_let_pass(question):
    assert ids(session(question, version=OLD), "LEG") == []


@pytest.mark.parametrize("version", [OLD, NEW])
def test_input_required_means_nothing_to_a_session(version):
    then = result(1, None, resultType="input_required", inputRequests={"q": form()})
    assert ids(session(version=version, then=then), "LEG") == ["LEG-007"]


def test_the_settled_revision_counts_not_the_header():
    case = session(url(elicitationId=...), version=NEW)
    case["exchanges"][0]["response"]["body"]["result"]["protocolVersion"] = OLD
    assert ids(case, "LEG") == ["LEG-007"]


@pytest.mark.parametrize(
    "reply",
    [
        {"result": {"action": "cancel"}},
        {"result": {"action": "accept", "content": {"name": "x"}}},
        {"error": {"code": -32601, "message": "no"}},
    ],
)
def test_what_was_not_declared_is_refused_and_not_answered(reply):
    found = fired(session(push(form()), caps={}, **reply), "LEG-008")
    assert [(f.severity, f.blame) for f in found] == [("warning", "client")]
    assert ids(session(push(form()), **reply), "LEG-008") == []


def test_a_refusal_with_the_right_code_or_silence_is_fine():
    refusal = {"code": -32602, "message": "not supported"}
    assert ids(session(push(form()), caps={}, error=refusal), "LEG") == ["LEG-003"]
    assert ids(session(push(form()), caps={}), "LEG") == ["LEG-003"]
