from __future__ import annotations

from mcp_tap.replay.compare.difference import Difference
from mcp_tap.replay.compare.runs import Compared
from mcp_tap.replay.compare.totals import Totals
from tests.saying import call, done


def test_pairs_are_counted_by_how_they_stand():
    a, b = call(done(1, took=0.5)), call(done(1, took=0.25))
    one = Difference(what="result", change="changed")
    totals = Totals()
    for compared in (
        Compared(a=None, b=None, differences=[one]),
        Compared(a=a, b=b, differences=[]),
        Compared(a=a, b=b, differences=[one, one]),
        Compared(a=a, b=None, differences=[one]),
        Compared(a=None, b=b, differences=[one]),
    ):
        totals.add(compared)
    assert (totals.equal, totals.differ, totals.only_a, totals.only_b) == (1, 1, 1, 1)
    assert (totals.differences, totals.calls, totals.what["result"]) == (5, 4, 5)
    assert (totals.a_s, totals.b_s) == (1.0, 0.5)
