"""How many calls are equal, differ or stand alone, and what was taken for equal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from mcp_tap.replay.compare.runs import Compared


class Totals:
    """Counts over pairs of calls, as they are compared."""

    def __init__(self) -> None:
        """Begin with none."""
        self.differences = 0
        self.what: Counter[str] = Counter()
        """What differs -> how often."""
        self.equal = 0
        self.differ = 0
        """Calls that are in both and differ."""
        self.only_a = 0
        self.only_b = 0
        self.a_s = 0.0
        """Seconds the server took over the calls that are in both."""
        self.b_s = 0.0
        self.matched: Mapping[str, int] = {}
        """What made values equal that are not -> how many (`Rules.matched`)."""

    @property
    def calls(self) -> int:
        """All calls of both sides, those in both once."""
        return self.equal + self.differ + self.only_a + self.only_b

    def add(self, compared: Compared) -> None:
        """Take the next pair."""
        found = compared.differences
        self.differences += len(found)
        self.what.update(difference.what for difference in found)
        if compared.a is not None and compared.b is not None:
            self.a_s += compared.a.server_s
            self.b_s += compared.b.server_s
            if found:
                self.differ += 1
            else:
                self.equal += 1
        elif compared.a is not None:
            self.only_a += 1
        elif compared.b is not None:
            self.only_b += 1
