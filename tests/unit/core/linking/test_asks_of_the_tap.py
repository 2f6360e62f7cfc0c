"""Pushed asks that the tap answers: withheld from the client, decided of, answered upstream."""

from __future__ import annotations

from mcp_tap.core.records import Decision, Sse
from tests.talk import Talk, done, in_session, old_call, pushed


def began(talk):
    n = talk.post(old_call(1), in_session("s1"))
    talk.head(n, Content_Type="text/event-stream")
    return n


def withheld(talk, exchange, key, event_id=None):
    sse = Sse(id=event_id)
    talk.say(exchange, "server", pushed(key), sse=sse, leg="upstream")


def decided(talk, exchange, key, entry, verdict="answered"):
    facts = {"hook": "answers", "verdict": verdict, "why": "", "entry": entry, "key": key}
    talk.feed(Decision, exchange=exchange, **facts)


def answers(talk, key):
    n = talk.open("POST", in_session("s1"))
    given = {"jsonrpc": "2.0", "id": key, "result": {"action": "accept", "content": {}}}
    talk.say(n, "tap", given, leg="upstream")
    talk.head(n, 202)
    talk.close(n)


def told(call):
    return [(ask.key, ask.answered_by, ask.entry) for r in call.rounds for ask in r.asks]


def test_an_ask_on_the_stream_of_the_session_keeps_the_entry_that_answers_it():
    talk = Talk()
    talk.session()
    stream = talk.open("GET", in_session("s1"))
    talk.head(stream, Content_Type="text/event-stream")
    n = began(talk)
    withheld(talk, stream, 7)
    decided(talk, stream, "7", "the day")
    answers(talk, 7)
    talk.event(n, done())
    talk.close(n)
    one = talk.calls[2]
    assert told(one) == [("7", "tap", "the day")]
    assert [r.by_tap for r in one.rounds] == [False, True]
    assert one.outcome == "ok"


def test_an_ask_sent_again_where_its_client_takes_the_stream_up_is_the_same_ask():
    talk = Talk()
    talk.session()
    n = began(talk)
    note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {}}
    talk.event(n, note, "1")
    withheld(talk, n, 7, "2")
    decided(talk, n, "7", "the day")
    answers(talk, 7)
    talk.close(n)
    again = talk.open("GET", in_session("s1") | {"Last-Event-ID": "1"})
    talk.head(again, Content_Type="text/event-stream")
    withheld(talk, again, 7, "2")
    decided(talk, again, "7", None, "repeated")
    talk.event(again, done(), "3")
    talk.close(again)
    one = talk.calls[2]
    assert told(one) == [("7", "tap", "the day")]
    assert one.outcome == "ok"


def test_of_asks_nobody_decides_on_only_the_newest_are_kept():
    talk = Talk()
    talk.session()
    stream = talk.open("GET", in_session("s1"))
    talk.head(stream, Content_Type="text/event-stream")
    began(talk)
    for key in range(200):
        talk.event(stream, pushed(key))
    decided(talk, stream, "199", "late")
    one = talk.calls[2]
    assert [ask.entry for r in one.rounds for ask in r.asks if ask.key == "199"] == ["late"]
