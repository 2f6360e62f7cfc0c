from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.core import clock

START = datetime(2026, 7, 28, 12, 4, 1, tzinfo=UTC)


def test_times_are_read_and_without_a_zone_are_utc():
    assert clock.read("2026-07-28T12:04:01Z") == clock.read("2026-07-28T12:04:01") == START
    for text in ("", "yesterday", "2026-13-45T99:99:99Z", "\x1b[31m"):
        assert clock.read(text) is None


@pytest.mark.parametrize(
    "text", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.999-12:00", "9999-12-31T23:59:59Z"]
)
def test_the_ends_of_the_calendar_can_be_shown(text):
    moment = clock.read(text)
    assert moment is not None
    for shown in (clock.here(moment), clock.utc(moment)):
        assert shown.year in {1, 9998, 9999}
        assert shown.isoformat()
    assert clock.utc(moment).tzinfo is UTC


def test_a_time_after_another_keeps_its_zone():
    zone = timezone(timedelta(hours=2))
    assert clock.after(START.astimezone(zone), 59).isoformat() == "2026-07-28T14:05:00+02:00"


@given(st.floats())
def test_no_number_of_seconds_leaves_the_calendar(seconds):
    for start in (START, datetime.min, datetime.max):  # noqa: DTZ901 - the ends themselves
        assert 1 <= clock.after(start, seconds).year <= 9999


@pytest.mark.parametrize("t", [1e15, 1e300, 253402300799.0])
def test_what_is_past_the_end_is_the_end(t):
    assert clock.after(START, t).year == 9999
    assert clock.after(START, -t).year == 1
