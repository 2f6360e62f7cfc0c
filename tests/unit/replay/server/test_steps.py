"""What a replay sends, and how it is told apart."""

from __future__ import annotations

import pytest

from mcp_tap.core.records import HttpResponse
from mcp_tap.replay.server.steps import Step, is_ask, is_response


@pytest.mark.parametrize(
    ("value", "asks", "responds"),
    [
        ({"id": 1, "method": "roots/list"}, True, False),
        ({"method": "notifications/x"}, False, False),
        ({"id": 1, "result": {}}, False, True),
        ({"id": 1, "error": {}}, False, True),
        ({"id": 1, "method": "m", "result": {}}, True, False),
        ({"id": 1, "method": 5}, False, False),
        ({"id": 1}, False, False),
        ([], False, False),
    ],
)
def test_asks_and_responses_are_told_by_their_members(value, asks, responds):
    record = HttpResponse(seq=1, t=0.0, exchange=1, status=200, headers=[])
    step = Step(seq=1, t=0.0, record=record, value=value)
    assert (is_ask(step), is_response(step)) == (asks, responds)
