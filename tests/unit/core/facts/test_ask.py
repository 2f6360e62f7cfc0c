import pytest

from mcp_tap.core.facts.ask import Answer, Ask, asks_in
from mcp_tap.core.facts.flow import Flow
from mcp_tap.core.facts.message import Message
from mcp_tap.core.facts.seen import Run
from mcp_tap.core.model import Exchange
from mcp_tap.core.records import Message as Record

PATH = "/result/inputRequests"


def carrying(t: float = 1.0) -> Message:
    flow = Flow(Exchange(number=1, t=0.0), Run().client("a", 0.0), http=True, upstream="http://x")
    return Message(Record(seq=3, t=t, sender="server", text=""), {}, flow)


@pytest.mark.parametrize("entry", [None, [], 5, "x", {}, {"params": []}, {"method": 5}])
def test_an_entry_of_any_shape_is_an_ask_with_empty_parts(entry):
    ask = Ask(carrying(), "q", entry, "input_required", f"{PATH}/q")
    assert (ask.method, ask.params, ask.schema, ask.fields) == (None, {}, None, {})
    assert ask.required == []
    assert ask.kind == "other"


def test_asks_point_to_where_they_stand():
    (ask,) = asks_in(carrying(), {"a/b": {"params": {}}}, "input_required", PATH)
    assert ask.path == f"{PATH}/a~1b"
    assert ask.at("mode") == f"{PATH}/a~1b/params/mode"
    assert ask.at_field("x~", "type").endswith("/requestedSchema/properties/x~0/type")


@pytest.mark.parametrize("requests", [None, [], "x", 0])
def test_what_is_no_map_holds_no_asks(requests):
    assert asks_in(carrying(), requests, "task", PATH) == []


def test_an_answer_reads_action_content_and_time():
    ask = Ask(carrying(), "q", {"method": "elicitation/create"}, "input_required", f"{PATH}/q")
    value = {"action": "accept", "content": {"a": 1}}
    answer = Answer(carrying(3.5), ask, value, "/params/inputResponses/q", error=False)
    assert (answer.action, answer.content, answer.elapsed) == ("accept", {"a": 1}, 2.5)
    assert answer.at("content", "a") == "/params/inputResponses/q/content/a"
    odd = Answer(carrying(), ask, ["x"], "", error=False)
    assert (odd.action, odd.content) == (None, {})
