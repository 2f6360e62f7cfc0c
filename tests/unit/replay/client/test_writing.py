"""Which tools are called without being told to."""

from __future__ import annotations

import pytest

from mcp_tap.replay.client.writing import may_write

READS = {"readOnlyHint": True}


@pytest.mark.parametrize(
    ("annotations", "words"),
    [
        ([READS], ""),
        ([READS, READS], ""),
        ([], "nothing says"),
        ([None], "no readOnlyHint"),
        ([{"readOnlyHint": False}], "no readOnlyHint"),
        ([READS, None], "no readOnlyHint"),
        ([READS | {"destructiveHint": True}], "destructiveHint"),
        (["nonsense"], "no readOnlyHint"),
    ],
)
def test_a_tool_only_reads_where_all_that_is_known_says_so(annotations, words):
    found = may_write(annotations)
    assert words in found
    assert bool(found) == bool(words)
