from __future__ import annotations

import pytest

from tests.cases import (
    CAPABILITIES,
    MODERN,
    PREFIX,
    RESULT,
    TASKS,
    answer,
    ask,
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
    traffic,
)

CAPS, VERSION = PREFIX + "clientCapabilities", PREFIX + "protocolVersion"
OTHER = {**CAPABILITIES, "extensions": {"com.example/jobs": {}}}


def errors(body, status=400, request=None):
    return fired(traffic(exchange(request or call(), answer(body, status))), "ERR")


def old(body):
    request = call(1, version="2025-11-25")
    return fired(traffic(*handshake(), exchange(request, answer(body))), "ERR")


@pytest.mark.parametrize("code", [-32023, -32050, -32099, -32050.0])
def test_codes_of_the_specification_are_not_made_up(code):
    (found,) = errors(error(code=code))
    assert (found.rule, found.path) == ("ERR-001", "/error/code")
    assert not old(error(code=-32050))


@pytest.mark.parametrize("code", [-32700, -32600, -32603, -32769, -32800, -31999, -1, 0, 1001])
def test_codes_that_are_defined_or_free(code):
    assert not errors(error(code=code))


def test_an_extension_may_define_codes():
    assert not errors(error(code=-32050), request=call(caps=OTHER))
    assert [f.rule for f in errors(error(code=-32050), request=call(caps=TASKS))] == ["ERR-001"]


def test_a_code_with_a_rule_of_its_own_is_left_to_it():
    assert "ERR-001" not in [f.rule for f in errors(error(code=-32042))]


def test_the_old_code_of_a_missing_resource_is_found_in_the_stateless_era_only():
    (found,) = errors(error(code=-32002))
    assert found.rule == "ERR-002"
    assert not old(error(code=-32002))


@pytest.mark.parametrize("code", [-32000, -32019, -32100, -32699, -32768, -32605])
def test_codes_nobody_defined_are_noted(code):
    (found,) = errors(error(code=code))
    assert (found.rule, found.severity) == ("ERR-003", "note")


@pytest.mark.parametrize(("code", "today"), [(-32001, -32020), (-32003, -32021), (-32004, -32022)])
def test_codes_of_drafts_are_named(code, today):
    (found,) = errors(error(code=code))
    assert str(today) in found.message


@pytest.mark.parametrize(
    ("fault", "path"),
    [
        ("no", "/error"),
        (None, "/error"),
        ([], "/error"),
        ({"message": "x"}, "/error"),
        ({"code": "1", "message": "x"}, "/error/code"),
        ({"code": 1.5, "message": "x"}, "/error/code"),
        ({"code": True, "message": "x"}, "/error/code"),
        ({"code": None, "message": "x"}, "/error/code"),
        ({"code": 1}, "/error"),
        ({"code": 1, "message": 3}, "/error/message"),
    ],
)
def test_an_error_needs_a_code_and_a_message(fault, path):
    found = errors({"jsonrpc": "2.0", "id": 1, "error": fault})
    assert [(f.rule, f.path, f.blame) for f in found] == [("ERR-004", path, "server")]
    found = old({"jsonrpc": "2.0", "id": 1, "error": fault})
    assert [f.rule for f in found] == ["ERR-004"]


def test_an_error_of_a_client_is_the_clients_fault():
    reply = {"jsonrpc": "2.0", "id": 9, "error": {"code": "x", "message": "no"}}
    case = traffic(*handshake(), exchange(post(reply, version="2025-11-25"), answer(status=202)))
    (found,) = fired(case, "ERR")
    assert (found.rule, found.blame) == ("ERR-004", "client")


def test_a_whole_number_is_an_integer_and_data_may_be_anything():
    body = {"jsonrpc": "2.0", "id": 1, "error": {"code": 7.0, "message": "", "data": [None]}}
    assert not errors(body)


@pytest.mark.parametrize(
    ("code", "status", "fine"),
    [
        (-32601, 404, True),
        (-32601, 200, False),
        (-32601, 400, False),
        (-32020, 400, True),
        (-32020, 200, False),
        (-32602, 200, True),
        (-32602, 400, True),
        (-32603, 500, True),
        (-32603, 200, True),
    ],
)
def test_errors_of_the_protocol_have_a_status(code, status, fine):
    found = errors(error(code=code), status)
    assert [f.rule for f in found] == ([] if fine else ["ERR-005"])


def test_a_request_without_its_meta_is_refused_with_400():
    lacking = call(meta={CAPS: ...})
    assert not errors(error(code=-32602), 400, lacking)
    assert [f.rule for f in errors(error(code=-32602), 200, lacking)] == ["ERR-005"]


def test_the_status_of_a_stream_was_sent_before_its_error():
    said = note("notifications/message", level="info", data=1)
    assert not ids(traffic(exchange(call(), stream(said, error(code=-32601)))), "ERR")
    assert ids(traffic(exchange(call(), stream(error(code=-32601)))), "ERR") == ["ERR-005"]


@pytest.mark.parametrize(
    ("data", "severity"),
    [
        ({}, "error"),
        ({"requiredCapabilities": []}, "error"),
        ({"requiredCapabilities": {}}, "error"),
        ({"requiredCapabilities": {"sampling": {}}}, None),
        ({"requiredCapabilities": {"elicitation": {"url": {}}}}, "warning"),
        ({"requiredCapabilities": {"elicitation": {}}}, "warning"),
        ({"requiredCapabilities": {"elicitation": {"voice": {}}}}, None),
        ({"requiredCapabilities": {"extensions": {PREFIX + "tasks": {}}}}, None),
    ],
)
def test_missing_capabilities_are_listed(data, severity):
    found = errors(error(code=-32021, **data))
    assert [f.severity for f in found] == ([] if severity is None else [severity])
    assert {f.rule for f in found} <= {"ERR-006"}


def test_an_elicitation_without_a_mode_is_one_by_form():
    def required(capabilities, declared):
        data = {"requiredCapabilities": {"elicitation": capabilities}}
        return errors(error(code=-32021, **data), request=call(caps={"elicitation": declared}))

    assert required({"form": {}}, {})
    assert required({}, {"form": {}})
    assert not required({"url": {}}, {})
    assert not required({}, {"url": {}})


@pytest.mark.parametrize(
    ("data", "severity"),
    [
        ({"supported": ["2025-11-25"], "requested": MODERN}, None),
        ({"supported": [], "requested": MODERN}, None),
        ({"requested": MODERN}, "error"),
        ({"supported": "2025-11-25", "requested": MODERN}, "error"),
        ({"supported": [3], "requested": MODERN}, "error"),
        ({"supported": ["2025-11-25"]}, "error"),
        ({"supported": ["2025-11-25"], "requested": 3}, "error"),
        ({"supported": ["2025-11-25"], "requested": "2025-11-25"}, "warning"),
        ({"supported": [MODERN], "requested": MODERN}, "warning"),
    ],
)
def test_supported_revisions_are_listed(data, severity):
    found = errors(error(code=-32022, **data))
    assert [f.severity for f in found] == ([] if severity is None else [severity])


@pytest.mark.parametrize("version", [{}, [], 3])
def test_a_declared_revision_that_is_no_string_can_be_compared_as_well(version):
    refusal = error(code=-32022, supported=[], requested="2027-01-01")
    (found,) = errors(refusal, request=call(meta={VERSION: version}))
    assert (found.rule, found.severity) == ("ERR-006", "warning")


def test_typed_errors_need_data():
    (found,) = errors(error(code=-32022))
    assert (found.rule, found.spot) == ("ERR-006", "data")


def test_a_request_that_lacks_its_meta_is_not_served():
    lacking = call(meta={CAPS: ...})
    (found,) = fired(traffic(exchange(lacking, answer(RESULT))), "ERR")
    assert (found.rule, found.severity, found.blame) == ("ERR-007", "error", "server")
    case = stdio(
        line("client", message("vendor/x", 1, meta={CAPS: ...})), line("server", result(1))
    )
    assert ids(case, "ERR") == ["ERR-007"]
    bare = post({"jsonrpc": "2.0", "id": 1, "method": "vendor/x"})
    assert ids(traffic(exchange(bare, answer(result(1)))), "ERR") == ["ERR-007"]


@pytest.mark.parametrize(
    ("code", "severity"), [(-32602, None), (-32601, None), (-32600, "warning"), (4711, "warning")]
)
def test_it_is_refused_with_the_right_code(code, severity):
    status = 404 if code == -32601 else 400
    found = errors(error(code=code), status, call(meta={CAPS: ...}))
    assert [f.severity for f in found] == ([] if severity is None else [severity])


def test_a_wrong_header_may_be_said_first():
    known = {"supported": ["2025-11-25"], "requested": MODERN}
    assert not errors(error(code=-32020), 400, call(meta={VERSION: ...}))
    assert not errors(error(code=-32022, **known), 400, call(meta={CAPS: ...}))
    found = errors(error(code=-32020), 400, call(meta={CAPS: ...}))
    assert [(f.rule, f.severity) for f in found] == [("ERR-007", "warning")]


def test_what_is_no_request_may_be_refused_as_such():
    broken = message("vendor/x") | {"params": [1]}
    assert not errors(error(code=-32600), 400, post(broken))
    found = errors(error(code=-32603), 400, post(broken))
    assert [(f.rule, f.severity) for f in found] == [("ERR-007", "warning")]


def test_a_request_with_all_it_needs_may_be_answered_with_anything():
    assert not errors(error(code=-32600), 400, ask("vendor/x"))
    odd = ask("vendor/x", meta={VERSION: 3})
    assert not ids(traffic(exchange(odd, answer(result(1)))), "ERR-007")
