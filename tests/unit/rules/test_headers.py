from __future__ import annotations

from base64 import b64encode

import pytest

from tests.cases import (
    MODERN,
    PREFIX,
    RESULT,
    SESSION,
    answer,
    ask,
    call,
    error,
    exchange,
    fired,
    handshake,
    ids,
    message,
    note,
    post,
    result,
    traffic,
)

REFUSED = answer(error(1, -32020), 400)


def encoded(text):
    return f"=?base64?{b64encode(text.encode()).decode()}?="


def judged(request, response=REFUSED):
    return ids(traffic(exchange(request, response)), "HDR")


def test_a_request_whose_headers_agree_with_it_is_fine():
    assert judged(call(), answer(RESULT)) == []
    assert judged(ask("resources/read", uri="file:///a"), answer(result(1))) == []


def test_a_version_in_meta_needs_its_header():
    assert judged(call(headers={"MCP-Protocol-Version": ...})) == ["HDR-001"]
    assert judged(post(note("vendor.example/tick"), version=None), answer(status=202)) == []
    bare = message("tools/list", meta={PREFIX + "protocolVersion": ...})
    assert judged(post(bare, version=None)) == []


def test_a_version_header_that_differs_is_found_also_when_it_is_repeated():
    assert judged(call(headers={"MCP-Protocol-Version": "2025-11-25"})) == ["HDR-002"]
    twice = call(headers={"MCP-Protocol-Version": [MODERN, "2025-11-25"]})
    assert judged(twice) == ["HDR-002"]
    assert judged(call(headers={"MCP-Protocol-Version": [MODERN, MODERN]})) == []
    assert judged(call(headers={"MCP-Protocol-Version": f" {MODERN}\t"}), answer(RESULT)) == []


@pytest.mark.parametrize("declared", ["2025-11-25", "2025-03-26", "draft"])
def test_a_version_header_that_differs_is_found_whatever_the_body_declares(declared):
    body = message("tools/list")
    body["params"]["_meta"][PREFIX + "protocolVersion"] = declared
    [finding] = fired(traffic(exchange(post(body), REFUSED)), "HDR")
    assert (finding.rule, finding.severity, finding.blame) == ("HDR-002", "error", "client")
    assert judged(post(body, {"MCP-Protocol-Version": declared}), answer(result(1, None))) == []


def test_in_a_session_the_version_header_is_compared_with_what_initialize_settled():
    wrong = call(2, headers={**SESSION, "MCP-Protocol-Version": "2025-06-18"}, version="2025-11-25")
    right = call(2, headers=SESSION, version="2025-11-25")
    reply = answer(result(2, None, content=[]))
    [finding] = fired(traffic(*handshake(), exchange(wrong, reply)), "HDR")
    assert (finding.rule, finding.severity, finding.blame) == ("HDR-002", "warning", "client")
    assert ids(traffic(*handshake(), exchange(right, reply)), "HDR") == []


def test_a_method_header_must_be_there_and_be_the_method():
    assert judged(call(headers={"Mcp-Method": ...})) == ["HDR-003"]
    assert judged(call(headers={"Mcp-Method": "TOOLS/CALL"})) == ["HDR-004"]
    assert judged(call(headers={"Mcp-Method": ["tools/call", "tools/list"]})) == ["HDR-004"]
    assert judged(call(headers={"Mcp-Method": encoded("tools/call")})) == ["HDR-004"]
    assert judged(call(headers={"Mcp-Method": " tools/call "}), answer(RESULT)) == []


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "t", "arguments": {}}),
        ("prompts/get", {"name": "p"}),
        ("resources/read", {"uri": "file:///a"}),
    ],
)
def test_three_methods_need_a_name_header(method, params):
    request = ask(method, **params)
    del request["headers"]["Mcp-Name"]
    assert judged(request) == ["HDR-005"]


def test_a_retry_needs_its_name_header_as_well():
    retry = call(headers={"Mcp-Name": ...}, inputResponses={}, requestState="s")
    assert "HDR-005" in judged(retry)


def test_no_name_header_is_needed_where_there_is_nothing_to_name():
    assert judged(ask("tools/list"), answer(result(1))) == []
    odd = ask("tools/list")
    odd["headers"]["Mcp-Name"] = "whatever"
    assert judged(odd, answer(result(1))) == []
    assert judged(post(message("tools/call", arguments={}))) == []


def test_a_name_header_that_differs_is_found_after_decoding():
    assert judged(call(name="a", headers={"Mcp-Name": "b"})) == ["HDR-006"]
    assert judged(call(name="a", headers={"Mcp-Name": encoded("b")})) == ["HDR-006"]
    assert judged(call(name="a", headers={"Mcp-Name": encoded("a")}), answer(RESULT)) == []
    assert judged(call(name="a", headers={"Mcp-Name": "A"})) == ["HDR-006"]


@pytest.mark.parametrize(
    "name", ["погода", " padded ", "tail\t", "a\tb", "a\nb", "=?base64?YQ==?="]
)
def test_an_unsafe_name_must_be_encoded(name):
    plain = call(name=name, headers={"Mcp-Name": "plain"})
    assert judged(plain) == ["HDR-007"]
    assert judged(call(name=name, headers={"Mcp-Name": encoded(name)}), answer(RESULT)) == []


@pytest.mark.parametrize("name", ["get weather", "a  b~", "=?base64?open", "what?=", "=?x?=", ""])
def test_a_safe_name_may_travel_as_it_is(name):
    assert judged(call(name=name, headers={"Mcp-Name": name}), answer(RESULT)) == []


def test_a_tab_within_is_let_pass_where_it_arrives_as_it_was():
    assert judged(call(name="a\tb", headers={"Mcp-Name": "a\tb"}), answer(RESULT)) == []
    assert judged(call(name="a\tb", headers={"Mcp-Name": "a b"})) == ["HDR-007"]
    assert judged(call(name="\ta\té", headers={"Mcp-Name": "a\té"})) == ["HDR-007"]


def test_a_name_that_looks_encoded_and_travels_plainly_is_one_fault():
    name = "=?base64?literal?="
    assert judged(call(name=name, headers={"Mcp-Name": name})) == ["HDR-007"]


@pytest.mark.parametrize(
    "header",
    [
        "=?BASE64?0L8=?=",
        "=?base64?0L8=",
        "=?base64?0L8?=",
        "=?base64?**?=",
        "=?base64?/w==?=",
        "=?base64?=",
        "=?Base64?",
    ],
)
def test_a_damaged_base64_form_is_found_and_nothing_else(header):
    assert judged(call(name="п", headers={"Mcp-Name": header})) == ["HDR-008"]
    assert judged(call(name="plain", headers={"Mcp-Name": header})) == ["HDR-008"]


def test_a_damaged_parameter_header_is_found_without_a_definition():
    damaged = call(headers={"Mcp-Param-Text": "=?BASE64?YQ==?="})
    assert judged(damaged) == ["HDR-008"]
    literal = {"text": "=?BASE64?YQ==?="}
    same = call(arguments=literal, headers={"Mcp-Param-Text": "=?BASE64?YQ==?="})
    assert judged(same, answer(RESULT)) == []


def test_older_requests_are_not_judged():
    old = call(2, headers={**SESSION, "Mcp-Name": "other"}, version="2025-11-25")
    reply = answer(result(2, None, content=[]))
    assert ids(traffic(*handshake(), exchange(old, reply)), "HDR") == []


def test_a_finding_names_header_and_place():
    [finding] = fired(
        traffic(exchange(call(name="a", headers={"Mcp-Name": "b"}), REFUSED)), "HDR-006"
    )
    assert (finding.spot, finding.path, finding.target) == ("Mcp-Name", "/params/name", "a")
