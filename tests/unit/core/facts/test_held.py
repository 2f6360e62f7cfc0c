from __future__ import annotations

from mcp_tap.core.facts.held import Held, size_of, size_of_head
from mcp_tap.core.facts.message import Message
from mcp_tap.core.records import HttpResponse
from mcp_tap.core.records import Message as Record
from tests.facts import message


class Heap:
    def __init__(self):
        self.is_held = True

    def let_go(self):
        self.is_held = False


def test_the_oldest_lets_go_first_and_only_when_it_is_asked_to():
    held, heaps = Held(most=100), [Heap() for _ in range(4)]
    for heap in heaps:
        held.hold(heap, 40)
    assert all(heap.is_held for heap in heaps)
    held.settle()
    assert [heap.is_held for heap in heaps] == [False, False, True, True]
    assert held.bytes == 80


def test_who_holds_something_else_is_the_youngest_and_who_holds_more_is_not():
    held, renewed, grown = Held(most=100), Heap(), Heap()
    held.hold(renewed, 40)
    held.hold(grown, 40)
    held.hold(renewed, 30)
    held.add(grown, 40)
    held.settle()
    assert (renewed.is_held, grown.is_held, held.bytes) == (True, False, 30)


def test_what_is_free_weighs_nothing_and_is_left_alone():
    held, heap = Held(most=10), Heap()
    held.hold(heap, 40)
    held.free(heap)
    held.free(heap)
    held.settle()
    assert (heap.is_held, held.bytes) == (True, 0)


def test_what_alone_is_too_much_is_let_go_of_as_well():
    held, heap = Held(most=10), Heap()
    held.hold(heap, 11)
    held.settle()
    assert (heap.is_held, held.bytes) == (False, 0)


def test_nothing_is_kept_for_being_weighed():
    held, heap = Held(), Heap()
    held.hold(heap, 40)
    held.add(heap, 2)
    assert held.bytes == 42
    del heap
    assert held.bytes == 0


def test_a_message_weighs_what_its_payload_has():
    record = Record(seq=1, t=0.0, sender="client", text="é" * 10)
    assert size_of(Message(record, None, message("tools/list", 1).flow)) == 20


def test_a_head_weighs_what_its_fields_have():
    headers = [("Host", "example.com"), ("Accept", "*/*")]
    assert size_of_head(HttpResponse(seq=1, t=0.0, exchange=1, status=200, headers=headers)) == 24
    assert size_of_head(None) == 0
