from mcp_tap.core.facts.flow import Flow
from mcp_tap.core.facts.message import Message
from mcp_tap.core.facts.retry import Asking, Retry
from mcp_tap.core.facts.seen import Run
from mcp_tap.core.model import Call, Exchange, Round
from mcp_tap.core.records import Message as Record


def a_round(number: int, kind: str | None) -> Round:
    made = Round(number=number, exchange=number, request_id=number, t=0.0, request_seq=number)
    made.result_type = kind
    return made


def retry(answers: object) -> Retry:
    rounds = [a_round(1, "input_required"), a_round(2, "input_required"), a_round(3, None)]
    whole = Call(number=1, method="tools/call", name="t", t=0.0, rounds=rounds)
    flow = Flow(Exchange(number=1, t=0.0), Run().client("a", 0.0), http=True, upstream="http://x")
    value = {"id": 1, "method": "tools/call", "params": {"inputResponses": answers}}
    message = Message(Record(seq=3, t=1.0, sender="client", text=""), value, flow)
    return Retry(message, Asking(message, message, {}), whole, rounds[2], rounds[0])


def test_the_latest_round_is_the_newest_that_asked_before_the_retry():
    found = retry({})
    assert found.latest is found.call.rounds[1]


def test_answers_that_are_no_map_are_none():
    assert retry(["no map"]).answers == {}
    assert retry({"q": 1}).answers == {"q": 1}
