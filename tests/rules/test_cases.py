"""Every case of the catalogue behaves as it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mcp_tap.rules
from mcp_tap.testing import run_case

EXAMPLES = Path(mcp_tap.rules.__file__).parent / "examples"


def cases():
    for path in sorted(EXAMPLES.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            yield pytest.param(case, id=case["id"])


@pytest.mark.parametrize("case", list(cases()))
def test_a_case_is_judged_as_it_says(case):
    found = run_case(case)
    fired = {finding.rule for finding in found}
    said = "\n".join(f"  {f.rule} {f.severity} seq {f.seq} {f.path}: {f.message}" for f in found)
    assert not set(case["expect"]) - fired, f"{case['title']}: not found\n{said}"
    assert not set(case["forbid"]) & fired, f"{case['title']}: found although forbidden\n{said}"
    if case["clean"]:
        known = {*case["expect"], *case.get("may", ())}
        loud = {f.rule for f in found if f.severity != "note"} - known
        assert not loud, f"{case['title']}: a false alarm\n{said}"
    assert run_case(case, live=True) == found
