"""Masking a capture that exists: no secret is left, and nothing new is wrong with the traffic."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.capture.reader import open_path
from mcp_tap.core.finding import Finding
from mcp_tap.core.records import AnyRecord, decode, encode
from mcp_tap.core.redact import Redactor
from mcp_tap.core.redact_records import RecordRedactor
from mcp_tap.pipeline.spine import Pipeline

GOLDEN = sorted((Path(__file__).parents[2] / "captures").glob("*.jsonl"))
KEY = b"k" * 32
SPECS = [
    "header:user-agent", "header:mcp-name", "header:mcp-session-id", "header:mcp-param-region",
    "header:mcp-protocol-version", "header:mcp-method", "header:content-type", "header:host",
    "key:text", "key:name", "key:arguments", "key:requestState", "key:message", "key:*version*",
    "key:region", "key:inputResponses", "key:content", "key:uri", "key:*[Ii]d",
    "path:$.params.arguments.*", "path:$.result.content", "path:$..description",
    "value:lab", "value:[0-9]{5}",
]  # fmt: skip


@cache
def records(path: Path) -> list[AnyRecord]:
    return list(open_path(path))


def judged(run: list[AnyRecord]) -> set[str]:
    """Ids of the rules that find something."""
    pipeline = Pipeline()
    changes = [change for record in run for change in pipeline.feed(record)]
    changes += pipeline.finish()
    return {change.rule for change in changes if isinstance(change, Finding)}


@cache
def before(path: Path) -> set[str]:
    return judged(records(path))


def masked(path: Path, specs: list[str], key: bytes = KEY) -> list[AnyRecord]:
    job = RecordRedactor(Redactor(key, specs=specs), specs, default=True)
    return [decode(encode(job.masked_record(record))) for record in records(path)]


@pytest.mark.parametrize("spec", SPECS)
def test_masking_a_golden_capture_makes_no_finding(spec):
    for path in GOLDEN:
        found = judged(masked(path, [spec]))
        assert found <= before(path), (path.name, found - before(path))


@given(st.sampled_from(GOLDEN), st.lists(st.sampled_from(SPECS), min_size=1, max_size=4))
def test_masking_again_changes_nothing_and_numbers_and_times_stay(path, specs):
    once = masked(path, specs)
    job = RecordRedactor(Redactor(b"o" * 32, specs=specs), specs, default=True)
    twice = [job.masked_record(record) for record in once]
    assert [encode(r) for r in twice[1:]] == [encode(r) for r in once[1:]]
    assert [(r.seq, r.t) for r in once] == [(r.seq, r.t) for r in records(path)]


@given(st.sampled_from(GOLDEN), st.sampled_from(["lab", "Ada", "region", "echo"]))
def test_what_a_value_specification_matches_is_left_in_no_value(path, word):
    for record in masked(path, [f"value:{word}"])[1:]:
        for _, text in getattr(record, "headers", ()):
            assert word not in text
