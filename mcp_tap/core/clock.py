"""Wall-clock times of a run, whatever its records say.

Rules of this file:

- A capture may come from anywhere, and hold times no calendar has: they become the nearest one
  that it has.  Nothing here raises.
- A time without a zone is UTC, as the recorder writes them.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def read(text: str) -> datetime | None:
    """Read a time as a header has it; None where it is none."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def here(moment: datetime) -> datetime:
    """Give a time as this machine's clock shows it; at the ends of the calendar, as it is."""
    try:
        return moment.astimezone()
    except (OverflowError, ValueError, OSError):
        return moment


def utc(moment: datetime) -> datetime:
    """Give a time in UTC; at the ends of the calendar, with its fields as they are."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return moment.replace(tzinfo=UTC)


def after(start: datetime, seconds: float) -> datetime:
    """Give the time so many seconds after another, as far as the calendar goes."""
    try:
        return start + timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        if seconds > 0:
            return datetime.max.replace(tzinfo=start.tzinfo)
        return datetime.min.replace(tzinfo=start.tzinfo)
