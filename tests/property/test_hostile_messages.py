"""One message, whatever it is, takes less than 50 ms to judge: traffic must not stand still.

By hand, with nothing else on the machine: times are no matter of every test run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from mcp_tap.core.finding import Finding
from mcp_tap.pipeline.spine import Pipeline
from mcp_tap.testing import records_of
from tests.cases import answer, ask, asking, call, exchange, form, line, result, stdio, traffic

MOST = 0.050
"""Seconds."""
FULL = 1_040_000
"""Bytes of a message that is just still judged."""


def spent(case: dict[str, Any]) -> tuple[float, list[str]]:
    """Judge a case after ordinary traffic; give the most time one record took, and the rules."""
    judging, linking = Pipeline(), Pipeline(judging=False)
    before = records_of(ordinary(case["transport"]))
    worst, found, last = 0.0, [], before[-1][0].seq
    for record, value in before:
        judging.feed(record, value)
        linking.feed(record, value)
    for record, value in records_of(case)[1:]:
        moved = {"seq": record.seq + last, "t": record.t + 20.0}
        number = getattr(record, "exchange", None)
        if number is not None:
            moved["exchange"] = number + 10
        record = replace(record, **moved)  # noqa: PLW2901
        begun = time.thread_time()
        linking.feed(record, value)
        linked = time.thread_time()
        changes = judging.feed(record, value)
        worst = max(worst, time.thread_time() - linked - (linked - begun))
        found += [change.rule for change in changes if type(change) is Finding]
    return worst, found


def ordinary(transport: str) -> dict[str, Any]:
    asked = [(call(n), result(n)) for n in range(5)]
    if transport == "http":
        return traffic(*(exchange(request, answer(reply)) for request, reply in asked))
    return stdio(
        *(
            line(sender, message)
            for request, reply in asked
            for sender, message in (("client", request["body"]), ("server", reply))
        )
    )


def asked(asks: Any) -> dict[str, Any]:
    return traffic(exchange(call(), answer(asking(asks))))


def form_with(**fields: Any) -> dict[str, Any]:
    return asked({"q": form("Name?", **fields)})


def read(**members: Any) -> dict[str, Any]:
    return traffic(exchange(ask("resources/read", uri="file:///x"), answer(result(1, **members))))


LINK = "https://a.example.com/"
END = f" {LINK}"
HOSTILE: dict[str, Callable[[], dict[str, Any]]] = {
    "asks that are none": lambda: asked({f"k{i}": "x" for i in range(FULL // 13)}),
    "asks of a task": lambda: traffic(
        exchange(
            ask("tasks/get", taskId="t"),
            answer(
                result(
                    taskId="t",
                    status="input_required",
                    inputRequests={f"k{i}": {} for i in range(FULL // 13)},
                )
            ),
        )
    ),
    "a long name where a word must be": lambda: form_with(f={"type": {"\u5bc6" * (FULL // 3): 1}}),
    "a wrong resource with many members": lambda: read(
        contents=[{f"k{i}": "x" for i in range(FULL // 14)}]
    ),
    "an enum of many": lambda: form_with(
        f={"type": "string", "enum": [str(i) for i in range(FULL // 9)]}
    ),
    "a sample at the end of a text": lambda: asked({"q": form("a=b&" * (FULL // 4) + END)}),
    "many texts with samples": lambda: form_with(
        **{f"f{i}": {"type": "string", "title": "a=b&" * 500 + END} for i in range(450)}
    ),
    "a text that is a link": lambda: asked({"q": form(LINK + "#" + "access_token=a&" * 69_000)}),
}

STACKED = "\u0316\u0301"
HIDDEN = "\u0316\xad\u0301\xad"
LIGATURE = "\ufdfa"
HOSTILE |= {
    "marks on one letter": lambda: form_with(
        f={"type": "string", "title": STACKED * 9_000, "description": HIDDEN * 9_000}
    ),
    "marks in many messages": lambda: asked({f"q{i}": form(STACKED * 750) for i in range(200)}),
    "marks with soft hyphens": lambda: asked({f"q{i}": form(HIDDEN * 400) for i in range(200)}),
    "letters that stand for many": lambda: asked(
        {f"q{i}": form(LIGATURE * 1500) for i in range(200)}
    ),
    "urls of many parts": lambda: asked({f"q{i}": link("@&" * 2000) for i in range(200)}),
    "urls of many codes": lambda: asked({f"q{i}": link("%40" * 1500) for i in range(200)}),
    "a result that fits none of many": lambda: structured(
        {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}] * 500}}},
        {"a": {f"k{i}": ["x"] for i in range(45_000)}},
    ),
    "a large result that does not fit": lambda: structured(
        {"type": "object", "properties": {"a": {"type": "string"}}},
        {"a": {f"k{i}": ["x"] for i in range(45_000)}},
    ),
    "a division of very large by very small": lambda: structured(
        {"type": "object", "properties": {"a": {"items": {"multipleOf": 1e-300}}}},
        {"a": [1e300] * 40_000},
    ),
    "numbers of thousands of digits": lambda: structured(
        {"type": "object", "properties": {"a": {"uniqueItems": True}}},
        {"a": [10**3999 + i for i in range(250)]},
    ),
    "numbers next to nothing": lambda: structured(
        {"type": "object", "properties": {"a": {"items": {"maximum": 1e-300}}}},
        {"a": [5e-324] * 49_000},
    ),
    "a bound of thousands of digits": lambda: structured(
        {"type": "object", "properties": {"a": {"items": {"maximum": 10**4000}}}},
        {"a": [1e10 / i for i in range(1, 40_000)]},
    ),
    "what is no JSON at its very end": lambda: traffic(
        exchange({"headers": call()["headers"], "body_raw": "[" + "[]," * 340_000 + "!]"}, answer())
    ),
    "lines of one endless string": lambda: stdio(
        line("server", '{"' + '\\"' * 500_000), line("server", '\\"' * 500_000)
    ),
    "arguments changed at their very end": lambda: traffic(
        exchange(call(arguments=wide(0)), answer(asking({"q": form()}))),
        exchange(
            call(2, arguments=wide(1), requestState="state-1", inputResponses={"q": {}}),
            answer(result(2)),
        ),
    ),
    "a tool with very many headers": lambda: listed(
        *({"a": {"type": "object", "x-mcp-header": "h h"}} for _ in range(9_000))
    ),
}


def link(query: str) -> dict[str, Any]:
    params = {"mode": "url", "elicitationId": "x", "message": "Open it", "url": f"{LINK}?a={query}"}
    return {"method": "elicitation/create", "params": params}


def listed(*properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    tools = [
        {"name": f"t{i}", "inputSchema": {"type": "object", "properties": one}, **more}
        for i, one in enumerate(properties)
    ]
    return traffic(exchange(ask("tools/list"), answer(result(tools=tools))))


def structured(schema: dict[str, Any], value: Any) -> dict[str, Any]:
    shown = listed({}, outputSchema=schema)["exchanges"]
    use = exchange(call(2, name="t0"), answer(result(2, content=[], structuredContent=value)))
    return traffic(*shown, use)


def wide(last: int) -> dict[str, Any]:
    return {f"a{i}": {"x": [i]} for i in range(30_000)} | {"z": last}


@pytest.mark.soak
@pytest.mark.parametrize("name", HOSTILE)
def test_no_message_takes_long_to_judge(name):
    case = HOSTILE[name]()
    times, found = zip(*(spent(case) for _ in range(3)), strict=True)
    assert min(times) < MOST
    assert not [rule for rule in found[0] if rule.startswith("TAP")], "it is looked at"
