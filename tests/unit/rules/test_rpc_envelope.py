from __future__ import annotations

import json

import pytest

from tests.cases import (
    MODERN,
    RESULT,
    SESSION,
    answer,
    answer_raw,
    call,
    error,
    exchange,
    fired,
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


def raw(text: str, **headers: str):
    request = {**post(message("tools/list"), headers), "body_raw": text}
    del request["body"]
    return request


def sent(body, **case):
    return traffic(exchange(post(body, version=MODERN), answer(status=400)), **case)


# unparseable-message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"jsonrpc":"2.0",', "expecting property name"),
        ("hello", "expecting value"),
        ('{"a":NaN}', "NaN is no JSON"),
        ("\ufeff{}", "byte order mark"),
        ('{"jsonrpc":"2.0","id":1,"method":"x"} {}', "extra data"),
        ('{"a":"line\nbreak"}', "invalid control character at character 10"),
        ('{"a":"\udcff"}', "not UTF-8 at byte 6"),
    ],
)
def test_a_body_that_is_no_json_is_found_with_the_reason(text, said):
    (found,) = fired(traffic(exchange(raw(text), answer(status=400))), "RPC")
    assert found.rule == "RPC-001"
    assert found.blame == "client"
    assert said in found.message


@pytest.mark.parametrize(
    "text",
    [
        '{"jsonrpc":"2.0","id":1,"method":"vendor/x","params":{"n":1e400}}',
        '{"jsonrpc":"2.0","id":1,"method":"vendor/x","params":{"s":"\\ud800"}}',
        '{"jsonrpc":"2.0","id":1,"method":"vendor/x","params":{"n":' + "1" * 5000 + "}}",
        '{"jsonrpc":"2.0","id":1,"method":"vendor/x","params":{"d":'
        + "[" * 9000
        + "]" * 9000
        + "}}",
    ],
)
def test_json_that_only_some_parsers_refuse_is_no_fault(text):
    assert "RPC-001" not in ids(traffic(exchange(raw(text), answer(status=400))))


def test_a_post_of_another_type_that_is_no_json_is_found_too():
    case = traffic(exchange(raw("a=b", **{"Content-Type": "text/plain"}), answer(status=415)))
    assert ids(case, "RPC") == ["RPC-001"]


@pytest.mark.parametrize("headers", [{"Content-Length": "0"}, {}])
def test_a_post_without_a_body_is_found(headers):
    request = post(message("tools/list"), headers)
    del request["body"]
    assert ids(traffic(exchange(request, answer(status=400))), "RPC") == ["RPC-001"]


def test_a_json_response_that_is_none_is_the_servers_fault():
    (found,) = fired(traffic(exchange(call(), answer_raw("{oops"))), "RPC")
    assert (found.rule, found.blame) == ("RPC-001", "server")
    (found,) = fired(traffic(exchange(call(), answer_raw("<html>", status=500))), "RPC")
    assert found.rule == "RPC-001"


@pytest.mark.parametrize("status", [404, 500, 502])
def test_an_error_page_that_does_not_claim_to_be_json_is_fine(status):
    assert not ids(traffic(exchange(call(), answer_raw("<html>", "text/html", status))), "RPC")


@pytest.mark.parametrize("status", [202, 204, 405])
def test_an_empty_response_is_fine(status):
    assert not ids(traffic(exchange(post(note("x/y")), answer(status=status))), "RPC")


def test_of_an_event_stream_only_the_data_of_messages_count():
    quiet = ": ping\n\nid: 1\ndata:\n\nevent: endpoint\ndata: /messages?id=1\n\n"
    final = f"data: {json.dumps(RESULT)}\n\n"
    assert not ids(traffic(exchange(call(), stream_raw(quiet + final))), "RPC")
    broken = "event: message\ndata: {oops\n\n"
    (found,) = fired(traffic(exchange(call(), stream_raw(broken + final))), "RPC")
    assert (found.rule, found.blame) == ("RPC-001", "server")


def test_other_paths_of_the_origin_may_speak_anything():
    request = {**raw("a=b"), "path": "/token"}
    assert not ids(traffic(exchange(request, answer_raw("oops"))), "RPC")
    request = {"method": "GET", "path": "/.well-known/oauth-protected-resource", "headers": {}}
    assert not ids(traffic(exchange(request, answer_raw('{"method": 1}'))), "RPC")


# malformed-envelope


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"jsonrpc": "1.0"}, "/jsonrpc"),
        ({"jsonrpc": 2.0}, "/jsonrpc"),
        ({"jsonrpc": ...}, "/jsonrpc"),
        ({"method": 3}, "/method"),
        ({"method": None}, "/method"),
        ({"method": ...}, ""),
        ({"params": None}, "/params"),
        ({"params": []}, "/params"),
    ],
)
def test_a_request_with_a_broken_envelope_is_found_where_it_is_broken(change, path):
    body = {k: v for k, v in {**message("vendor/x"), **change}.items() if v is not ...}
    headers = {"Mcp-Method": "vendor/x"}
    request = {**post(message("vendor/x"), headers), "body": body}
    found = fired(traffic(exchange(request, answer(status=400))), "RPC-002")
    assert [f.path for f in found] == [path]
    assert found[0].blame == "client"


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"jsonrpc": "2.0", "id": 1, "result": []}, "/result"),
        ({"jsonrpc": "2.0", "id": 1, "result": None}, "/result"),
        ({"jsonrpc": "2.0", "id": 1, "result": "ok"}, "/result"),
        ({**RESULT, "error": None}, ""),
        ({"jsonrpc": "2.0", "id": 1}, ""),
        ({}, ""),
    ],
)
def test_a_response_with_a_broken_envelope_is_the_servers_fault(body, path):
    found = fired(traffic(exchange(call(), answer(body))), "RPC-002")
    assert found[0].path == path
    assert {f.blame for f in found} == {"server"}


@pytest.mark.parametrize("body", [3, "hello", None, True])
def test_a_bare_value_is_no_message(body):
    assert ids(sent(body), "RPC") == ["RPC-002"]


def test_what_is_well_formed_is_fine():
    assert not ids(traffic(exchange(call(), answer({**RESULT, "trace": "x"}))), "RPC")
    assert not ids(traffic(exchange(post(note("vendor/x")), answer(status=202))), "RPC")
    failed = error(code=-32603)
    assert not ids(traffic(exchange(call(), answer(failed))), "RPC")


@pytest.mark.parametrize(
    "body",
    [
        {"error": "invalid_token", "error_description": "no"},
        {"message": "Not found", "path": "/mcp"},
        {"method": "POST", "error": {"status": 404}},
    ],
)
def test_json_of_a_gateway_with_an_error_status_is_no_message(body):
    assert not ids(traffic(exchange(call(), answer(body, 404))), "RPC", "ERR")


def test_a_response_with_an_error_status_is_judged_where_it_is_meant_as_one():
    body = {"id": 1, "error": {"code": -32600, "message": "no"}}
    assert ids(traffic(exchange(call(), answer(body, 400))), "RPC") == ["RPC-002"]


# bad-request-id and notification-with-id


@pytest.mark.parametrize("number", [None, 1.5, True, [], {}])
def test_an_id_that_is_neither_string_nor_integer_is_found(number):
    (found,) = fired(sent(message("vendor/x", number)), "RPC")
    assert (found.rule, found.path, found.blame) == ("RPC-003", "/id", "client")


@pytest.mark.parametrize("number", [0, -1, 1.0, 1e3, "", "a", 2**70])
def test_strings_and_integers_of_any_size_and_spelling_are_ids(number):
    assert not ids(traffic(exchange(post(message("vendor/x", number)), answer(status=202))), "RPC")


def test_a_server_that_asks_with_a_null_id_is_found():
    ping = {"jsonrpc": "2.0", "id": None, "method": "ping"}
    case = traffic(
        *handshake(),
        exchange(
            call(headers=SESSION, version="2025-11-25"),
            stream(ping, result(1, None, content=[])),
        ),
    )
    (found,) = fired(case, "RPC")
    assert (found.rule, found.blame) == ("RPC-003", "server")


@pytest.mark.parametrize("number", [7, "a", None])
def test_a_notification_with_an_id_is_found_whatever_the_id(number):
    assert "RPC-006" in ids(sent({**note("notifications/cancelled", requestId=1), "id": number}))


def test_a_vendor_method_with_an_id_is_a_request():
    assert not ids(sent(message("vendor/notifications/x")), "RPC")


# batch-array


def test_an_array_is_found_wherever_one_message_must_be():
    batch = [message("tools/list", 1), message("tools/list", 2)]
    assert ids(sent(batch), "RPC") == ["RPC-007"]
    assert ids(sent([]), "RPC") == ["RPC-007"]
    assert ids(traffic(exchange(call(), answer([RESULT]))), "RPC") == ["RPC-007"]
    assert ids(traffic(exchange(call(), stream([RESULT]))), "RPC") == ["RPC-007"]
    assert "RPC-007" in ids(stdio(line("client", batch)))


def test_batches_are_fine_in_a_session_of_the_revision_that_had_them():
    batch = [{"jsonrpc": "2.0", "id": n, "method": "ping"} for n in (1, 2)]
    answers = [result(1, None), result(2, None)]
    begin = handshake("2025-03-26")
    known = traffic(*begin, exchange(post(batch, SESSION, version=None), answer(answers)))
    assert not ids(known, "RPC")
    unknown = traffic(*begin, exchange(post(batch, version=None), answer(answers)))
    assert not ids(unknown, "RPC")
    nothing = traffic(exchange(post(batch, version=None), answer(answers)))
    assert not ids(nothing, "RPC")
    over_stdio = stdio(
        line("client", begin[0]["request"]["body"]),
        line("server", begin[0]["response"]["body"]),
        line("client", batch),
        line("server", answers),
    )
    assert not ids(over_stdio, "RPC", "STDIO")


def test_a_batch_that_declares_another_revision_is_found_without_a_header():
    batch = [message("tools/list")]
    assert ids(traffic(exchange(post(batch, version=None), None)), "RPC") == ["RPC-007"]


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("", "ends in its middle"),
        ("!]", "malformed at byte 450003"),
        ("0]x", "malformed at byte 45000"),
        ("\\ud800", None),
        ('"\\ud800"]', None),
        ("1e999]", None),
    ],
)
def test_much_that_is_no_json_is_found_without_reading_it(end, said):
    text = "[0," + "[]," * 150_000 + end
    found = fired(traffic(exchange(raw(text), answer(status=400))), "RPC-001")
    assert [said in f.message for f in found] == ([] if said is None else [True])
