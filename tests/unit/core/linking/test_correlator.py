from __future__ import annotations

import gc

from mcp_tap.core.linking import correlator
from mcp_tap.core.model import Call
from mcp_tap.core.records import Decision, Footer, Gap, HttpRequest, Noise, Sse
from tests.talk import Talk, accept, call, in_session, old_call


def test_a_post_is_reported_with_its_message_and_everything_else_at_once():
    talk = Talk()
    n = talk.open("POST")
    assert talk.last == []
    talk.close(n)
    assert [e.number for e in talk.last] == [n]
    for verb in ("GET", "DELETE", "OPTIONS", "HEAD"):
        n = talk.open(verb, path="/.well-known/x")
        assert [e.number for e in talk.last] == [n]
        talk.head(n, 404)
        talk.close(n)
        exchange = talk.loose[n]
        assert (exchange.verb, exchange.status, exchange.how) == (verb, 404, "complete")
        assert exchange.kind == "http"


def test_an_exchange_keeps_what_its_records_say():
    talk = Talk()
    n = talk.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
    talk.head(n, 202, Content_Type="text/plain")
    talk.close(n, sent=0.5, first_byte=0.6, held=0.1, why="x")
    exchange = talk.loose[n]
    assert (exchange.status, exchange.content_type) == (202, "text/plain")
    assert (exchange.sent, exchange.first_byte, exchange.held) == (0.5, 0.6, 0.1)
    assert (exchange.end, exchange.why, exchange.conn) == (talk.t, "x", n)
    assert exchange.size == len('{"jsonrpc":"2.0","method":"notifications/initialized"}')


def test_interim_heads_and_replaced_records_are_looked_through():
    talk = Talk()
    n = talk.post(call(1))
    talk.head(n, 100)
    assert talk.the_call().rounds[0].status is None
    talk.feed(
        HttpRequest,
        exchange=n,
        conn=1,
        peer="x",
        method="POST",
        path="/other",
        headers=[],
        leg="upstream",
        replaces=1,
    )
    talk.say(n, "client", call(2), replaces=2, leg="upstream")
    talk.result(n)
    assert talk.the_call().outcome == "ok"
    assert len(talk.calls) == 1


def test_records_it_has_no_use_for_change_nothing():
    talk = Talk()
    talk.feed(Gap, lost=3, why="disk full")
    talk.feed(Decision, hook="guard", verdict="refuse", why="x")
    talk.feed(Footer, exchanges=0)
    assert talk.last == []


def test_messages_of_an_exchange_whose_beginning_was_lost_make_one_up():
    talk = Talk()
    talk.say(41, "client", call(1))
    talk.say(41, "server", {"jsonrpc": "2.0", "id": 1, "result": {}})
    assert talk.the_call().outcome == "ok"
    talk.close(41)
    talk.say(42, "server", {"jsonrpc": "2.0", "id": 1, "result": {}})
    assert 42 in talk.loose
    talk.close(99)


def test_an_event_id_on_an_empty_event_counts_for_resuming():
    talk = Talk()
    talk.session()
    n = talk.post(old_call(1), in_session())
    talk.feed(Noise, exchange=n, sender="server", sse=Sse(id="63"))
    talk.close(n)
    get = talk.open("GET", in_session(**{"Last-Event-ID": "63"}))
    talk.event(get, {"jsonrpc": "2.0", "id": 1, "result": {}})
    assert talk.calls[2].outcome == "ok"


def test_open_exchanges_are_bounded_and_what_leaves_is_counted(monkeypatch):
    monkeypatch.setattr(correlator, "MOST_LIVE", 10)
    talk = Talk()
    for n in range(25):
        talk.post(call(n))
    assert talk.pipeline.retired == 15


def test_an_ended_call_is_let_go_without_the_collectors_help():
    def alive():
        return sum(isinstance(found, Call) for found in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        before = alive()
        talk = Talk()
        talk.ask(talk.post(call(1)), "q", state="s")
        talk.result(talk.post(call(2, inputResponses=accept("q"), requestState="s")))
        talk.session()
        n = talk.post(old_call(1), in_session())
        talk.event(n, {"jsonrpc": "2.0", "id": 1, "result": {}})
        talk.close(n)
        assert alive() == before + 3
        talk.calls.clear()
        talk.last.clear()
        assert alive() == before
    finally:
        gc.enable()
