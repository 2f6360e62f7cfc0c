"""Streams, asks and requests of one session."""

from __future__ import annotations

import pytest

from mcp_tap.core.records import Sse
from mcp_tap.replay.server import sessions as module
from mcp_tap.replay.server.sessions import Asked, Events, Session, Stream
from tests.replays import Heard


def numbers(heard):
    return [message["n"] for message in heard.messages]


def send(stream, *numbers, ids=False):
    for n in numbers:
        stream.message(b'{"n":%d}' % n, Sse(id=f"e{n}") if ids else None)


def test_what_comes_while_nobody_reads_is_kept_for_who_reads_next_once():
    stream, first, second = Stream(), Heard(), Heard()
    send(stream, 1, 2)
    stream.attach(first)
    send(stream, 3)
    stream.outlet = None
    stream.attach(second)
    assert (numbers(first), numbers(second)) == ([1, 2, 3], [])


def test_a_stream_taken_up_goes_on_behind_the_event_that_was_read_last():
    stream, again = Stream(Heard()), Heard()
    send(stream, 1, 2, 3, ids=True)
    stream.outlet = None
    send(stream, 4, ids=True)
    assert stream.holds("e2")
    assert not stream.holds("e9")
    stream.attach(again, "e2")
    send(stream, 5, ids=True)
    assert numbers(again) == [3, 4, 5]


def test_no_more_is_kept_than_there_is_room_for(monkeypatch):
    stream, heard = Stream(), Heard()
    most = module.MOST_KEPT
    send(stream, *range(most + 2))
    stream.attach(heard)
    assert numbers(heard) == [*range(2, most + 2)]


def test_an_ask_has_its_recorded_number_and_its_answer_goes_to_who_asked():
    session, got = Session(id="s"), []
    assert session.ask(3, Asked(40, lambda seq, value: got.append((seq, value)))) == b"3"
    response = {"jsonrpc": "2.0", "id": 3, "result": {}}
    assert session.answered(response)
    assert got == [(40, response)]
    assert not session.answered(response)


def test_an_ask_whose_number_was_used_gets_another():
    session = Session(id="s")
    tokens = [session.ask(0, Asked(seq, lambda *_: None)) for seq in (1, 2)]
    assert tokens[0] == b"0"
    assert tokens[1] == b"1"
    session.answered({"id": 0})
    assert session.ask(0, Asked(3, lambda *_: None)) == b"2"


def test_an_ask_with_a_word_for_an_id_keeps_it_and_a_number_is_no_word():
    session, got = Session(id="s"), []
    assert session.ask("1", Asked(1, lambda seq, _: got.append(seq))) == b'"1"'
    assert session.ask(1, Asked(2, lambda seq, _: got.append(seq))) == b"1"
    assert session.answered({"id": "1"})
    assert got == [1]
    assert session.ask("1", Asked(3, lambda *_: None)) == b'"1"'


@pytest.mark.parametrize("unknown", [7, "3", None, 3.5, [3]])
def test_an_answer_nobody_asked_for_changes_nothing(unknown):
    session, got = Session(id="s"), []
    session.ask(3, Asked(1, lambda *_: got.append(1)))
    assert not session.answered({"id": unknown, "result": {}})
    assert not got


def test_what_is_remembered_of_a_session_is_bounded(monkeypatch):
    for name in ("MOST_ASKS", "MOST_REQUESTS"):
        monkeypatch.setattr(module, name, 2)
    session = Session(id="s")
    for n in range(3):
        session.ask(n, Asked(n, lambda *_: None))
        session.began((True, str(n)), lambda: None)
        session.numbered(n, b"1")
    assert not session.answered({"id": 0})
    assert session.answered({"id": 1})
    assert [len(session.cancels), [*session.ids]] == [2, [1, 2]]


def test_the_end_of_a_session_ends_all_its_streams():
    session = Session(id="s")
    own, of_a_request = Heard(), Heard()
    session.stream.attach(own)
    session.streams.append(Stream(of_a_request))
    session.streams.append(Stream())
    session.end()
    assert (own.over, of_a_request.over) == ("end", "end")
    session.end()
    assert session.stream.outlet is None


def names(events, *sent):
    """Send events, each given by its record and its id; give the ids they have."""
    return [events.of(0, seq, Sse(id=name, retry="5")).id for seq, name in sent]


def test_an_event_that_is_served_again_has_an_id_of_its_own_and_its_other_fields():
    events = Events()
    assert names(events, (1, "a"), (2, "b"), (1, "a"), (1, "a")) == ["a", "b", "a-2", "a-3"]
    assert events.of(0, 2, Sse(id="b", retry="5")) == Sse(id="b-2", retry="5")
    assert dict(events.recorded) == {"a-2": "a", "a-3": "a", "b-2": "b"}


def test_an_id_that_the_recorded_server_gave_twice_stays():
    assert names(Events(), (1, "a"), (2, "a"), (3, "a-2"), (1, "a")) == ["a", "a", "a-2", "a-3"]


def test_an_id_that_was_made_here_is_given_to_nothing_else():
    assert names(Events(), (1, "a"), (1, "a"), (2, "a-2")) == ["a", "a-2", "a-2-2"]


@pytest.mark.parametrize("sse", [None, Sse(event="message"), Sse(id="")])
def test_an_event_without_an_id_gets_none(sse):
    events = Events()
    assert [events.of(0, 1, sse) for _ in range(2)] == [sse, sse]


def test_no_more_event_ids_are_remembered_than_there_is_room_for(monkeypatch):
    monkeypatch.setattr(module, "MOST_KEPT", 2)
    events = Events()
    assert names(events, *((n, f"e{n}") for n in range(5)), (4, "e4"), (0, "e0"))[-2:] == [
        "e4-2",
        "e0",
    ]
    assert len(events.sent) == 2
