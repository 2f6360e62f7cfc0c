"""What all exchanges share: a clock, numbers, and what is changed in each request."""

from __future__ import annotations

import asyncio
from time import perf_counter

from mcp_tap.core.redact import Redactor
from mcp_tap.net.guard import Guard
from mcp_tap.net.target import parse_target
from mcp_tap.net.upstream import UpstreamPool
from mcp_tap.proxy.recording import Recording
from mcp_tap.proxy.tap import Tap
from tests.bounds import BOUND
from tests.heads import ASK


def tap(**given) -> Tap:
    target = parse_target("http://127.0.0.1:1/mcp")
    settings = {
        "target": target,
        "pool": UpstreamPool(target, None),
        "guard": Guard(),
        "recording": Recording(lambda pair: None, Redactor(b"k" * 32), 1000),
        "report": lambda *facts: None,
        "notice": lambda text: None,
        "extra_headers": [],
        "upstream_host": None,
        "started": perf_counter(),
    }
    return Tap(**(settings | given))


async def test_the_clock_never_runs_backwards_and_counts_microseconds():
    made = tap()
    times = [made.now() for _ in range(1000)]
    assert times == sorted(times)
    assert all(t == round(t, 6) >= 0 for t in times)
    assert made.t == times[-1]


async def test_a_head_that_needs_no_change_is_the_same_object():
    made = tap()
    head = made.heads.read(ASK, [(b"Host", b"h")])
    assert made.upstream_head(head) is head


async def test_given_headers_and_host_take_the_place_of_the_clients():
    made = tap(extra_headers=[(b"A", b"1")], upstream_host=b"up:1")
    head = made.heads.read(ASK, [(b"hOst", b"h"), (b"a", b"0"), (b"B", b"2"), (b"A", b"3")])
    assert made.upstream_head(head).block() == b"hOst: up:1\r\na: 1\r\nB: 2\r\n"


async def test_each_kind_of_refusal_is_said_once_and_recorded_each_time():
    notices: list[str] = []
    reports: list = []
    made = tap(notice=notices.append, report=lambda *facts: reports.append(facts))

    class Exchange:
        tape = None

    for code in ("upstream-down", "upstream-down", "foreign-host"):
        made.refused(Exchange(), code, "because")
    assert notices == ["upstream-down: because", "foreign-host: because"]
    assert len(reports) == 3


async def test_exchanges_and_clients_are_numbered_from_one():
    made = tap()
    assert [made.next_exchange() for _ in range(3)] == [1, 2, 3]
    one, two = object(), object()
    assert [made.client_came(one), made.client_came(two)] == [1, 2]
    assert not made.deserted.is_set()
    made.client_left(one)
    made.client_left(one)
    assert not made.deserted.is_set()
    made.client_left(two)
    assert made.deserted.is_set()


async def test_work_of_the_run_is_held_on_to_until_it_is_done():
    made = tap()
    done = asyncio.Event()

    async def work() -> None:
        done.set()

    task = made.spawn(work())
    assert task in made._tasks
    await asyncio.wait_for(task, BOUND)
    await asyncio.sleep(0)
    assert done.is_set()
    assert not made._tasks
