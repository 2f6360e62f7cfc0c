from __future__ import annotations

import pytest

from mcp_tap.cli.check import command
from mcp_tap.core.filters import Scope
from mcp_tap.errors import UsageError
from mcp_tap.rules.assertions import Asks, Expect, Forbid, max_rounds, max_server_time
from tests import builders

SCOPE = Scope()


def looked(assertion, *subjects):
    found = [assertion.look(subject, SCOPE) for subject in subjects] + [assertion.finish()]
    return [finding for finding in found if finding is not None]


def test_one_that_passes_is_enough():
    assert looked(Expect("tool:deploy"), *builders.run()) == []
    (failed,) = looked(Expect("tool:nothing"), *builders.run())
    assert failed.message == "no call is like this: tool:nothing"
    assert (failed.rule, failed.severity, failed.call, failed.seq) == ("expect", "error", None, 0)


def test_one_that_passes_is_too_many():
    assert looked(Forbid("state:cancelled"), *builders.run()) == []
    (failed,) = looked(Forbid("state:error"), *builders.run())
    assert (failed.call, failed.target, failed.method) == (18, "exprt", "tools/call")
    assert failed.message == "it is like this, which was forbidden: state:error"


def test_exchanges_can_be_forbidden_too():
    (failed,) = looked(Forbid("kind:notification"), builders.exchange(30, request_seq=9))
    assert (failed.exchange, failed.seq, failed.call) == (30, 9, None)


def test_rounds_are_counted_with_those_left_out():
    assert looked(max_rounds(3), *builders.run()) == []
    (failed,) = looked(max_rounds(2), *builders.run())
    assert (failed.call, failed.message) == (16, "it took 3 rounds, at most 2 expected")
    deploy = builders.deploy()
    deploy.dropped = 40
    assert "43 rounds" in looked(max_rounds(3), deploy)[0].message


def test_the_servers_time_is_the_servers_alone():
    assert looked(max_server_time(0.4), *builders.run()) == [], "a person took 5.8 s in it"
    failed = looked(max_server_time(0.25), *builders.run())
    assert [(f.call, f.blame) for f in failed] == [(16, "server")]
    stream = builders.stream()
    stream.server_s = 60.0
    assert looked(max_server_time(0.25), stream) == [], "a stream is meant to stay open"


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("deploy=confirm,window", []),
        ("deploy= window , confirm ", []),
        ("deploy=confirm", ["server asked for window; expected only confirm"]),
        ("deploy=confirm,window,region", ["server did not ask for region"]),
        (
            "deploy=seat,window",
            ["server did not ask for seat and asked for confirm; expected only seat, window"],
        ),
        ("deploy=", ["server asked for confirm, window; expected nothing"]),
        ("search=", []),
        ("nothing=", ["no call of nothing"]),
    ],
)
def test_what_a_tool_asks_for_is_compared(text, messages):
    assert [f.message for f in looked(Asks(text), *builders.run())] == messages


@pytest.mark.parametrize("text", ["deploy", "=confirm", ""])
def test_what_is_to_be_asked_is_written_with_its_tool(text):
    with pytest.raises(UsageError, match="is not TOOL=KEYS"):
        Asks(text)


def test_each_is_named_as_the_option_that_asks_for_it():
    made = [Expect("a"), Forbid("a"), max_rounds(1), max_server_time(1), Asks("a=")]
    named = {f"--{assertion.option}" for assertion in made}
    assert len(named) == len(made)
    assert named <= {option for parameter in command.params for option in parameter.opts}
