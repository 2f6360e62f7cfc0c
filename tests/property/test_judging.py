"""Whatever the peers write, rules judge it: none fails, and nothing is kept without bound."""

from __future__ import annotations

import gc
import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_tap.core.finding import Finding
from mcp_tap.core.records import decode, encode
from mcp_tap.core.wire import UNPARSED, value_of
from mcp_tap.pipeline import Pipeline
from mcp_tap.testing import run_case
from tests.garbage import ODD, Traffic, examples, places

transports = st.sampled_from(["http", "stdio"])
UNFIT: list[Any] = [{}, [[]], ["a", 1, None, {}], {"": {}}]
"""What cannot be hashed, sorted or joined."""


def judged(records, *, parsed: bool = False) -> list[Finding]:
    pipeline = Pipeline()
    changes = []
    for record in records:
        carries = parsed and hasattr(record, "truncated")
        changes += pipeline.feed(record, value_of(record) if carries else UNPARSED)
    changes += pipeline.finish()
    return [change for change in changes if isinstance(change, Finding)]


def failures(findings: list[Finding]) -> list[str]:
    return [f.message for f in findings if f.rule == "TAP-001"]


@given(seed=st.integers(0, 2**32), transport=transports)
@settings(max_examples=settings.default.max_examples // 4)  # each is hundreds of messages
def test_no_message_of_any_shape_makes_a_rule_fail(seed, transport):
    assert failures(judged(islice(Traffic(seed, transport=transport), 400))) == []


@given(line=st.sampled_from(examples()), at=st.integers(0, 2**16), odd=st.sampled_from(ODD + UNFIT))
@settings(max_examples=settings.default.max_examples * 2)
def test_no_value_in_any_place_of_a_message_makes_a_rule_fail(line, at, odd):
    case = json.loads(line)
    found = places(case)
    if found:
        holder, key = found[at % len(found)]
        holder[key] = odd
    assert failures(run_case(case, live=True)) == []


@given(seed=st.integers(0, 2**32), transport=transports)
@settings(max_examples=settings.default.max_examples // 6)
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
@pytest.mark.parametrize("odd", UNFIT, ids=json.dumps)
def test_nothing_unfit_in_any_place_of_any_example_makes_a_rule_fail(odd):
    failed: list[tuple[str, Any, list[str]]] = []
    for line in examples():
        case = json.loads(line)
        for holder, key in places(case):
            before, holder[key] = holder[key], odd
            found = failures(run_case(case, live=True))
            failed += [(case["id"], key, found)] if found else []
            holder[key] = before
    assert failed == []


@pytest.mark.soak
@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_a_million_messages_are_judged_without_failing_or_growing(transport):
    traffic = Traffic(7, transport=transport)
    pipeline = Pipeline()
    raised: list[str] = []
    early = 0
    for record in traffic:
        raised += failures([c for c in pipeline.feed(record) if isinstance(c, Finding)])
        if not early and traffic.messages >= 500_000:  # as many exchanges are open as may be
            gc.collect()
            early = resident()
        if traffic.messages >= 1_000_000:
            break
    gc.collect()
    assert raised == []
    assert resident() <= early * 1.1
