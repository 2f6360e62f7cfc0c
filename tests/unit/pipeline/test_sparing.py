"""Who is spared a message that is equal to one before, and when everybody looks again."""

from __future__ import annotations

import pytest

from mcp_tap.pipeline.judge import Judge
from mcp_tap.pipeline.sparing import Sparing
from mcp_tap.pipeline.spine import Pipeline
from mcp_tap.rules import catalogue
from mcp_tap.testing import records_of
from tests.cases import answer, call, exchange, handshake, note, result, stream, traffic

TEXT = {"content": [{"type": "text", "text": "ok"}]}
TOKEN = {"progressToken": "p"}


@pytest.fixture
def asked(monkeypatch):
    """What came, and whether it was taken for equal to one before."""
    seen: list[tuple[str, bool]] = []
    rest = Sparing.rest

    def counted(self, flow, message):
        found = rest(self, flow, message)
        seen.append((message.event, found is not None))
        return found

    monkeypatch.setattr(Sparing, "rest", counted)
    return seen


def play(*exchanges, steady: bool = True) -> list[str]:
    pipeline = Pipeline()
    pipeline._judge = Judge(steady=steady)
    changes = []
    for record, value in records_of(traffic(*exchanges)):
        changes += pipeline.feed(record, value)
    return [change.rule for change in changes if hasattr(change, "rule")]


def test_the_second_of_two_equal_exchanges_is_known(asked):
    assert play(*(exchange(call(n), answer(result(n, **TEXT))) for n in (1, 2))) == []
    assert asked == [("request", False), ("result", False), ("request", True), ("result", True)]


def test_progress_is_known_with_its_request(asked):
    step = note("notifications/progress", progressToken="p", progress=1)
    one = exchange(call(1, meta=TOKEN), stream(step, result(1, **TEXT)))
    play(one)
    assert asked == [("request", False), ("server_notification", True), ("result", False)]


def test_nothing_is_known_where_that_is_switched_off(asked):
    play(*(exchange(call(n), answer(result(n, **TEXT))) for n in (1, 2, 3)), steady=False)
    assert not any(known for _, known in asked)


def test_what_is_wrong_is_found_each_time(asked):
    wrong = {"headers": {"Mcp-Method": "tools/list"}}
    played = [exchange(call(n, **wrong), answer(result(n, **TEXT))) for n in (1, 2)]
    assert play(*played).count("HDR-004") == 2
    assert not any(known for _, known in asked)


def test_what_is_said_once_a_client_does_not_keep_the_rest_from_being_known(asked):
    meta = {"io.modelcontextprotocol/clientInfo": ...}
    played = [exchange(call(n, meta=meta), answer(result(n, **TEXT))) for n in (1, 2)]
    assert play(*played) == ["META-004"]
    assert asked[2:] == [("request", True), ("result", True)]


def test_a_result_that_is_no_mere_text_is_looked_into():
    bad = {"content": [{"type": "text"}]}
    played = [
        exchange(call(1), answer(result(1, **TEXT))),
        exchange(call(2), answer(result(2, **bad))),
    ]
    assert play(*played) == ["RPC-012"]


def test_sessions_of_older_revisions_are_looked_at_in_full(asked):
    version = "2025-11-25"
    headers = {"Mcp-Session-Id": "case-session"}
    calls = [call(n, headers=headers, version=version) for n in (1, 2)]
    play(*handshake(), *(exchange(c, answer(result(1, None, **TEXT))) for c in calls))
    assert not any(known for _, known in asked)


def test_no_rule_of_heads_and_ends_looks_at_what_is_known():
    for rule in catalogue.RULES:
        for trigger in rule.on:
            assert trigger not in {"head", "closed"} or trigger in rule.steady, rule.id


def test_steady_triggers_are_triggers_of_the_rule():
    for rule in catalogue.RULES:
        for trigger in (*rule.steady, *rule.flat):
            assert trigger in rule.on or trigger.partition(" ")[0] in rule.on, rule.id
