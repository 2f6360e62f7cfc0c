from __future__ import annotations

from mcp_tap.replay.compare.difference import Difference


def test_a_difference_says_nothing_of_calls_until_it_is_between_two():
    made = Difference(what="tool", change="added", name="deploy", at="/tools/deploy", right={})
    assert (made.a, made.b, made.method, made.round, made.left) == (None,) * 5
