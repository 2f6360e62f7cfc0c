"""What payload bytes mean, and which carrier keeps them unharmed."""

from __future__ import annotations

import pytest
from msgspec import Raw

from mcp_tap.core.records import Message, decode, encode
from mcp_tap.core.wire import LARGE, UNPARSED, carrier, dumps, loads, value_of

DEEP = b"[" * 100_000 + b"]" * 100_000
NESTED = b"[" * 3_000 + b"]" * 3_000


def there_and_back(payload: bytes) -> tuple[str, bytes]:
    """Give the carrier's name, and the payload as it comes out of a line of a capture."""
    fields, _ = carrier(payload)
    ((name, _),) = fields.items()
    line = encode(Message(seq=1, t=0.0, sender="client", **fields))
    assert b"\n" not in line
    record = decode(line)
    assert isinstance(record, Message)
    return name, record.payload()


@pytest.mark.parametrize(
    ("payload", "name"),
    [
        (b"{}", "body"),
        (b"null", "body"),
        (b'{"a": 1,  "a":2}', "body"),
        (b'{"big":123456789012345678901234567890}', "body"),
        (b'{"esc":"\\u00e9 \\/ \\n"}', "body"),
        ('{"raw":"é \u2028"}'.encode(), "body"),
        (b"1e5", "body"),
        (b" {}", "text"),
        (b"{}\n", "text"),
        (b"{\r\n}", "text"),
        (b'\xef\xbb\xbf{"bom":1}', "text"),
        (b'{"lone":"\\ud800"}', "text"),
        (b'{"n":1e400}', "text"),
        (b'{"n":NaN}', "text"),
        (b"{,}", "text"),
        (b"", "text"),
        (b"\x00\x1b[31m", "text"),
        (b'{"bad":"\xff"}', "b64"),
        (b'{"cut":"\xd0', "b64"),
        (b"\xed\xa0\x80", "b64"),
        (DEEP, "text"),
        (NESTED, "body"),
    ],
)
def test_every_payload_comes_out_of_a_line_as_it_went_in(payload, name):
    assert there_and_back(payload) == (name, payload)


@pytest.mark.parametrize(
    "payload", [b'{"a":1e400}', b"\xff", DEEP, b'"\\ud800"', b"{", b"", b"\xef\xbb\xbf1"]
)
def test_what_is_no_strict_json_has_no_value(payload):
    assert carrier(payload)[1] is UNPARSED


def test_integers_of_any_size_stay_exact():
    for number in (2**63, 2**64, 10**30, -(2**70)):
        assert loads(str(number).encode()) == number
        assert dumps(number) == str(number).encode()


def test_of_duplicate_keys_the_last_one_counts():
    assert loads(b'{"a":1,"a":2}') == {"a": 2}


def test_the_value_of_text_with_line_breaks_is_known_too():
    fields, value = carrier(b'{\n "a": 1\n}')
    assert value == {"a": 1}
    assert value_of(Message(seq=1, t=0.0, sender="client", **fields)) == value


def test_a_record_gives_the_value_of_its_carrier():
    def record(**fields):
        return Message(seq=1, t=0.0, sender="client", **fields)

    assert value_of(record(body=Raw(b'{"a":1}'))) == {"a": 1}
    assert value_of(record(text="[1]")) == [1]
    assert value_of(record(text="no")) is UNPARSED
    assert value_of(record(b64=b"{}")) is UNPARSED
    assert value_of(record()) is UNPARSED
    assert value_of(record(body=Raw(b"{}"), truncated=True)) is UNPARSED


def test_unparsed_says_what_it_is_and_counts_as_nothing():
    assert repr(UNPARSED) == "UNPARSED"
    assert not UNPARSED


def test_of_a_large_message_what_linking_needs_is_known_without_building_the_rest():
    state = "s" * 100
    content = [{} for _ in range(LARGE // 2)]
    asks = {"key": {"method": "roots/list"}}
    result = {"resultType": "input_required", "requestState": state, "inputRequests": asks}
    whole = {
        "jsonrpc": "2.0",
        "id": 2**70,
        "result": {**result, "content": content, "odd": content},
    }
    payload = dumps(whole)
    fields, value = carrier(payload)
    assert list(fields) == ["text"]
    known = {**whole, "result": {**result, "content": None}}
    assert value == known
    record = Message(seq=1, t=0.0, sender="server", **fields)
    assert (record.payload(), value_of(record)) == (payload, known)


@pytest.mark.parametrize(
    "payload",
    [
        b"[" + b"{}," * LARGE + b"{}]",
        b'{"id":' + b"[" * LARGE + b"]" * LARGE + b"}",
        b'{"id":1' * LARGE,
        b'"' + b"x" * LARGE + b'"',
        b"\xff" * (LARGE + 1),
    ],
)
def test_what_is_large_and_no_object_has_no_value(payload):
    fields, value = carrier(payload)
    assert value is UNPARSED
    assert Message(seq=1, t=0.0, sender="client", **fields).payload() == payload
