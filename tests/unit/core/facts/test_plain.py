from __future__ import annotations

import pytest

from mcp_tap.core.facts.plain import is_flat

TEXT = [{"type": "text", "text": "ok"}]


@pytest.mark.parametrize(
    ("members", "flat"),
    [
        ({"content": TEXT, "_meta": {"a": {}}, "structuredContent": {"a": {}}, "n": 1}, True),
        ({"content": []}, True),
        ({"content": [{"type": "text", "text": 5}]}, False),
        ({"content": [{"type": "text", "text": "x", "_meta": {}}]}, False),
        ({"content": [{"type": "image", "data": "x"}]}, False),
        ({"content": ["x"]}, False),
        ({"other": {}}, False),
    ],
    ids=str,
)
def test_a_flat_result_has_nothing_to_look_into(members, flat):
    assert is_flat(members) is flat
