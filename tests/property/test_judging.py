"""Whatever the peers write, rules judge it: none fails, and nothing is kept without bound."""

from __future__ import annotations

import gc
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_tap.core.finding import Finding
from mcp_tap.core.records import decode, encode
from mcp_tap.core.wire import UNPARSED, value_of
from mcp_tap.pipeline import Pipeline
from tests.garbage import Traffic

transports = st.sampled_from(["http", "stdio"])


def judged(records, *, parsed: bool = False) -> list[Finding]:
    pipeline = Pipeline()
    changes = []
    for record in records:
        carries = parsed and hasattr(record, "truncated")
        changes += pipeline.feed(record, value_of(record) if carries else UNPARSED)
    changes += pipeline.finish()
    return [change for change in changes if isinstance(change, Finding)]


@given(seed=st.integers(0, 2**32), transport=transports)
@settings(max_examples=25, deadline=None)
def test_no_message_of_any_shape_makes_a_rule_fail(seed, transport):
    found = judged(islice(Traffic(seed, transport=transport), 400))
    assert [f.message for f in found if f.rule == "TAP-001"] == []


@given(seed=st.integers(0, 2**32), transport=transports)
@settings(max_examples=10, deadline=None)
def test_what_was_written_and_read_again_is_judged_alike(seed, transport):
    records = list(islice(Traffic(seed, transport=transport), 200))
    assert judged(records, parsed=True) == judged([decode(encode(r)) for r in records])


def resident() -> int:
    """Kilobytes this process holds now."""
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError


@pytest.mark.soak
@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_a_million_messages_are_judged_without_failing_or_growing(transport):
    traffic = Traffic(7, transport=transport)
    pipeline = Pipeline()
    raised: list[str] = []
    early = 0
    for record in traffic:
        found = (change for change in pipeline.feed(record) if isinstance(change, Finding))
        raised += [finding.message for finding in found if finding.rule == "TAP-001"]
        if not early and traffic.messages >= 300_000:
            gc.collect()
            early = resident()
        if traffic.messages >= 1_000_000:
            break
    gc.collect()
    assert raised == []
    assert resident() <= early * 1.1
