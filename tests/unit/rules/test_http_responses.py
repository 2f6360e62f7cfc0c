from __future__ import annotations

import pytest

from tests.cases import (
    RESULT,
    SESSION,
    answer,
    answer_raw,
    ask,
    asking,
    call,
    error,
    exchange,
    fired,
    form,
    handshake,
    ids,
    line,
    message,
    note,
    post,
    result,
    stdio,
    stream,
    stream_raw,
    traffic,
)

TICK = note("notifications/vendor.example/tick")


def judged(request, response, **members):
    return ids(traffic(exchange(request, response), **members), "HTTP")


TEXT = '{"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete", "content": []}}'


@pytest.mark.parametrize("kind", ["text/plain", "text/html", "application/jsonl", None])
def test_a_request_is_answered_with_json_or_a_stream(kind):
    assert judged(call(), answer_raw("ok", kind)) == ["HTTP-003"]


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON"])
def test_parameters_and_letter_case_of_the_type_are_free(kind):
    assert judged(call(), answer_raw(TEXT, kind)) == []


def test_a_request_must_not_be_answered_with_nothing():
    assert judged(call(), answer_raw("")) == ["HTTP-003"]
    assert judged(call(), answer(status=202)) == ["HTTP-003"]
    assert judged(call(), answer(status=204)) == ["HTTP-003"]
    old = call(2, headers=SESSION, version="2025-11-25")
    assert ids(traffic(*handshake(), exchange(old, answer(status=202))), "HTTP") == ["HTTP-003"]


def test_a_notification_with_an_id_is_told_as_that_and_nothing_else():
    ticking = {**TICK, "id": 4}
    assert ids(traffic(exchange(post(ticking), answer(status=202)))) == ["META-004", "RPC-006"]
    bare = post(ticking, {"Mcp-Method": ..., "MCP-Protocol-Version": ...})
    assert ids(traffic(exchange(bare, answer(status=202)))) == ["RPC-006"]
    refused = answer(error(4, -32600), 400)
    assert ids(traffic(exchange(post(ticking), refused))) == ["META-004", "RPC-006"]


@pytest.mark.parametrize("status", [302, 401, 404, 500, 502])
def test_refusals_look_as_they_like(status):
    assert judged(call(), answer_raw("<p>", "text/html", status)) == []
    assert judged(call(), answer(status=status)) == []


def test_a_notification_gets_202_and_nothing_else():
    assert judged(post(TICK), answer(status=202)) == []
    assert judged(post(TICK), answer(status=204)) == ["HTTP-004"]
    assert judged(post(TICK), answer(result(1))) == ["HTTP-004"]
    assert judged(post(TICK), answer_raw("thanks", "text/plain", 202)) == ["HTTP-004"]
    assert judged(post(TICK), answer({"ok": True}, 202)) == ["HTTP-004"]


def test_a_refused_notification_has_an_error_without_id_or_none():
    assert judged(post(TICK), answer(status=400)) == []
    assert judged(post(TICK), answer_raw("no", "text/plain", 400)) == []
    assert judged(post(TICK), answer(error(None, -32600), 400)) == []
    assert judged(post(TICK), answer(error(3, -32600), 400)) == ["HTTP-004"]
    assert judged(post(TICK), answer(result(3), 400)) == ["HTTP-004"]


def test_in_a_session_responses_are_answered_the_same_way():
    reply = post({"jsonrpc": "2.0", "id": 7, "result": {}}, SESSION, version="2025-11-25")
    assert ids(traffic(*handshake(), exchange(reply, answer(status=200))), "HTTP") == ["HTTP-004"]
    assert ids(traffic(*handshake(), exchange(reply, answer(status=202))), "HTTP") == []


PROGRESS = note("notifications/progress", progressToken="p", progress=1)


def ended(request, response):
    return [(f.rule, f.severity) for f in fired(traffic(exchange(request, response)), "HTTP-005")]


def test_a_stream_without_response_must_not_end():
    request = call(meta={"progressToken": "p"})
    assert ended(request, stream(PROGRESS)) == [("HTTP-005", "warning")]
    assert ended(request, stream()) == [("HTTP-005", "warning")]
    assert ended(request, stream(PROGRESS, closed_by="network")) == [("HTTP-005", "note")]


def test_a_stream_may_end_after_the_response_by_the_client_or_where_it_only_listens():
    assert ended(call(), stream(RESULT)) == []
    assert ended(call(), stream(error(1))) == []
    assert ended(call(), stream(PROGRESS, closed_by="client")) == []
    assert ended(call(), stream(PROGRESS, open=True)) == []
    assert ended(ask("subscriptions/listen", notifications={}), stream()) == []
    old = call(2, headers=SESSION, version="2025-11-25")
    assert ids(traffic(*handshake(), exchange(old, stream())), "HTTP-005") == []


@pytest.mark.parametrize("last", [RESULT, error(1), asking({"k": form()})])
@pytest.mark.parametrize(
    "late", [PROGRESS, RESULT, note("vendor/x"), {"jsonrpc": "2.0", "id": 9, "method": "ping"}]
)
def test_nothing_may_follow_the_response(last, late):
    assert judged(call(meta={"progressToken": "p"}), stream(last, late)) == ["HTTP-006"]


def test_comments_after_the_response_are_no_messages():
    text = f"data: {TEXT}\n\n: bye\n\n"
    assert judged(call(), stream_raw(text)) == []


def test_over_stdio_late_progress_is_found():
    asked = line("client", message("tools/call", name="t", arguments={}, meta={"progressToken": 4}))
    late = note("notifications/progress", progressToken=4, progress=1)
    assert "HTTP-006" in ids(stdio(asked, line("server", RESULT), line("server", late)))
    assert "HTTP-006" not in ids(stdio(asked, line("server", late), line("server", RESULT)))
    other = note("notifications/message", level="info", data="x")
    assert "HTTP-006" not in ids(stdio(asked, line("server", RESULT), line("server", other)))


LOCAL = "http://127.0.0.1:8000/mcp"


@pytest.mark.parametrize(
    ("origin", "upstream", "status", "found"),
    [
        ("http://evil.example.com", LOCAL, 200, True),
        ("https://evil.example.com", "http://localhost:1/mcp", 200, True),
        ("https://evil.example.com", "http://[::1]:1/mcp", 200, True),
        ("http://localhost.evil.example", LOCAL, 200, True),
        ("http://evil.example.com", LOCAL, 403, False),
        ("http://evil.example.com", "https://mcp.example.com/mcp", 200, False),
        ("null", LOCAL, 200, False),
        ("http://localhost:6274", LOCAL, 200, False),
        ("http://127.0.0.2:1", LOCAL, 200, False),
        ("http://[::1]:3", LOCAL, 200, False),
        ("vscode-webview://abc", LOCAL, 200, False),
        (..., LOCAL, 200, False),
    ],
)
def test_a_server_on_this_machine_must_refuse_foreign_sites(origin, upstream, status, found):
    request = call(headers={"Origin": origin, "Host": "127.0.0.1:8000"})
    reply = answer(RESULT) if status == 200 else answer(status=status)
    assert judged(request, reply, upstream=upstream) == ["HTTP-008"] * found


def test_the_site_of_the_server_itself_is_not_foreign():
    request = call(headers={"Origin": "https://tunnel.example", "Host": "tunnel.example"})
    assert judged(request, answer(RESULT), upstream=LOCAL) == []
