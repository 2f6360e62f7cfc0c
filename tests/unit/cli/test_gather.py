from __future__ import annotations

import pytest
from msgspec import Raw

from mcp_tap.cli import gather as module
from mcp_tap.cli.gather import Shelf, gather
from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.records import Message
from mcp_tap.pipeline.spine import Pipeline
from tests.traffic import Traffic, done, story


def found(traffic, shelf=None):
    return list(gather(traffic.records, Pipeline(), shelf=shelf, see=lambda _: None))


def test_calls_and_exchanges_come_in_the_order_they_began():
    names = [c.name if isinstance(c, Call) else c.method for c in found(story())]
    assert names == ["search", "deploy", "exprt", "notifications/cancelled", "book"]


def test_every_record_is_seen_once():
    seen = []
    traffic = story()
    list(gather(traffic.records, Pipeline(), shelf=None, see=seen.append))
    assert seen == traffic.records


def test_the_shelf_gives_the_records_of_a_call_and_lets_go_of_them():
    shelf = Shelf()
    deploy = next(c for c in found(story(), shelf) if isinstance(c, Call) and c.name == "deploy")
    assert [r.exchange for r in shelf.of(deploy)] == [2] * 5 + [3] * 5
    assert "shipped" in " ".join(shelf.texts(deploy))
    shelf.release(deploy)
    assert shelf.of(deploy) == []
    assert shelf.incomplete == 0


def test_an_exchange_outside_of_calls_has_records_too():
    shelf = Shelf()
    other = next(c for c in found(story(), shelf) if isinstance(c, Exchange))
    assert [type(r).__name__ for r in shelf.of(other)] == [
        "HttpRequest", "Message", "HttpResponse", "Closed",
    ]  # fmt: skip


def test_long_runs_come_out_while_they_are_read_and_once_each(monkeypatch):
    monkeypatch.setattr(module, "AHEAD", 10)
    traffic = Traffic()
    for n in range(100):
        traffic.call(f"t{n}", done("x"))
    read, given = 0, []

    def see(_):
        nonlocal read
        read += 1

    for call in gather(traffic.records, Pipeline(), shelf=None, see=see):
        given += [(call.number, read)]
    assert [number for number, _ in given] == list(range(1, 101))
    assert given[0][1] < 150 < len(traffic.records)


def test_a_stream_of_many_records_is_kept_in_part_and_that_is_counted(monkeypatch):
    monkeypatch.setattr(module, "PER_EXCHANGE", 3)
    shelf = Shelf()
    call = next(c for c in found(story(), shelf) if isinstance(c, Call))
    assert len(shelf.of(call)) == 3
    assert shelf.incomplete == 1


def test_bytes_kept_are_bounded(monkeypatch):
    monkeypatch.setattr(module, "BYTES", 5000)
    shelf = Shelf()
    for n in range(50):
        body = Raw(b'"' + b"x" * 1000 + b'"')
        shelf.keep(Message(seq=n, t=0, sender="server", exchange=n, body=body), n)
    assert shelf._bytes <= 5000
    assert len(shelf._where) == len(shelf._records) <= 5


def test_records_of_no_exchange_are_not_kept():
    shelf = Shelf()
    shelf.keep(Message(seq=1, t=0, sender="server", text="{}"), None)
    assert shelf._bytes == 0


@pytest.mark.parametrize("number", [1, 2])
def test_an_answer_on_another_exchange_belongs_to_the_call_that_asked(number):
    from tests import builders as b

    shelf = Shelf()
    ask = b.answered("1")
    ask.seq, ask.answer_seq = 11, 12
    shelf.keep(Message(seq=11, t=0, sender="server", exchange=7, text="the ask"), 7)
    shelf.keep(Message(seq=12, t=0, sender="client", exchange=8, text="the answer"), 8)
    shelf.keep(Message(seq=13, t=0, sender="server", exchange=7, text="not ours"), 7)
    call = b.call(number, rounds=[b.round_(1, 0, 1, exchange=1, asks=[ask])])
    assert list(shelf.texts(call)) == ["the ask", "the answer"]


def test_exchanges_beside_its_rounds_belong_to_a_call():
    from tests import builders as b

    shelf = Shelf()
    for exchange in (1, 2, 3):
        text = f"of {exchange}"
        record = Message(seq=exchange, t=0, sender="server", exchange=exchange, text=text)
        shelf.keep(record, exchange)
    call = b.call(1, rounds=[b.round_(1, 0, 1, exchange=1)], other_exchanges=(3,))
    assert list(shelf.texts(call)) == ["of 1", "of 3"]
    shelf.release(call)
    assert list(shelf.texts(b.exchange(number=2))) == ["of 2"]
    assert list(shelf.texts(b.exchange(number=3))) == []
