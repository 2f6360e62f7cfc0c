"""Header fields of records, by name."""

from __future__ import annotations

import pytest

from mcp_tap.core.fields import header

HEADERS = [("X-Other", "0"), ("MCP-Session-Id", "1"), ("mcp-session-id", "2"), ("Empty", "")]


@pytest.mark.parametrize(
    ("wanted", "value"),
    [("mcp-session-id", "1"), ("x-other", "0"), ("empty", ""), ("mcp-session", None), ("", None)],
)
def test_the_first_field_of_a_name_is_found_however_it_is_spelt(wanted, value):
    assert header(HEADERS, wanted) == value


def test_without_fields_there_is_none():
    assert header([], "date") is None
