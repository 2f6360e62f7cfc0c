import pytest

from mcp_tap.core.facts.flow import Flow
from mcp_tap.core.facts.message import Message, is_masked
from mcp_tap.core.facts.seen import Run
from mcp_tap.core.model import Exchange
from mcp_tap.core.records import Message as Record
from mcp_tap.core.wire import UNPARSED


def made(value, sender="client") -> Message:
    flow = Flow(Exchange(number=1, t=0.0), Run().client("a", 0.0), http=True, upstream="http://x")
    return Message(Record(seq=3, t=1.5, sender=sender, text=""), value, flow)


@pytest.mark.parametrize(
    ("value", "client", "server"),
    [
        ({"method": "a", "id": 1}, "request", "server_request"),
        ({"method": "a", "id": None}, "request", "server_request"),
        ({"method": "a"}, "notification", "server_notification"),
        ({"id": 1, "result": {}}, "client_response", "result"),
        ({"id": 1, "error": {}}, "client_response", "error"),
        ({"id": 1, "error": {}, "result": {}}, "client_response", "error"),
        ({"id": 1}, "malformed", "malformed"),
        ({"method": 5, "id": 1}, "malformed", "malformed"),
        ([], "malformed", "malformed"),
        (UNPARSED, "malformed", "malformed"),
        (None, "malformed", "malformed"),
    ],
)
def test_a_message_is_sorted_by_its_members_and_its_sender(value, client, server):
    assert made(value).event == client
    assert made(value, "server").event == server


@pytest.mark.parametrize("params", [None, [], "x", 5, True])
def test_parts_that_are_no_objects_read_as_empty(params):
    message = made({"method": "a", "id": 1, "params": params})
    assert message.params == {}
    assert message.meta == {}
    assert made({"method": "a", "id": 1, "params": {"_meta": params}}).meta == {}
    assert made({"id": 1, "result": params}, "server").result is None


def test_a_response_has_the_method_it_answers():
    request = made({"method": "tools/list", "id": 1})
    request.flow.request = request
    record = Record(seq=4, t=2.0, sender="server", text="")
    answer = Message(record, {"id": 1, "result": {"_meta": {"a": 1}}}, request.flow)
    assert answer.method == "tools/list"
    assert answer.request is request
    assert answer.meta == {"a": 1}


def test_masked_values_are_told_from_others():
    assert is_masked("Bearer mcp-tap:0123456789abcdef")
    assert not is_masked("Bearer abc")
    assert not is_masked(5)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ({"code": -32601}, -32601),
        ({"code": -32601.0}, -32601),
        ({"code": -32601.5}, None),
        ({"code": True}, None),
        ({"code": "-32601"}, None),
        ({}, None),
        ("no", None),
        (None, None),
    ],
)
def test_the_code_of_an_error_is_a_whole_number_or_none(error, code):
    assert made({"jsonrpc": "2.0", "id": 1, "error": error}, "server").code == code
