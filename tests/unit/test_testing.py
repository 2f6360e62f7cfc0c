"""Cases become records as traffic would, in one order of time, and are judged."""

from __future__ import annotations

from mcp_tap.core.finding import Finding
from mcp_tap.core.records import (
    Closed,
    Header,
    HttpRequest,
    HttpResponse,
    Message,
    Noise,
    Stderr,
)
from mcp_tap.core.wire import UNPARSED
from mcp_tap.testing import records_of, run_case
from tests.cases import RESULT, answer, call, error, exchange, line, note, stdio, stream, traffic


def kinds(case):
    return [(type(record), record.t) for record, _ in records_of(case)]


def test_a_plain_exchange_becomes_its_five_records():
    case = traffic(exchange(call(), answer(RESULT), t=(1.0, 2.0)))
    assert kinds(case) == [
        (Header, 0.0),
        (HttpRequest, 1.0),
        (Message, 1.0),
        (HttpResponse, 2.0),
        (Message, 2.0),
        (Closed, 2.0),
    ]
    assert [record.seq for record, _ in records_of(case)] == list(range(6))


def test_messages_of_a_stream_are_spread_evenly_the_last_one_at_the_end():
    progress = note("notifications/progress", progressToken=1, progress=1)
    case = traffic(exchange(call(), stream(progress, RESULT), t=(1.0, 3.0)))
    assert kinds(case)[3:] == [(HttpResponse, 1.0), (Message, 2.0), (Message, 3.0), (Closed, 3.0)]


def test_overlapping_exchanges_are_in_one_order_of_time():
    case = traffic(
        exchange(call(1), answer(RESULT), t=(0.0, 3.0)),
        exchange(call(2), answer(RESULT), t=(1.0, 2.0)),
    )
    records = [record for record, _ in records_of(case)]
    assert [r.seq for r in records] == list(range(11))
    assert [r.exchange for r in records[1:]] == [1, 1, 2, 2, 2, 2, 2, 1, 1, 1]


def test_an_open_stream_has_no_end():
    case = traffic(exchange(call(), stream(open=True)))
    assert [kind for kind, _ in kinds(case)] == [Header, HttpRequest, Message, HttpResponse]


def test_who_closed_it_is_told_apart():
    ends = {}
    for who in ("server", "client", "network"):
        reply = stream(RESULT) | {"closed_by": who}
        ends[who] = records_of(traffic(exchange(call(), reply)))[-1][0].how
    assert ends == {"server": "complete", "client": "client_gone", "network": "upstream_cut"}


def test_raw_text_stays_as_it_is():
    case = traffic(
        exchange(
            {"headers": {"Content-Type": "application/json"}, "body_raw": '{"a":,}'},
            {
                "status": 200,
                "headers": {"Content-Type": "text/event-stream"},
                "sse_raw": ": hi\n\n",
            },
        )
    )
    records = records_of(case)
    assert (records[2][0].text, records[2][1]) == ('{"a":,}', UNPARSED)
    assert isinstance(records[4][0], Noise)


def test_credentials_of_a_case_are_masked_as_the_tap_masks_them():
    request = call(headers={"Authorization": "Bearer secret-value"})
    head = records_of(traffic(exchange(request, answer(RESULT))))[1][0]
    assert "secret-value" not in str(head.headers)
    assert [mask.scheme for mask in head.masked] == ["Bearer"]


def test_fields_may_come_twice():
    request = {"headers": [["X-One", "1"], ["X-One", "2"]], "body": {}}
    head = records_of(traffic(exchange(request, answer(RESULT))))[1][0]
    assert head.headers[:2] == [("X-One", "1"), ("X-One", "2")]


def test_lines_become_messages_noise_and_standard_error():
    case = stdio(
        line("client", {"jsonrpc": "2.0", "id": 1, "method": "ping"}),
        line("server", "[]\r"),
        line("server", "  "),
        line("server", "hello"),
        line("server", '"text"'),
        line("server-stderr", '{"a": 1}', t=9.0),
    )
    records = [record for record, _ in records_of(case)]
    assert [type(r) for r in records] == [Header, Message, Message, Noise, Noise, Stderr]
    assert [r.seq for r in records] == list(range(6))
    assert [r.t for r in records] == [0.0, 0.0, 0.5, 1.5, 2.0, 9.0]
    assert [r.payload() for r in records[2:]] == [b"[]", b"hello", b'"text"', b'{"a": 1}']
    assert records[0].transport == "stdio"


def test_what_is_wrong_with_a_case_is_found():
    assert run_case(traffic(exchange(call(), answer(RESULT)))) == []
    (found,) = run_case(traffic(exchange(call(), answer(error(code=-32023)))))
    assert isinstance(found, Finding)
    assert (found.rule, found.exchange) == ("ERR-001", 1)
