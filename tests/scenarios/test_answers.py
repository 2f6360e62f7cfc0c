"""Rounds answered by the tap: what passes on both wires, and what is recorded of it."""

from __future__ import annotations

import json

import pytest

from mcp_tap.core import spec
from mcp_tap.core.model import Call
from mcp_tap.core.records import HttpRequest, HttpResponse, Message
from tests.asking import (
    STATE,
    Server,
    answering,
    call,
    day,
    done,
    request,
    result,
    seat,
)
from tests.rig import PONG, always, ok, post, tapped


async def test_a_client_that_declares_nothing_completes_two_rounds(tmp_path):
    server = Server(day, seat, done)
    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        await rig.stop()
        assert response.status == 200
        assert response.json == json.loads(result(7))
        first, second, third = (m.json for m in server.got)
        assert first["id"] == 7
        assert len({first["id"], second["id"], third["id"]}) == 3
        declared = first["params"]["_meta"][spec.CLIENT_CAPABILITIES]
        assert declared == {"elicitation": {"form": {}}}
        assert STATE.encode() in server.got[1].body
        assert second["params"]["inputResponses"] == {
            "day": {"action": "accept", "content": {"day": "tue"}}
        }
        assert third["params"]["requestState"] == "two"
        assert third["params"]["inputResponses"]["seat"]["content"] == {"seat": "4A"}
        (found,) = rig.view.calls.values()
        assert isinstance(found, Call)
        assert found.outcome == "ok"
        assert [r.by_tap for r in found.rounds] == [False, True, True]
        assert [a.answered_by for r in found.rounds for a in r.asks] == ["tap", "tap"]
        assert [a.entry for r in found.rounds for a in r.asks] == ["the day", "the seat"]
        assert [r.link for r in found.rounds] == ["none", "state", "state"]
        assert [(f.rule, f.severity) for f in rig.view.findings if f.severity != "note"] == []


async def test_the_capture_holds_what_each_side_sent_and_got(tmp_path):
    async with tapped(Server(day, done), tmp_path, answering=answering()) as rig:
        await rig.ask(call())
        await rig.stop()
        asked, sent = rig.of(1, Message)[:2]
        assert (asked.sender, asked.leg, asked.replaces) == ("client", None, None)
        assert asked.payload() == request()
        assert (sent.sender, sent.leg, sent.replaces) == ("tap", "upstream", asked.seq)
        kept, final = rig.of(1, Message)[2:]
        assert (kept.sender, kept.leg, kept.replaces) == ("server", "upstream", None)
        head, told = rig.of(1, HttpResponse)
        assert (head.leg, told.leg) == ("upstream", "client")
        again, came = rig.of(2, Message)
        assert (again.sender, again.leg, again.replaces) == ("tap", "upstream", None)
        assert (came.sender, came.leg) == ("server", "upstream")
        assert (final.leg, final.replaces) == ("client", came.seq)
        assert told.replaces == rig.of(2, HttpResponse)[0].seq
        (line,) = rig.of(2, HttpRequest)
        assert (line.conn, line.leg) == (0, "upstream")
        (decision,) = rig.decisions()
        assert (decision.hook, decision.verdict) == ("answers", "answered")
        assert (decision.entry, decision.key, decision.exchange) == ("the day", "day", 1)
        assert {(c.exchange, c.how) for c in rig.closed()} == {(1, "complete"), (2, "complete")}


async def test_a_repeat_differs_from_the_request_in_three_members_only(tmp_path):
    server = Server(day, done)
    async with tapped(server, tmp_path, answering=answering()) as rig:
        await rig.ask(call())
    first, again = (m.body for m in server.got)
    answer = b'"inputResponses":{"day":{"action":"accept","content":{"day":"tue"}}}'
    added = b"," + answer + b',"requestState":' + STATE.encode()
    at = first.rindex(b"}}")
    wanted = first[:at] + added + first[at:]
    assert again == wanted.replace(b'"id" : 7', b'"id" : "mcp-tap-1"')
    fields = [m.fields for m in server.got]
    assert [f for f in fields[1] if f[0] != b"Content-Length"] == [
        f for f in fields[0] if f[0] != b"Content-Length"
    ]


async def test_the_result_comes_as_the_server_wrote_it_but_for_the_id(tmp_path):
    last = (
        b'{ "result" : {"resultType":"complete","n":1.50,"t":"\\u00e9"} ,"id":%b,"jsonrpc":"2.0"}'
    )

    def odd(number):
        return ok(last % json.dumps(number).encode(), b"X-Trace: abc", status=b"200 Fine")

    async with tapped(Server(day, odd), tmp_path, answering=answering()) as rig:
        response = await rig.ask(call(number=12345678901234567890))
        assert response.start == b"HTTP/1.1 200 Fine"
        assert response.get(b"x-trace") == b"abc"
        assert response.body == last % b"12345678901234567890"


async def test_the_status_of_the_last_repeat_is_the_clients(tmp_path):
    def refuses(number):
        error = {"code": -32602, "message": "no such seat"}
        body = {"jsonrpc": "2.0", "id": number, "error": error}
        return ok(json.dumps(body).encode(), status=b"400 Bad Request")

    async with tapped(Server(day, refuses), tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert response.status == 400
        assert response.json["id"] == 7
        assert response.json["error"]["code"] == -32602


async def test_what_is_no_message_passes_as_it_is(tmp_path):
    page = b"<h1>gone</h1>"
    reply = b"HTTP/1.1 503 Away\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n" + page
    async with tapped(Server(day, lambda _: reply), tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert (response.status, response.body) == (503, page)
        assert response.get(b"mcp-tap-error") is None


async def test_calls_without_asks_pass_byte_for_byte(tmp_path):
    declared = {"elicitation": {"form": {}}}
    async with tapped(always(ok()), tmp_path, answering=answering()) as rig:
        plain = await rig.ask(call(capabilities=declared))
        assert plain.body == PONG
        await rig.ask(post())
        await rig.stop()
        assert request(capabilities=declared) in rig.upstream.received
        assert [m.leg for m in rig.messages()] == [None] * 4


async def test_what_the_client_declares_is_added_to_and_nothing_else(tmp_path):
    script = """
version = 1
[[answer]]
match = { mode = "url" }
action = "accept"
[[answer]]
match = { ask = "roots" }
roots = [{ uri = "file:///srv" }]
"""
    server = Server(done)
    async with tapped(server, tmp_path, answering=answering(script)) as rig:
        await rig.ask(call(capabilities={"elicitation": {}, "sampling": {"tools": {}}}))
    declared = server.got[0].json["params"]["_meta"][spec.CLIENT_CAPABILITIES]
    assert declared == {
        "elicitation": {"form": {}, "url": {}},
        "sampling": {"tools": {}},
        "roots": {},
    }


async def test_nothing_is_declared_where_advertise_is_empty(tmp_path):
    server = Server(day, done)
    async with tapped(server, tmp_path, answering=answering(advertise=frozenset())) as rig:
        response = await rig.ask(call())
        assert response.json["id"] == 7
    assert server.got[0].body == request()


async def test_a_round_with_a_state_alone_is_repeated_with_it_alone(tmp_path):
    def later(number):
        body = {"resultType": "input_required", "requestState": "wait"}
        return ok(json.dumps({"jsonrpc": "2.0", "id": number, "result": body}).encode())

    server = Server(later, later, day, done)
    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert response.json == json.loads(result(7))
        await rig.stop()
        (found,) = rig.view.calls.values()
        assert found.client_s == 0
        assert found.tap_s > 0.1
        assert found.duration() == pytest.approx(found.server_s + found.tap_s, abs=1e-5)
    params = [m.json["params"] for m in server.got]
    assert [p.get("requestState") for p in params] == [None, "wait", "wait", json.loads(STATE)]
    assert ["inputResponses" in p for p in params] == [False, False, False, True]


async def test_a_clients_own_retry_is_answered_further(tmp_path):
    server = Server(seat, done)
    mine = {"day": {"action": "accept", "content": {"day": "mon"}}}
    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(call(request(inputResponses=mine, requestState="one")))
        assert response.json["id"] == 7
    first, again = (m.json["params"] for m in server.got)
    assert (first["requestState"], first["inputResponses"]) == ("one", mine)
    assert again["requestState"] == "two"
    assert set(again["inputResponses"]) == {"seat"}


async def test_secrets_of_the_environment_go_upstream_and_not_into_the_capture(tmp_path):
    script = """
version = 1
[[answer]]
match = { key = "day" }
content = { day = { env = "DAY" } }
"""
    server = Server(day, done)
    helper = answering(script, env={"DAY": "s3cret-word"})
    async with tapped(server, tmp_path, answering=helper) as rig:
        await rig.ask(call())
        await rig.stop()
        assert b"s3cret-word" not in rig.capture_bytes()
        (again,) = rig.of(2, Message)[:1]
        assert [m.at for m in again.masked] == ["/body/params/inputResponses/day/content/day"]
    assert server.got[1].json["params"]["inputResponses"]["day"]["content"] == {
        "day": "s3cret-word"
    }


async def test_a_chunked_request_is_repeated_too(tmp_path):
    body = request()
    head = call(body).partition(b"\r\n\r\n")[0]
    lines = [x for x in head.split(b"\r\n") if not x.startswith(b"Content-Length")]
    head = b"\r\n".join([*lines, b"Transfer-Encoding: chunked"]) + b"\r\n\r\n"
    server = Server(day, done)
    async with tapped(server, tmp_path, answering=answering()) as rig:
        wire = await rig.client()
        await wire.send(head, b"10\r\n" + body[:16] + b"\r\n")
        await wire.send(b"%x\r\n%b\r\n0\r\n\r\n" % (len(body) - 16, body[16:]))
        response = await wire.message()
        assert response.json["id"] == 7
    assert server.got[0].json["params"]["_meta"][spec.CLIENT_CAPABILITIES] != {}
    assert "inputResponses" in server.got[1].json["params"]


async def test_calls_on_one_connection_are_answered_in_order(tmp_path):
    server = Server(day, done, done, day, done)
    async with tapped(server, tmp_path, answering=answering()) as rig:
        wire = await rig.client()
        await wire.send(call(number=1), call(number=2), call(number=3))
        got = [(await wire.message()).json["id"] for _ in range(3)]
        assert got == [1, 2, 3]


async def test_rules_judge_what_the_tap_wrote_and_blame_it(tmp_path):
    script = """
version = 1
[[answer]]
match = { key = "day" }
content = { day = 5 }
check = false
"""
    async with tapped(Server(day, done), tmp_path, answering=answering(script)) as rig:
        await rig.ask(call())
        await rig.stop()
        errors = [f for f in rig.view.findings if f.severity == "error"]
        assert {f.blame for f in errors} == {"tap"}
        assert {f.exchange for f in errors} == {2}


async def test_the_client_is_blamed_for_what_the_tap_had_to_copy(tmp_path):
    body = request().replace(b'"jsonrpc" : "2.0", ', b"")
    async with tapped(Server(day, done), tmp_path, answering=answering()) as rig:
        await rig.ask(call(body))
        await rig.stop()
        faults = {(f.blame, f.exchange) for f in rig.view.findings if f.rule.startswith("RPC")}
        assert faults == {("client", 1), ("client", 2)}
