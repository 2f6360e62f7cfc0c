from __future__ import annotations

from mcp_tap.replay.compare import matching
from mcp_tap.replay.compare.matching import Heard, match
from mcp_tap.replay.compare.values import Rules
from mcp_tap.replay.keys import key_of

MASKED = "mcp-tap:00000000000000aa"


def heard(name, *, keyed=True, method="tools/call", **arguments):
    params = {"name": name, "arguments": arguments}
    key = key_of({"method": method, "params": params}) if keyed else None
    return Heard(number=1, method=method, target=name, key=key, params=lambda: params)


def test_the_nth_of_equal_calls_is_the_nth_of_the_other_run():
    one, other = heard("a", x=1), heard("a", x=2)
    assert match([one, other, one], [other, one, one], Rules()) == [(0, 1), (1, 0), (2, 2)]


def test_calls_without_a_counterpart_stand_alone_in_the_order_of_their_run():
    a = [heard("a"), heard("gone"), heard("b")]
    b = [heard("new"), heard("a"), heard("b"), heard("last")]
    assert match(a, b, Rules()) == [(None, 0), (0, 1), (1, None), (2, 2), (None, 3)]


def test_what_is_left_of_a_target_goes_to_the_nearest():
    a = [heard("a", x=1, y=1), heard("a", x=2, y=2)]
    b = [heard("a", x=2, y=3), heard("a", x=1, y=3), heard("b", x=1, y=1)]
    assert match(a, b, Rules()) == [(0, 1), (1, 0), (None, 2)]


def test_arguments_that_only_a_normaliser_takes_for_equal_are_equal():
    a = [heard("a", at="2026-01-01T00:00:00Z"), heard("a", at="x")]
    b = [heard("a", at="y"), heard("a", at="2027-01-01T00:00:00Z")]
    assert match(a, b, Rules()) == [(0, 1), (1, 0)]


def test_a_masked_argument_fits_any():
    a = [heard("a", keyed=False, token=MASKED, x=1), heard("a", keyed=False, token=MASKED, x=2)]
    b = [heard("a", token="t", x=2), heard("a", token="t", x=1)]
    assert match(a, b, Rules()) == [(0, 1), (1, 0)]


def test_very_many_of_a_target_are_paired_in_order(monkeypatch):
    monkeypatch.setattr(matching, "MOST_NEAR", 3)
    a, b = ([heard("a", x=n) for n in numbers] for numbers in (range(3), range(10, 12)))
    assert match(a, b, Rules()) == [(0, 0), (1, 1), (2, None)]
