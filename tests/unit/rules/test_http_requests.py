from __future__ import annotations

import pytest

from mcp_tap.core.finding import Finding
from mcp_tap.core.records import Closed, Digest
from mcp_tap.core.wire import UNPARSED
from mcp_tap.pipeline.spine import Pipeline
from mcp_tap.testing import records_of
from tests.cases import (
    RESULT,
    SESSION,
    answer,
    ask,
    call,
    exchange,
    fired,
    handshake,
    ids,
    note,
    post,
    result,
    stream,
    stream_raw,
    traffic,
)


def bare(method: str, headers: dict[str, str], path: str = "/mcp"):
    return exchange({"method": method, "path": path, "headers": headers}, answer(status=405))


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_only_post_is_left_for_modern_clients(method):
    case = traffic(bare(method, {"MCP-Protocol-Version": "2026-07-28"}))
    assert ids(case, "HTTP") == ["HTTP-001"]


def test_other_verbs_paths_and_revisions_are_not_judged():
    modern = {"MCP-Protocol-Version": "2026-07-28"}
    assert ids(traffic(bare("OPTIONS", modern)), "HTTP") == []
    assert ids(traffic(bare("GET", {})), "HTTP") == []
    assert ids(traffic(bare("GET", {"MCP-Protocol-Version": "2025-11-25"})), "HTTP") == []
    assert ids(traffic(bare("GET", modern, "/.well-known/x")), "HTTP") == []


@pytest.mark.parametrize(
    ("accept", "found"),
    [
        ("application/json, text/event-stream", False),
        ("text/event-stream, application/json;q=0.1", False),
        ("Application/JSON , TEXT/event-stream;charset=utf-8", False),
        ("*/*", False),
        ("application/*, text/*", False),
        ("text/html, */*;q=0.8", False),
        (["application/json", "text/event-stream"], False),
        ("application/json", True),
        ("text/event-stream", True),
        ("application/json, text/event-stream;q=0", True),
        ("application/json, text/event-stream; q=0.000, */*", True),
        ("*/*;q=0", True),
        ("", True),
        ("application/jsonx, text/event-streams", True),
        (..., True),
    ],
)
def test_both_media_types_must_be_accepted(accept, found):
    case = traffic(exchange(call(headers={"Accept": accept}), answer(RESULT)))
    assert ids(case, "HTTP") == ["HTTP-002"] * found


def test_accept_counts_for_notifications_and_older_sessions_as_well():
    tick = post(note("vendor.example/tick"), {"Accept": "application/json"})
    assert ids(traffic(exchange(tick, answer(status=202))), "HTTP") == ["HTTP-002"]
    old = call(2, headers={**SESSION, "Accept": "application/json"}, version="2025-11-25")
    reply = answer(result(2, None, content=[]))
    assert ids(traffic(*handshake(), exchange(old, reply)), "HTTP") == ["HTTP-002"]


def found(case):
    return [(f.rule, f.severity, f.blame) for f in fired(case, "HTTP-007")]


SERVER = [("HTTP-007", "warning", "server")]
CLIENT = [("HTTP-007", "warning", "client")]


def test_sessions_and_resumption_are_gone():
    minted = answer(RESULT, **{"Mcp-Session-Id": "s"})
    assert found(traffic(exchange(call(), minted))) == SERVER
    sent = call(headers={"mcp-session-id": "s"})
    assert found(traffic(exchange(sent, answer(RESULT)))) == CLIENT
    resumed = call(headers={"Last-Event-ID": "4"})
    assert found(traffic(exchange(resumed, answer(RESULT)))) == CLIENT


EVENT = 'data: {"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete", "content": []}}\n\n'


@pytest.mark.parametrize(
    "text",
    ["id: 7\n" + EVENT, "retry: 10\n" + EVENT, "id: 1\ndata:\n\n" + EVENT, "retry: 5\n\n" + EVENT],
)
def test_events_must_not_be_numbered(text):
    assert found(traffic(exchange(call(), stream_raw(text)))) == SERVER


def test_plain_events_and_comments_are_fine():
    assert found(traffic(exchange(call(), stream_raw(": hello\n\nevent: message\n" + EVENT)))) == []


def test_a_stale_session_header_is_a_note_where_sessions_are_served():
    sent = call(9, headers=SESSION)
    case = traffic(*handshake(), exchange(sent, answer(result(9, content=[]))))
    assert found(case) == [("HTTP-007", "note", "client")]


def test_a_server_may_take_a_request_without_version_for_an_old_one():
    sent = call(headers={"MCP-Protocol-Version": ...})
    assert found(traffic(exchange(sent, answer(RESULT, **{"Mcp-Session-Id": "s"})))) == []


def lost(number=5, **more):
    return exchange(call(number, **more), stream(closed_by="network"), (0, 1))


def again(number=5, t=(10, 11), **more):
    return exchange(call(number, **more), answer(result(number, content=[])), t)


def reissued(*exchanges):
    return [(f.rule, f.severity) for f in fired(traffic(*exchanges), "HTTP-009")]


def test_a_lost_request_must_not_come_again_with_its_id():
    assert reissued(lost(), again()) == [("HTTP-009", "warning")]
    ended = exchange(call(5), stream(), (0, 1))
    assert reissued(ended, again()) == [("HTTP-009", "warning")]
    named = exchange(call("a"), stream(closed_by="network"), (0, 1))
    assert reissued(named, again("a")) == [("HTTP-009", "warning")]


def test_another_id_another_request_or_an_answer_make_it_fine():
    assert reissued(lost(), again(6)) == []
    assert reissued(lost(), again(5, name="other")) == []
    assert reissued(lost(), again(5, arguments={"count": 4})) == []
    assert reissued(again(5, (0, 1)), again()) == []
    refused = exchange(call(5), answer(status=401), (0, 1))
    assert reissued(refused, again()) == []
    cancelled = exchange(call(5), stream(closed_by="client"), (0, 1))
    assert reissued(cancelled, again()) == []


def test_the_same_id_after_a_new_start_is_fine():
    begin = exchange(ask("server/discover", 1), answer(result(1)), (5, 6))
    assert reissued(lost(), begin, again()) == []
    earlier = exchange(call(2), answer(result(2, content=[])), (5, 6))
    assert reissued(lost(), earlier, again()) == []


def test_what_a_library_sends_again_by_itself_is_a_note():
    def severities(t):
        head, message, *rest = records_of(traffic(exchange(call(5), None, (0, 1)), again(5, t)))[1:]
        nothing = Digest(bytes=0, sha256="")
        cut = Closed(
            seq=3, t=1.0, exchange=1, how="upstream_cut", request=nothing, response=nothing
        )
        pipeline = Pipeline()
        for record, value in (head, message, (cut, UNPARSED), *rest):
            yield from (
                change.severity
                for change in pipeline.feed(record, value)
                if isinstance(change, Finding) and change.rule == "HTTP-009"
            )

    assert list(severities((1.2, 2))) == ["note"]
    assert list(severities((9, 10))) == ["warning"]
