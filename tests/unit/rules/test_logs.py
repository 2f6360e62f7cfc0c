"""Logs: asked for, at the level asked for, of a level there is."""

from __future__ import annotations

import pytest

from tests.cases import (
    PREFIX,
    RESULT,
    answer,
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

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


def asks(level):
    return {} if level is None else {PREFIX + "logLevel": level}


def log(level="info"):
    return note("notifications/message", level=level, data="x")


def tool(number, level=None):
    return message("tools/call", number, name="t", arguments={}, meta=asks(level))


def http(asked, level):
    return traffic(exchange(call(meta=asks(asked)), stream(log(level), RESULT)))


def test_a_log_must_be_asked_for():
    assert ids(http(None, "info"), "LOG") == ["LOG-001"]
    assert not ids(http("info", "info"), "LOG")


def test_over_stdio_any_unanswered_request_may_have_asked():
    lines = [line("client", tool(1)), line("client", tool(2, "info")), line("server", log())]
    assert not ids(stdio(*lines), "LOG")
    assert ids(stdio(lines[0], lines[2]), "LOG") == ["LOG-001"]
    answered = stdio(lines[1], line("server", result(2)), lines[2])
    assert ids(answered, "LOG") == ["LOG-001"]


def test_logs_on_listen_streams_and_after_the_response_have_other_rules():
    case = traffic(exchange(listen(toolsListChanged=True), stream(log(), open=True)))
    assert not ids(case, "LOG")
    assert not ids(traffic(exchange(call(), stream(RESULT, log()))), "LOG")


@pytest.mark.parametrize("asked", LEVELS)
@pytest.mark.parametrize("level", LEVELS)
def test_a_log_is_as_severe_as_was_asked(asked, level):
    below = LEVELS.index(level) < LEVELS.index(asked)
    assert ids(http(asked, level), "LOG") == (["LOG-002"] if below else [])


def test_over_stdio_the_lowest_level_counts():
    lines = [line("client", tool(1, "error")), line("client", tool(2, "notice"))]
    assert not ids(stdio(*lines, line("server", log("notice"))), "LOG")
    assert ids(stdio(*lines, line("server", log("info"))), "LOG") == ["LOG-002"]


def test_a_level_nobody_knows_is_not_compared():
    lines = [line("client", tool(1, "error")), line("client", tool(2, "loud"))]
    assert ids(stdio(*lines, line("server", log("info"))), "LOG") == ["LOG-003"]


@pytest.mark.parametrize("level", ["trace", "Info", "warn", "", None, 3, ["info"], {}])
def test_a_level_is_one_of_eight(level):
    refused = traffic(exchange(call(meta={PREFIX + "logLevel": level}), answer(error())))
    assert [(f.rule, f.blame) for f in fired(refused, "LOG")] == [("LOG-003", "client")]
    sent = fired(http("debug", level), "LOG")
    assert [(f.rule, f.blame) for f in sent] == [("LOG-003", "server")]


def test_that_a_server_answers_nevertheless_is_noted():
    found = fired(traffic(exchange(call(meta=asks("loud")), answer(RESULT))), "LOG")
    assert [(f.rule, f.severity, f.blame) for f in found] == [
        ("LOG-003", "error", "client"),
        ("LOG-003", "note", "server"),
    ]
