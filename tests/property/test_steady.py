"""To be spared a look is never to lose a finding: the same is found with and without."""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_tap.core.finding import Finding
from mcp_tap.core.wire import UNPARSED
from mcp_tap.pipeline.judge import Judge
from mcp_tap.pipeline.sparing import Sparing
from mcp_tap.pipeline.spine import Pipeline
from mcp_tap.testing import records_of
from tests.garbage import Traffic
from tests.repeats import examples, lines, repeats

CASES = examples()


def found(case, *, steady: bool) -> list[Finding]:
    return judged(records_of(case), steady=steady)


def judged(pairs, *, steady: bool) -> list[Finding]:
    pipeline = Pipeline()
    pipeline._judge = Judge(steady=steady)
    changes = []
    for record, value in pairs:
        changes += pipeline.feed(record, value)
    changes += pipeline.finish()
    return [change for change in changes if isinstance(change, Finding)]


def case_of(seed: int, transport: str, count: int = 40):
    played = repeats(Random(seed), CASES, count)
    if transport == "stdio":
        return {"transport": "stdio", "lines": list(lines(played))}
    upstream = "http://127.0.0.1:9/mcp" if seed % 2 else None
    return {"transport": "http", "exchanges": played, "upstream": upstream}


@given(seed=st.integers(0, 2**32), transport=st.sampled_from(["http", "http", "stdio"]))
def test_what_repeats_is_judged_as_if_each_message_were_looked_at_in_full(seed, transport):
    case = case_of(seed, transport)
    assert found(case, steady=True) == found(case, steady=False)


@given(seed=st.integers(0, 2**32), transport=st.sampled_from(["http", "stdio"]))
@settings(max_examples=settings.default.max_examples // 5)  # each is hundreds of messages
def test_garbage_is_judged_as_if_each_message_were_looked_at_in_full(seed, transport):
    records = list(islice(Traffic(seed, transport=transport), 300))
    pairs = [(record, UNPARSED) for record in records]
    assert judged(pairs, steady=True) == judged(pairs, steady=False)


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_much_of_what_repeats_is_known(transport, monkeypatch):
    """Otherwise the comparison above would compare nothing."""
    events: dict[tuple[str, bool], int] = {}
    rest = Sparing.rest

    def counted(self, flow, message):
        found = rest(self, flow, message)
        key = message.event, found is not None
        events[key] = events.get(key, 0) + 1
        return found

    monkeypatch.setattr(Sparing, "rest", counted)
    for seed in range(20):
        found(case_of(seed, transport), steady=True)
    for event in ("request", "result", "server_notification"):
        known = events.get((event, True), 0)
        assert known > 0.15 * (known + events.get((event, False), 0)), (event, events)
