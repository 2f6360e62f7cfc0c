"""Whatever strangers write, and however much of it: judging holds on to little."""

from __future__ import annotations

import gc
import json
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import islice
from types import FunctionType, ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_tap.core.finding import Finding
from mcp_tap.core.linking.rounds import MOST_IN_CALL
from mcp_tap.core.model import Call, Exchange, Round
from mcp_tap.pipeline import Pipeline
from mcp_tap.rules.catalogue import BY_ID
from mcp_tap.testing import records_of
from tests.cases import (
    RESULT,
    SESSION,
    TASKS,
    answer,
    ask,
    asking,
    call,
    error,
    exchange,
    form,
    handshake,
    listing,
    message,
    post,
    result,
    stream,
    traffic,
)
from tests.garbage import Traffic, examples

LARGE = 50_000
"""Characters of one value."""
TIMES = 30
MOST = 512 << 10
"""Bytes of which the test lets judging hold on to, in place of `held.MOST_BYTES`."""
SLACK = 128 << 10
"""For what is not weighed: keys, which are short."""

NOT_OURS = (type, ModuleType, FunctionType, Call, Exchange, Round)


def huge(n: Any) -> str:
    return f"{n}-".ljust(LARGE, "x")


def caller(n: int) -> dict[str, str]:
    return {"User-Agent": f"client-{n}"}


def link(n: int) -> dict[str, Any]:
    params = {"mode": "url", "message": "m", "url": f"https://example.com/{n}"}
    return {"method": "elicitation/create", "params": params}


def push(n: Any, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": n, "method": "elicitation/create", "params": params}


def legacy(n: Any, *events: Any) -> dict[str, Any]:
    """Have asks pushed on the stream of a call of a session."""
    return exchange(call(n, version="2025-11-25", headers=SESSION), stream(*events))


def task(n: Any, method: str, *, status: str = "working", **more: Any) -> dict[str, Any]:
    made = result(n, "task" if method == "tools/call" else "complete", status=status, **more)
    made["result"] |= {"taskId": more.get("taskId", f"task-{n}"), "ttlMs": None}
    caps = {"caps": TASKS}
    if method == "tools/call":
        return exchange(call(n, **caps), answer(made))
    return exchange(ask(method, n, taskId=made["result"]["taskId"], **caps), answer(made))


def hello(n: int) -> dict[str, Any]:
    begin = message("initialize", n, version="2025-11-25", capabilities={"roots": {"x": huge(n)}})
    settled = result(n, None, protocolVersion="2025-11-25", capabilities={})
    own = {"Mcp-Session-Id": f"session-{n}"}
    return exchange(post(begin, caller(n), version=None), answer(settled, **own))


def discovered(n: int) -> dict[str, Any]:
    shown = result(n, supportedVersions=["2026-07-28"], capabilities={"tools": {"x": huge(n)}})
    asked = post(message("server/discover", n), caller(n))
    return exchange(asked, answer(shown))


def refused(n: int) -> dict[str, Any]:
    asked = post(message("server/discover", n), caller(n))
    return exchange(asked, answer(error(n, -32601, x=huge(n)), 404))


def annotated(n: int) -> dict[str, Any]:
    schema = {"type": "string", "x-mcp-header": f"H{n}"}
    form_ = {"type": "object", "properties": {huge(n): schema}}
    return listing({"name": f"t{n}", "inputSchema": form_}, number=n)


def page(n: int) -> dict[str, Any]:
    """Give a page of many tools; as keys they are short, but there are many."""
    names = [{"name": f"{n}-{i}".ljust(70, "x"), "inputSchema": {}} for i in range(400)]
    return listing(*names, number=n, nextCursor=f"c{n}")


def scoped(n: int) -> dict[str, Any]:
    shown = result(n, tools=[], nextCursor=f"c{n}", ttlMs=0, cacheScope=huge(n))
    return exchange(ask("tools/list", n), answer(shown))


def cut(n: int) -> dict[str, Any]:
    return exchange(call(n, arguments={"x": huge(n)}), {"status": 200, "closed_by": "network"})


def untyped(n: int) -> dict[str, Any]:
    asked = {huge(n): form()}
    shown = result(n, None, inputRequests=asked, requestState=huge(n))
    return exchange(call(n, f"tool-{n}"), answer(shown))


def finished(n: int) -> list[dict[str, Any]]:
    asked = exchange(call(2 * n), answer(asking({huge(n): form()}, f"s{n}", 2 * n)))
    answers = {huge(n): {"action": "decline"}}
    again = call(2 * n + 1, inputResponses=answers, requestState=f"s{n}")
    return [asked, exchange(again, answer({**RESULT, "id": 2 * n + 1}))]


HTTP: dict[str, Callable[[int], Any]] = {
    "names of tools": lambda n: listing({"name": huge(n), "inputSchema": {}}, number=n),
    "output schemas": lambda n: listing({"name": f"t{n}", "outputSchema": {"x": huge(n)}}),
    "annotations": annotated,
    "names on pages": page,
    "cursors": lambda n: listing(number=n, nextCursor=huge(n)),
    "scopes": scoped,
    "ids of requests": lambda n: exchange(call(huge(n)), stream(open=True)),
    "methods": lambda n: exchange(ask(huge(n), n), stream(open=True)),
    "capabilities of servers": discovered,
    "refusals": refused,
    "revisions of servers": lambda n: exchange(
        post(message("tools/list", n), caller(n)),
        answer(error(n, -32022, supported=[huge(n)], requested="2026-07-28"), 400),
    ),
    "capabilities of clients": hello,
    "pushed asks": lambda n: legacy(n, push(n, mode="form", message=huge(n), requestedSchema={})),
    "ids of pushed asks": lambda n: legacy(n, push(huge(n), mode="form", message="m")),
    "ids of elicitations": lambda n: legacy(
        n, push(n, mode="url", message="m", url="https://e.com", elicitationId=huge(n))
    ),
    "lost requests": cut,
    "keys of links": lambda n: exchange(call(n), answer(asking({huge(n): link(n)}, f"s{n}", n))),
    "states of links": lambda n: exchange(call(n), answer(asking({"k": link(n)}, huge(n), n))),
    "targets of links": lambda n: exchange(
        call(n, huge(n)), answer(asking({"k": link(n)}, f"s{n}", n))
    ),
    "untyped rounds": untyped,
    "finished calls": finished,
    "targets of calls": lambda n: exchange(
        call(n, huge(n)), answer(result(n, None, requestState="s"))
    ),
    "arguments of tools": lambda n: exchange(
        ask("prompts/list", n),
        answer(result(n, prompts=[{"name": huge(n), "arguments": [{"name": "requestState"}]}])),
    ),
    "ids of tasks": lambda n: task(n, "tools/call", taskId=huge(n)),
    "states of tasks": lambda n: task(n, "tools/call", status=huge(n)),
    "asks of tasks": lambda n: task(
        n, "tasks/get", status="input_required", inputRequests={"k": form(huge(n))}
    ),
}


def weight(root: Any) -> int:
    """Count the bytes of the texts an object holds on to, linking's own model aside."""
    count, waiting, seen = 0, [root], {id(None)}
    while waiting:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, NOT_OURS):
            continue
        seen.add(id(value))
        if isinstance(value, str | bytes):
            count += len(value)
        waiting += gc.get_referents(value)
    return count


def judged(case: dict[str, Any], most: int = MOST) -> tuple[Pipeline, list[Finding]]:
    return fed((record for record, _ in records_of(case)), most)


def fed(
    records: Iterable[Any], most: int, *, often: bool = False
) -> tuple[Pipeline, list[Finding]]:
    pipeline = Pipeline()
    memory(pipeline).held.most = most
    if often:
        pipeline._judge._engine._first = lambda *_: True
    changes = [change for record in records for change in pipeline.feed(record)]
    changes += pipeline.finish()
    return pipeline, [change for change in changes if isinstance(change, Finding)]


def memory(pipeline: Pipeline) -> Any:
    return pipeline._judge._run


@pytest.mark.parametrize("kind", HTTP)
def test_what_is_large_is_made_short_or_let_go_of(kind):
    made = [HTTP[kind](n) for n in range(1, TIMES)]
    rounds = [one for part in made for one in (part if isinstance(part, list) else [part])]
    opening = handshake() if "pushed" in kind or "elicitations" in kind else []
    pipeline, _ = judged(traffic(*opening, *rounds))
    assert weight(memory(pipeline)) <= MOST + SLACK


def test_requests_that_stay_open_are_let_go_of_as_well():
    opened = [exchange(call(n, arguments={"x": huge(n)}), stream(open=True)) for n in range(TIMES)]
    pipeline, _ = judged(traffic(*opened))
    flows = [live.flow for live in pipeline._correlator._live.values()]
    assert len(flows) == TIMES
    assert weight(flows) <= MOST + SLACK


def test_what_is_said_once_is_remembered_in_short():
    refusal = error(0, -32022, supported=["2025-11-25"], requested="2026-07-28")
    told = exchange(call(0), answer(refusal, 400))
    others = [
        exchange(call(n, version=huge(f"9.{n}")), answer(status=400)) for n in range(1, TIMES)
    ]
    pipeline, found = judged(traffic(told, *others))
    assert [f.rule for f in found].count("DISC-004") == TIMES - 1
    assert weight(pipeline._judge._engine) <= SLACK


def kinds(findings: list[Finding]) -> Counter[tuple[Any, ...]]:
    """Count findings, but for those that are made where no other is."""
    return Counter(
        (f.rule, f.seq, f.path, f.severity) for f in findings if not BY_ID[f.rule].last_resort
    )


@pytest.mark.parametrize("most", [0, 1500])
def test_what_was_let_go_of_makes_no_finding(most):
    for text in examples():
        case = json.loads(text)
        more = kinds(judged(case, most)[1]) - kinds(judged(case)[1])
        assert not more, case["id"]


@given(seed=st.integers(0, 2**32), transport=st.sampled_from(["http", "stdio"]))
@settings(max_examples=settings.default.max_examples // 3)  # each is hundreds of messages
def test_what_was_let_go_of_makes_no_finding_in_odd_traffic_either(seed, transport):
    def found(most: int) -> Counter[tuple[Any, ...]]:
        records = islice(Traffic(seed, transport=transport), 300)
        return kinds(fed(records, most, often=True)[1])

    assert not found(3000) - found(MOST)


def test_a_call_without_an_end_holds_no_more_than_its_newest_rounds():
    def held(rounds: int) -> int:
        made = []
        for n in range(1, rounds):
            text = f"{n}".ljust(2000, "x")
            answers = {"q": {"action": "accept", "content": {"name": text}}}
            more = {"inputResponses": answers, "requestState": f"s{n - 1}"} if n > 1 else {}
            asked = asking({"q": form(text)}, f"s{n}", n)
            made.append(exchange(call(n, **more), answer(asked)))
        return weight(judged(traffic(*made))[0]._correlator)

    known = held(MOST_IN_CALL + 5)
    assert held(2 * MOST_IN_CALL) <= known * 1.1
