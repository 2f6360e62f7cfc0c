"""Work counted, or timed by what it took of the processor: whatever else the machine does."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

Found = TypeVar("Found")


def calls_of(work: Callable[[], Found]) -> tuple[int, Found]:
    """Do some work; give how many functions were called for it, those written in C among them.

    What one such function costs is not seen: where that may be much, take `seconds_of`.
    """
    calls = 0

    def count(_frame: FrameType, event: str, _arg: Any) -> None:
        nonlocal calls
        if event in ("call", "c_call"):
            calls += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        found = work()
    finally:
        sys.setprofile(before)
    return calls, found


def seconds_of(work: Callable[[], Any]) -> float:
    """Do some work; give the seconds of a processor it took, without those it waited for one."""
    begun = time.thread_time()
    work()
    return time.thread_time() - begun
