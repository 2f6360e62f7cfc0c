"""Content is compared with its form once, and valid is what breaks nothing."""

from __future__ import annotations

import pytest

from mcp_tap.core.contents import faults_of, is_valid
from mcp_tap.core.facts.ask import Answer, Ask
from mcp_tap.core.facts.flow import MODERN, Flow
from mcp_tap.core.facts.message import Message
from mcp_tap.core.facts.seen import Run
from mcp_tap.core.model import Exchange
from mcp_tap.core.records import Message as Record
from tests.cases import form


def message(number):
    seen = Run().client("case", 0.0)
    flow = Flow(Exchange(number=number, t=0.0), seen, http=True, upstream="")
    flow.band = MODERN
    return Message(Record(seq=number, t=0.0, sender="client", text="{}"), {}, flow)


def question(**properties):
    return Ask(message(1), "q", form(**properties), "input_required", "/result/inputRequests/q")


def accepted(**content):
    return {"action": "accept", "content": content}


LIMITED = {"type": "integer", "maximum": 5}


@pytest.mark.parametrize(
    ("value", "valid"),
    [
        (accepted(n=5), True),
        (accepted(), True),
        (accepted(n=5, more=1), True),
        (accepted(n=6), False),
        (accepted(n=None), False),
        ({"action": "accept"}, False),
        ({"action": "accept", "content": "mcp-tap:0123456789abcdef"}, False),
        ({"action": "decline", "content": {"n": 5}}, False),
        ("accept", False),
    ],
)
def test_valid_is_accepted_content_that_breaks_nothing(value, valid):
    assert is_valid(question(n=LIMITED), value, MODERN) is valid


def test_a_form_without_fields_needs_no_content():
    ask = question(n=LIMITED)
    ask.params["requestedSchema"]["properties"] = {}
    assert is_valid(ask, {"action": "accept"}, MODERN)


def test_a_closed_form_has_no_other_fields():
    ask = question(n=LIMITED)
    ask.params["requestedSchema"]["additionalProperties"] = False
    assert not is_valid(ask, accepted(n=5, more=1), MODERN)


def test_faults_are_worked_out_once():
    answer = Answer(message(2), question(n=LIMITED), accepted(n=6), "/x", error=False)
    found = faults_of(answer)
    assert list(found) == ["range"]
    assert faults_of(answer) is found


def test_an_unknown_mode_is_no_form():
    ask = question(n=LIMITED)
    ask.params["mode"] = "html"
    assert not is_valid(ask, accepted(n=5), MODERN)
