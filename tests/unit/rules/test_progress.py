"""Progress: which tokens, when, and in which order."""

from __future__ import annotations

import pytest

from tests.cases import (
    RESULT,
    SESSION,
    answer,
    asking,
    call,
    exchange,
    fired,
    form,
    handshake,
    ids,
    line,
    listen,
    message,
    note,
    post,
    result,
    stdio,
    stream,
    traffic,
)


def token(value):
    return {"progressToken": value}


def tick(given="p", progress=1, **more):
    return note("notifications/progress", progressToken=given, progress=progress, **more)


def tool(number, given=None):
    meta = None if given is None else token(given)
    return message("tools/call", number, name="t", arguments={}, meta=meta)


@pytest.mark.parametrize("value", [1.5, True, None, ["a"], {}])
def test_a_token_is_a_string_or_an_integer(value):
    found = fired(traffic(exchange(call(meta=token(value)), answer(RESULT))), "PROG-001")
    assert [(f.severity, f.blame) for f in found] == [("error", "client")]


@pytest.mark.parametrize("value", ["", "a", 0, 7, 2.0])
def test_strings_and_whole_numbers_are_tokens(value):
    assert not ids(traffic(exchange(call(meta=token(value)), answer(RESULT))), "PROG")


def test_a_token_in_use_is_a_warning():
    case = traffic(
        exchange(call(1, meta=token("p")), answer(RESULT), t=(0, 5)),
        exchange(call(2, meta=token("p")), answer(result(2)), t=(1, 2)),
    )
    assert [(f.rule, f.severity) for f in fired(case, "PROG")] == [("PROG-001", "warning")]


def test_a_token_is_free_after_an_answer_and_after_a_cut():
    for how in ("server", "client", "network"):
        cut = stream(*([RESULT] if how == "server" else [tick()]), closed_by=how)
        case = traffic(
            exchange(call(1, meta=token("p")), cut, t=(0, 1)),
            exchange(call(2, meta=token("p")), answer(result(2)), t=(1, 2)),
        )
        assert not ids(case, "PROG")


def test_two_processes_of_one_program_are_not_taken_for_one_client():
    case = traffic(
        exchange(call(1, meta=token(1)), answer(RESULT), t=(0, 5)),
        exchange(call(1, meta=token(1)), answer(RESULT), t=(1, 2)),
    )
    assert not ids(case, "PROG")


def test_over_stdio_a_cancelled_request_holds_no_token():
    case = stdio(
        line("client", tool(1, "p")),
        line("client", note("notifications/cancelled", requestId=1)),
        line("client", tool(2, "p")),
    )
    assert not ids(case, "PROG")
    del case["lines"][1]
    assert ids(case, "PROG") == ["PROG-001"]


@pytest.mark.parametrize(
    ("given", "sent", "rules"),
    [
        ("p", "p", []),
        (1, 1, []),
        (1, 1.0, []),
        (1, "1", ["PROG-002"]),
        ("p", "q", ["PROG-002"]),
        (None, "p", ["PROG-002"]),
        ("p", None, ["PROG-002"]),
    ],
)
def test_over_http_the_token_is_that_of_the_stream(given, sent, rules):
    meta = None if given is None else token(given)
    case = traffic(exchange(call(meta=meta), stream(tick(sent), RESULT)))
    assert ids(case, "PROG") == rules


def test_a_notification_must_have_a_token_and_a_number():
    bare = note("notifications/progress", progress=1)
    case = traffic(exchange(call(meta=token("p")), stream(bare, RESULT)))
    assert ids(case, "PROG") == ["PROG-002"]
    for progress in (None, "1", True):
        case = traffic(exchange(call(meta=token("p")), stream(tick(progress=progress), RESULT)))
        assert ids(case, "PROG") == ["PROG-002"]


def test_the_token_of_another_request_is_not_that_of_the_stream():
    case = traffic(
        exchange(call(1, meta=token("a")), answer(RESULT), t=(0, 5)),
        exchange(call(2, meta=token("b")), stream(tick("a"), result(2)), t=(1, 2)),
    )
    assert ids(case, "PROG") == ["PROG-002"]


def test_progress_on_a_listen_stream_is_left_to_the_rule_about_that():
    case = traffic(exchange(listen(toolsListChanged=True), stream(tick(), open=True)))
    assert not ids(case, "PROG")


def test_over_stdio_any_unanswered_request_will_do():
    lines = [line("client", tool(1, "a")), line("client", tool(2, "b"))]
    assert not ids(stdio(*lines, line("server", tick("a")), line("server", tick("b"))), "PROG")
    assert ids(stdio(*lines, line("server", tick("c"))), "PROG") == ["PROG-002"]


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ((1, 2, 2.5), 0),
        ((0.2, 0.6, 1.0), 0),
        ((1, 1), 1),
        ((1, 2, 2), 1),
        ((5, 3, 4), 1),
        ((-2, -1), 0),
    ],
)
def test_values_that_do_not_grow_are_found_once(values, count):
    ticks = [tick(progress=value, total=len(values) - index) for index, value in enumerate(values)]
    case = traffic(exchange(call(meta=token("p")), stream(*ticks, RESULT)))
    assert ids(case, "PROG") == ["PROG-003"] * count
    lines = [line("client", tool(1, "p")), *(line("server", one) for one in ticks)]
    assert ids(stdio(*lines), "PROG") == ["PROG-003"] * count


def test_each_round_of_a_call_counts_anew():
    again = call(2, meta=token("p"), inputResponses={"q": {"action": "decline"}}, requestState="s")
    case = traffic(
        exchange(call(1, meta=token("p")), stream(tick(progress=9), asking({"q": form()}, "s"))),
        exchange(again, stream(tick(progress=1), result(2))),
    )
    assert not ids(case, "PROG")


def test_each_request_counts_anew_on_the_stream_of_a_session():
    def old(number):
        body = message("tools/call", number, version="2025-11-25", name="t", meta=token("p"))
        return post(body, SESSION, version="2025-11-25")

    get = {"method": "GET", "headers": {**SESSION, "MCP-Protocol-Version": "2025-11-25"}}
    values = [tick(progress=value) for value in (1, 5, 1, 2)]
    case = traffic(
        *handshake(),
        exchange({**get}, stream(*values, open=True), t=(10, 14)),
        exchange(old(1), answer(result(1, None, content=[])), t=(10.5, 12.1)),
        exchange(old(2), answer(result(2, None, content=[])), t=(12.5, 20)),
    )
    assert not ids(case, "PROG")
    case["exchanges"][2]["response"]["sse"][3]["params"]["progress"] = 1
    assert ids(case, "PROG") == ["PROG-003"]


def test_over_stdio_what_comes_after_the_answer_is_late():
    for reply in (result(1), asking({"q": form()}), {"jsonrpc": "2.0", "id": 1, "error": {}}):
        case = stdio(line("client", tool(1, "p")), line("server", reply), line("server", tick("p")))
        assert ids(case, "PROG") == ["PROG-004"]


def test_over_stdio_a_token_that_is_in_use_again_is_not_late():
    case = stdio(
        line("client", tool(1, "p")),
        line("server", result(1)),
        line("client", tool(2, "p")),
        line("server", tick("p")),
    )
    assert not ids(case, "PROG")


def test_over_http_the_stream_says_so_already():
    case = traffic(exchange(call(meta=token("p")), stream(RESULT, tick("p"))))
    assert not ids(case, "PROG")


@pytest.mark.parametrize(("at", "rules"), [(2.2, []), (4.0, ["PROG-004"])])
def test_streams_of_a_session_may_overtake_each_other(at, rules):
    body = message("tools/call", 1, version="2025-11-25", name="t", meta=token("p"))
    get = {"method": "GET", "headers": {**SESSION, "MCP-Protocol-Version": "2025-11-25"}}
    case = traffic(
        *handshake(),
        exchange(
            post(body, SESSION, version="2025-11-25"),
            answer(result(1, None, content=[])),
            t=(11, 12),
        ),
        exchange(get, stream(tick("p"), open=True), t=(11, 10 + at)),
    )
    assert ids(case, "PROG") == rules
