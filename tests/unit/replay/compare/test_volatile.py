from __future__ import annotations

import pytest

from mcp_tap.cli.comparing import NORMALISED
from mcp_tap.core import spec
from mcp_tap.replay.compare.volatile import NORMALISERS, is_server_version, without


@pytest.mark.parametrize(
    "text",
    [
        "2026-07-28T12:04:01Z",
        "2026-07-28T12:04:01.250Z",
        "2026-07-28t12:04:01+02:00",
        "2026-07-28 12:04:01",
        "2026-07-28T12:04",
        "Mon, 30 Nov 2026 15:37:39 GMT",
    ],
)
def test_a_point_in_time_is_the_same_as_any_other(text):
    one = without("timestamps", f"made {text}, by a person")
    assert one == without("timestamps", "made 1999-01-01T00:00:00Z, by a person")


@pytest.mark.parametrize("text", ["2026-07-28", "12:04:01", "version 2026.07.28", "1753704241"])
def test_what_may_be_meant_stays(text):
    assert without("timestamps", text) == text


def test_uuids_in_a_text_are_the_same_as_any_other():
    one, other = "123e4567-e89b-12d3-a456-426614174000", "00000000-0000-4000-8000-00000000ABCD"
    assert without("uuids", f"id={one}!") == without("uuids", f"id={other}!")
    assert without("uuids", "deadbeef") == "deadbeef"


def test_the_version_of_a_server_is_told_by_where_it_stands():
    assert is_server_version(("result", "serverInfo", "version"))
    assert is_server_version(("result", "_meta", spec.META_SERVER, "version"))
    assert not is_server_version(("result", "structuredContent", "version"))
    assert not is_server_version(("version",))


def test_the_command_line_knows_every_name():
    assert set(NORMALISED) == set(NORMALISERS)
