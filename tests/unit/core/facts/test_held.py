from __future__ import annotations

from copy import copy

from mcp_tap.core.facts.held import MOST_BYTES, ROOM, Held, size_of, size_of_head
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


def test_small_exchanges_are_not_weighed_until_a_fourth_of_all_is_set_aside_for_them():
    held, flow = Held(), message("tools/list", 1).flow
    flows = [copy(flow) for _ in range(MOST_BYTES // ROOM)]
    for one in flows:
        held.spare(one)
    small = [one for one in flows if one.small]
    assert held.bytes == ROOM * len(small) == MOST_BYTES // 4
    for one in small:
        held.over(one)
    assert (held.bytes, any(one.small for one in small)) == (0, False)


def test_an_exchange_that_grows_is_small_no_longer_and_lets_go_as_others_do():
    held, flow = Held(most=8 * ROOM), message("tools/list", 1).flow
    held.spare(flow)
    held.more(flow, 7 * ROOM)
    held.settle()
    assert (flow.small, flow.spent, held.bytes) == (False, False, 8 * ROOM)
    held.more(flow, 1)
    held.settle()
    assert (flow.spent, held.bytes) == (True, 0)
    held.spare(flow)
    held.most = 0
    held.settle()
    assert flow.small
