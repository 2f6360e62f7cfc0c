"""Subscriptions: acknowledged first, marked as theirs, and no more than was asked for."""

from __future__ import annotations

import pytest

from tests.cases import (
    PREFIX,
    answer,
    ask,
    call,
    error,
    exchange,
    fired,
    ids,
    line,
    listen,
    message,
    note,
    result,
    stdio,
    stream,
    traffic,
)

TOOLS = "notifications/tools/list_changed"
UPDATED = "notifications/resources/updated"
ID = PREFIX + "subscriptionId"


def marked(method, number=1, **params):
    meta = {} if number is None else {ID: number}
    return note(method, _meta=meta, **params)


def ack(number=1, **granted):
    return marked("notifications/subscriptions/acknowledged", number, notifications=granted)


def closing(number=1, named=1):
    meta = {} if named is None else {ID: named}
    return result(number, _meta=meta)


def http(*messages, number=1, **wanted):
    wanted = wanted or {"toolsListChanged": True}
    return traffic(exchange(listen(number, **wanted), stream(*messages, open=True)))


def opened(number=1, **wanted):
    wanted = wanted or {"toolsListChanged": True}
    return line("client", message("subscriptions/listen", number, notifications=wanted))


def server(*messages):
    return [line("server", one) for one in messages]


def test_the_acknowledgement_comes_first():
    assert not ids(http(ack(toolsListChanged=True), marked(TOOLS), closing()), "SUB")
    assert ids(http(marked(TOOLS), marked(TOOLS), ack()), "SUB") == ["SUB-001"]
    assert ids(http(closing()), "SUB") == ["SUB-001"]
    assert ids(http(marked("notifications/tasks")), "SUB") == ["SUB-001"]
    plain = traffic(exchange(listen(toolsListChanged=True), answer(closing())))
    assert ids(plain, "SUB") == ["SUB-001"]


def test_a_refusal_needs_no_acknowledgement():
    assert not ids(http(error(1, -32603)), "SUB")
    ended = note("notifications/cancelled", requestId=1)
    assert not ids(http(ended), "SUB")


def test_over_stdio_the_order_is_that_of_one_subscription():
    lines = [opened(1), opened(2), *server(ack(1), marked(TOOLS, 1), ack(2), marked(TOOLS, 2))]
    assert not ids(stdio(*lines), "SUB")
    early = [opened(1), opened(2), *server(ack(1), marked(TOOLS, 2), ack(2))]
    assert ids(stdio(*early), "SUB") == ["SUB-001"]
    assert ids(stdio(opened(1), *server(closing())), "SUB") == ["SUB-001"]


@pytest.mark.parametrize(("own", "named"), [(1, "1"), ("1", 1), (1, 2), (1, None), ("a", "b")])
def test_every_notification_carries_the_id_of_its_subscription(own, named):
    case = http(ack(own), marked(TOOLS, named), number=own)
    assert ids(case, "SUB") == ["SUB-002"]
    assert ids(http(ack(named), number=own), "SUB") == ["SUB-002"]
    assert not ids(http(ack(own), marked(TOOLS, own), number=own), "SUB")


def test_over_stdio_an_id_belongs_to_an_open_subscription():
    lines = [opened(1), *server(ack(1))]
    for number in (None, 2, "1"):
        assert ids(stdio(*lines, *server(marked(TOOLS, number))), "SUB") == ["SUB-002"]
    tool = line("client", message("tools/call", 5, name="t", arguments={}))
    assert ids(stdio(*lines, tool, *server(marked(TOOLS, 5))), "SUB") == ["SUB-002"]


def test_over_stdio_an_acknowledgement_without_id_is_one_all_the_same():
    case = stdio(opened(1), *server(ack(None), marked(TOOLS, 1)))
    assert ids(case, "SUB") == ["SUB-002"]


FILTERS = {
    "notifications/tools/list_changed": "toolsListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
}


@pytest.mark.parametrize("method", FILTERS)
def test_only_what_was_asked_for_is_delivered(method):
    member = FILTERS[method]
    assert not ids(http(ack(), marked(method), **{member: True}), "SUB")
    assert ids(http(ack(), marked(method), **{member: False}), "SUB") == ["SUB-003"]
    assert ids(http(ack(), marked(method), taskIds=["t"]), "SUB") == ["SUB-003"]
    wanted = {member: True}
    assert not ids(stdio(opened(**wanted), *server(ack(), marked(method))), "SUB")
    wrong = stdio(opened(other=True), *server(ack(), marked(method)))
    assert ids(wrong, "SUB") == ["SUB-003"]


@pytest.mark.parametrize(
    ("uris", "uri", "severity"),
    [
        (["file:///p"], "file:///p", None),
        (["file:///p"], "file:///p/a", None),
        (["file:///p/"], "file:///p/a", None),
        (["file:///p"], "file:///p?x=1", None),
        (["file:///p"], "file:///pq", "note"),
        (["file:///q", "file:///p"], "file:///r", "note"),
        ([], "file:///p", "error"),
        (None, "file:///p", "error"),
    ],
)
def test_updates_are_judged_by_their_kind(uris, uri, severity):
    wanted = {"toolsListChanged": True} if uris is None else {"resourceSubscriptions": uris}
    found = fired(http(ack(), marked(UPDATED, uri=uri), **wanted), "SUB")
    assert [f.severity for f in found] == ([] if severity is None else [severity])
    assert {f.rule for f in found} <= {"SUB-003"}


def test_an_acknowledgement_grants_no_more_than_was_asked_for():
    def granted(*, wanted, **more):
        return [(f.rule, f.severity) for f in fired(http(ack(**more), **wanted), "SUB")]

    asked = {"toolsListChanged": True, "resourceSubscriptions": ["a:b"]}
    assert granted(wanted=asked, **asked) == []
    assert granted(wanted=asked) == []
    assert granted(wanted=asked, promptsListChanged=False, vendor=True, taskIds=["t"]) == []
    assert granted(wanted=asked, promptsListChanged=True) == [("SUB-003", "error")]
    assert granted(wanted={"x": 1}, **asked) == [("SUB-003", "error")] * 2
    assert granted(wanted=asked, resourceSubscriptions=["a:c"]) == [("SUB-003", "note")]


def test_changes_are_announced_on_subscriptions_only():
    done = result(1, content=[])
    for method in (*FILTERS, UPDATED):
        change = note(method, uri="a:b")
        assert ids(traffic(exchange(call(), stream(change, done))), "SUB") == ["SUB-004"]
        tool = line("client", message("tools/call", 1, name="t", arguments={}))
        assert ids(stdio(tool, *server(change)), "SUB") == ["SUB-004"]


def test_over_stdio_a_subscription_that_ended_is_not_open():
    change = marked(TOOLS, None)
    lines = [opened(1), *server(ack())]
    for end in (closing(), note("notifications/cancelled", requestId=1)):
        assert ids(stdio(*lines, *server(end, change)), "SUB") == ["SUB-004"]


@pytest.mark.parametrize("method", ["notifications/progress", "notifications/message"])
def test_what_belongs_to_a_request_is_not_delivered_on_a_subscription(method):
    extra = marked(method, 1, progressToken=1, progress=1, level="info", data="x")
    assert ids(http(ack(), extra), "SUB") == ["SUB-005"]
    assert ids(stdio(opened(1), *server(ack(), extra)), "SUB", "PROG", "LOG") == ["SUB-005"]
    extra["params"]["_meta"] = {}
    assert ids(http(ack(), extra), "SUB") == ["SUB-005"]
    assert not ids(stdio(opened(1), *server(ack(), extra)), "SUB")


@pytest.mark.parametrize("named", [None, "1", 2])
def test_the_last_result_carries_the_id(named):
    assert ids(http(ack(), closing(1, named)), "SUB") == ["SUB-006"]
    assert ids(stdio(opened(1), *server(ack(), closing(1, named))), "SUB") == ["SUB-006"]


def test_a_stream_may_simply_end():
    for who in ("server", "client", "network"):
        reply = stream(ack(), closed_by=who)
        assert not ids(traffic(exchange(listen(toolsListChanged=True), reply)), "SUB")


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        ({}, 0),
        ({"vendor": 1}, 0),
        ({"resourceSubscriptions": []}, 0),
        (None, 1),
        ([], 1),
        ("toolsListChanged", 1),
        ({"toolsListChanged": "true"}, 1),
        ({"toolsListChanged": 1, "promptsListChanged": None}, 2),
        ({"resourceSubscriptions": "a:b"}, 1),
        ({"resourceSubscriptions": ["a:b", 1]}, 1),
        ({"resourceSubscriptions": True}, 1),
    ],
)
def test_a_filter_is_an_object_of_switches_and_uris(wanted, count):
    request = ask("subscriptions/listen", notifications=wanted)
    case = traffic(exchange(request, answer(error(1))))
    assert ids(case, "SUB") == ["SUB-007"] * count
    del request["body"]["params"]["notifications"]
    assert ids(case, "SUB") == ["SUB-007"]
