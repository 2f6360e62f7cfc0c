from __future__ import annotations

import pytest

from tests.cases import (
    RESULT,
    SESSION,
    TASKS,
    answer,
    ask,
    asking,
    call,
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

TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
URL = {
    "method": "elicitation/create",
    "params": {"mode": "url", "message": "Sign in", "url": "https://mcp.example.com/c"},
}


def opened(last, action="accept", entry=URL):
    given = {"q": {"action": action}}
    retry = call(2, inputResponses=given, requestState="state-1")
    return traffic(
        exchange(call(), answer(asking({"q": entry}))),
        exchange(
            retry, answer({"jsonrpc": "2.0", "id": 2, "result": {"resultType": "complete", **last}})
        ),
    )


def text(words):
    return {"content": [{"type": "text", "text": words}]}


@pytest.mark.parametrize(
    "last",
    [
        text(f"Your token is {TOKEN}"),
        text('{"access_token": "ya29-0123456789"}'),
        text("access_token=0123456789"),
        {**text("ok"), "structuredContent": {"access_token": "0123456789"}},
        {**text("ok"), "structuredContent": {"login": [{"refreshToken": "0123456789"}]}},
        {**text("ok"), "structuredContent": {"data": TOKEN}},
        {**text("ok"), "_meta": {"client_secret": "0123456789"}},
        {**text("ok"), "structuredContent": {"access_token": "ya29.a0AfH6SMB..."}},
    ],
)
def test_a_credential_handed_out_after_a_link_is_found_and_not_shown(last):
    (found,) = fired(opened(last), "SEC-022")
    assert found.blame == "server"
    assert "0123456789" not in found.message
    assert TOKEN not in found.message


@pytest.mark.parametrize(
    "last",
    [
        *(text("Connected to Example Co."), text("Access token: stored."), text("token stored")),
        text("access_token = ********"),
        {**text("ok"), "structuredContent": {"access_token": "****"}},
        {**text("ok"), "structuredContent": {"access_token": ""}},
        {**text("ok"), "structuredContent": {"access_token": None, "refresh_token": True}},
        {**text("ok"), "structuredContent": {"access_token": "[redacted]", "token_type": "Bearer"}},
        {**text("ok"), "structuredContent": {"access_token": "mcp-tap:0123456789abcdef"}},
        {"content": [{"type": "image", "data": TOKEN, "mimeType": "image/png"}]},
    ],
)
def test_masked_values_and_statements_are_fine(last):
    assert ids(opened(last), "SEC-022") == []


def test_it_takes_a_link_that_was_accepted():
    assert ids(opened(text(TOKEN), "decline"), "SEC-022") == []
    assert ids(opened(text(TOKEN), entry=form()), "SEC-022") == []
    assert (
        ids(traffic(exchange(call(), answer({**RESULT, "result": text(TOKEN)}))), "SEC-022") == []
    )


def test_it_holds_for_sessions_as_well():
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "create_tasks", "arguments": {}},
    }
    pushed = {"jsonrpc": "2.0", "id": 9, **URL}
    accepted = {"jsonrpc": "2.0", "id": 9, "result": {"action": "accept"}}
    case = traffic(
        *handshake(),
        exchange(
            post(body, SESSION, version="2025-11-25"),
            stream(pushed, result(1, None, **text(TOKEN))),
            (20, 26),
        ),
        exchange(post(accepted, SESSION, version="2025-11-25"), answer(status=202), (24, 25)),
    )
    assert ids(case, "SEC-022") == ["SEC-022"]


TASK = {
    "taskId": "t-1",
    "createdAt": "2026-08-01T10:00:00Z",
    "lastUpdatedAt": "2026-08-01T10:00:05Z",
    "ttlMs": None,
}


def of_task(last, action="accept"):
    def state(number, kind="complete", **more):
        return answer(result(number, kind, **TASK, **more))

    given = {"q": {"action": action}}
    update = ask("tasks/update", 3, caps=TASKS, taskId="t-1", inputResponses=given)
    return traffic(
        exchange(call(caps=TASKS), state(1, "task", status="working")),
        exchange(
            ask("tasks/get", 2, caps=TASKS, taskId="t-1"),
            state(2, status="input_required", inputRequests={"q": URL}),
        ),
        exchange(update, answer(result(3))),
        exchange(
            ask("tasks/get", 4, caps=TASKS, taskId="t-1"), state(4, status="completed", result=last)
        ),
    )


def test_it_holds_for_the_result_of_a_task():
    (found,) = fired(of_task(text(TOKEN)), "SEC-022")
    assert (found.path, TOKEN in found.message) == ("/result/result/content/0/text", False)
    picture = {"content": [{"type": "image", "data": TOKEN, "mimeType": "image/png"}]}
    assert ids(of_task(picture), "SEC-022") == []
    assert ids(of_task(text("Connected")), "SEC-022") == []
    assert ids(of_task(text(TOKEN), "decline"), "SEC-022") == []


def test_only_content_holds_bytes():
    held = {"structuredContent": {"content": {"data": TOKEN}}}
    assert ids(opened({**text("ok"), **held}), "SEC-022") == ["SEC-022"]


def listed(**properties):
    tool = {"name": "x", "inputSchema": {"type": "object", "properties": properties}}
    return traffic(
        exchange(ask("tools/list"), answer(result(tools=[tool], ttlMs=1, cacheScope="public")))
    )


@pytest.mark.parametrize(
    "property_",
    [
        {"api_key": {"type": "string"}},
        {"p": {"type": "string", "description": "Database password"}},
        {"p": {"type": "string", "title": "Пароль"}},
        {"p": {"type": "string", "format": "password"}},
        {"cvv": {"type": "integer"}},
        {"p": {"type": "string", "title": "Card number"}},
    ],
)
def test_a_sensitive_parameter_in_a_header_is_found(property_):
    ((name, schema),) = property_.items()
    (found,) = fired(listed(**{name: {**schema, "x-mcp-header": "P"}}), "SEC-025")
    assert found.path == f"/result/tools/0/inputSchema/properties/{name}"
    assert ids(listed(**property_), "SEC-025") == []
    inner = {"type": "object", "properties": {name: {**schema, "x-mcp-header": "P"}}}
    assert ids(listed(outer=inner), "SEC-025") == ["SEC-025"]


def test_other_parameters_may_travel_in_headers():
    for name in ("region", "tenant_id", "priority", "api_key_name"):
        assert ids(listed(**{name: {"type": "string", "x-mcp-header": "P"}}), "SEC-025") == []
    fixed = {"type": "string", "enum": ["vault"], "x-mcp-header": "P"}
    assert ids(listed(secret=fixed), "SEC-025") == []


def logged(data):
    told = note("notifications/message", level="info", data=data)
    return traffic(
        exchange(call(meta={"io.modelcontextprotocol/logLevel": "info"}), stream(told, RESULT))
    )


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ({"password": "hunter2!"}, "/params/data/password"),
        ({"a": [{"api_key": "0123"}]}, "/params/data/a/0/api_key"),
        ({"tokens": 1, "token": ["0123"]}, "/params/data/token/0"),
        (f"got {TOKEN}", "/params/data"),
        ({"msg": f"got {TOKEN}"}, "/params/data/msg"),
        ("user joe@example.com logged in", "/params/data"),
        ("connect with password=hunter2", "/params/data"),
    ],
)
def test_secrets_in_logs_are_found_and_not_shown(data, path):
    (found,) = fired(logged(data), "SEC-026")
    assert found.path == path
    assert "hunter2" not in found.message
    assert "joe@" not in found.message


@pytest.mark.parametrize(
    "data",
    [
        {"host": "localhost", "port": 5432, "password": "********", "token_present": True},
        {"password": "", "token": None, "secret": 7, "api_key": "[REDACTED]"},
        {"token": "missing", "password": "not set", "jwt": "mcp-tap:0123456789abcdef"},
        {"token_type": "bearer", "page_token": "abc", "api_key": "sk-...abcd"},
        *("the password is wrong", "password=****", "password=", "token={token}", "a@b", 7, None),
    ],
)
def test_masked_values_and_names_alone_are_fine(data):
    assert ids(logged(data), "SEC-026") == []


@pytest.mark.parametrize(
    "query",
    [
        *("access_token=abc", "token=abc", "api_key=abc", "apiKey=abc", "bearer=abc"),
        *(f"x={TOKEN}", "access_token=mcp-tap:0123456789abcdef", "tenant=acme&Access-Token=abc"),
    ],
)
def test_a_token_in_the_request_target_is_found(query):
    request = {**call(), "path": f"/mcp?{query}"}
    (found,) = fired(traffic(exchange(request, answer(RESULT))), "SEC-027")
    assert found.blame == "client"
    assert TOKEN not in found.message


def test_a_token_in_each_request_is_told_once():
    request = {**call(), "path": "/mcp?token=abc"}
    case = traffic(*(exchange(request, answer(RESULT)) for _ in range(3)))
    assert ids(case, "SEC-027") == ["SEC-027"]


@pytest.mark.parametrize("path", ["/mcp?tenant=acme&profile=dev", "/mcp?token=", "/mcp", "/mcp?"])
def test_other_parameters_are_fine(path):
    request = {**call(headers={"Authorization": "Bearer opaque-1"}), "path": path}
    assert ids(traffic(exchange(request, answer(RESULT))), "SEC-027") == []
