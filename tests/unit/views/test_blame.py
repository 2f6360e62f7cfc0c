import pytest

from mcp_tap.core.model import Ask, Call, Fault, Round
from mcp_tap.views.blame import Verdict, verdict
from tests.builders import finding


def ask(key="confirm", *, action=None, took=None, by="client"):
    return Ask(
        key=key,
        method="elicitation/create",
        kind="form",
        params={},
        seq=2,
        t=1.0,
        action=action,
        answered_by="none" if action is None else by,
        answer_t=None if took is None else 1.0 + took,
    )


def a_round(number=1, **facts):
    return Round(
        number=number,
        exchange=number,
        request_id=number,
        t=float(number - 1),
        request_seq=1,
        **facts,
    )


def a_call(outcome, *rounds, **facts):
    call = Call(number=16, method="tools/call", name="deploy", t=0.0, outcome=outcome, **facts)
    call.rounds = list(rounds) or [a_round()]
    return call


def words(call):
    found = verdict(call)
    return None if found is None else found.words


def test_a_call_that_ended_well_blames_nobody():
    assert verdict(a_call("ok")) is None


def test_an_open_call_waits_for_the_server():
    why = "no response came before the capture ends"
    assert verdict(a_call("open")) == Verdict(party="server", why=why, waits=True)


def test_an_open_stream_waits_for_nobody():
    assert verdict(a_call("open", kind="stream")) is None


def test_unanswered_asks_are_named():
    call = a_call("waiting", a_round(asks=[ask(), ask("seat"), ask("x", action="accept")], end=1.0))
    why = "has not answered confirm, seat"
    assert verdict(call) == Verdict(party="client", why=why, waits=True)


def test_a_state_only_round_waits_for_the_retry():
    call = a_call("waiting", a_round(end=1.0))
    why = "did not repeat the call with its requestState"
    assert verdict(call) == Verdict(party="client", why=why, waits=True)


def test_an_error_a_rule_explains_is_the_fault_of_whom_the_rule_blames():
    call = a_call(
        "error",
        a_round(asks=[ask(action="accept", took=2.0)]),
        a_round(2, fault=Fault(code=-32602, message="bad state")),
        findings=[finding("X-1", "warning", round=2), finding(round=2)],
    )
    assert words(call) == "client: MRTR-016 client echoed another requestState"


def test_a_finding_of_another_round_explains_nothing():
    call = a_call(
        "error", a_round(fault=Fault(code=-32602, message="no")), findings=[finding(round=5)]
    )
    assert words(call).startswith("cannot tell: the server answered -32602")


def test_a_decline_within_milliseconds_was_no_person():
    call = a_call(
        "error",
        a_round(asks=[ask(action="decline", took=0.003)]),
        a_round(2, fault=Fault(code=-32000, message="declined")),
    )
    assert words(call) == "client: declined confirm after 3ms: no person did that"


def test_a_decline_after_seconds_was_perhaps_one():
    call = a_call(
        "error",
        a_round(asks=[ask(action="cancel", took=3.0)]),
        a_round(2, fault=Fault(code="isError", message="")),
    )
    assert words(call) == "client: cancelled confirm after 3.00s"


def test_a_slow_person_is_mentioned_where_the_server_refuses_the_answer():
    call = a_call(
        "error",
        a_round(asks=[ask(action="accept", took=5.8)]),
        a_round(2, fault=Fault(code=-32603, message="expired")),
    )
    assert words(call) == ("server: it reports an internal error; the client took 5.80s to answer")


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (
            Fault(code="upstream_cut", message="cut"),
            "server: broke off after 2.00s without a response",
        ),
        (
            Fault(code=-32603, message="mcp-tap: no answer from http://x", sender="tap"),
            "server: no answer from http://x",
        ),
        (
            Fault(
                code=-31999, message="mcp-tap: nothing answers ask 'a': 'x' wants b", sender="tap"
            ),
            "tap: nothing answers ask 'a'",
        ),
        (
            Fault(code=-31999, message="its own"),
            "cannot tell: the server answered -31999, and no rule says who is wrong",
        ),
        (Fault(code="tap_failed", message="x", sender="tap"), "tap: a fault of mcp-tap ended it"),
        (Fault(code="isError", message="boom"), "server: its tool says it failed"),
        (
            Fault(code=-32020, message="mismatch"),
            "client: the server says its headers do not fit its body",
        ),
        (
            Fault(code=-32601, message="no"),
            "cannot tell: the server answered -32601, and no rule says who is wrong",
        ),
        (
            Fault(code=None, message=""),
            "cannot tell: no response came, and no rule says who is wrong",
        ),
    ],
)
def test_an_end_tells_whose_it_was(fault, expected):
    assert words(a_call("error", a_round(fault=fault), end=2.0)) == expected


def test_a_client_that_leaves_soon_gave_up_and_after_long_the_server_was_slow():
    assert words(a_call("cancelled", end=0.2)) == "client: gave up after 200ms"
    assert words(a_call("cancelled", end=30.0)) == "server: slow: 30.0s without a response"


def test_nobody_is_blamed_for_a_call_that_was_under_way_when_the_tap_stopped():
    for why in ("the tap stopped", "the tap was stopped"):
        told = words(a_call("cancelled", why=why, end=0.2))
        assert told == "tap: it was stopped after the server had 200ms"


def test_what_cannot_be_linked_cannot_be_blamed():
    assert words(a_call("unlinked", a_round(candidates=[1, 2]))).startswith("cannot tell: ")
    assert words(a_call("unlinked")).startswith("cannot tell: ")
