"""A dictionary that forgets: bounded in number and age, oldest first, counting what it lets go."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Bounded(Generic[K, V]):
    """Keep the newest `size` entries, none older than `age` seconds of record time."""

    __slots__ = ("_age", "_gone", "_items", "_size", "retired")

    def __init__(self, size: int, age: float, gone: Callable[[V], None] | None = None) -> None:
        """Hold at most `size` entries; tell `gone` about each one that had to leave."""
        # A plain dictionary steps over all that was taken out of it to find its oldest entry.
        self._items: OrderedDict[K, tuple[float, V]] = OrderedDict()
        self._size = size
        self._age = age
        self._gone = gone
        self.retired = 0

    def __len__(self) -> int:
        return len(self._items)

    def values(self) -> list[V]:
        """Give all entries, oldest first."""
        return [value for _, value in self._items.values()]

    def get(self, key: K) -> V | None:
        """Look up without making the entry any younger."""
        found = self._items.get(key)
        return None if found is None else found[1]

    def put(self, key: K, value: V, t: float) -> None:
        """Add or replace; the entry is now the youngest."""
        items = self._items
        items[key] = (t, value)
        items.move_to_end(key)
        if len(items) > self._size:
            self.retire()

    def pop(self, key: K) -> V | None:
        """Take out an entry that is done with; this does not count as retired."""
        found = self._items.pop(key, None)
        return None if found is None else found[1]

    def retire(self) -> None:
        """Let go of the oldest entry."""
        if self._items:
            _, (_, value) = self._items.popitem(last=False)
            self.retired += 1
            if self._gone is not None:
                self._gone(value)

    def expire(self, now: float) -> None:
        """Let go of what is too old."""
        while self._items:
            t, _ = next(iter(self._items.values()))
            if t + self._age >= now:
                return
            self.retire()


class Recent(Generic[K, V]):
    """Keep the newest entries: `size` of them at most, and half of that at least.

    For what is added all the time and seldom looked at: nothing has to be done for an entry that
    leaves, since half of all leave at once.
    """

    __slots__ = ("_half", "_new", "_old", "forgot")

    def __init__(self, size: int) -> None:
        """Hold at most `size` entries."""
        self._half = size // 2
        self._new: dict[K, V] = {}
        self._old: dict[K, V] = {}
        self.forgot = False
        """Something had to leave."""

    def get(self, key: K) -> V | None:
        """Look up without making the entry any younger."""
        found = self._new.get(key)
        return self._old.get(key) if found is None else found

    def put(self, key: K, value: V) -> None:
        """Add or replace; the entry is now young again."""
        new = self._new
        if len(new) >= self._half and key not in new:
            self.forgot = self.forgot or bool(self._old)
            self._old, self._new = new, {}
            new = self._new
        new[key] = value

    def pop(self, key: K) -> V | None:
        """Take out an entry that is done with."""
        found = self._new.pop(key, None)
        older = self._old.pop(key, None)
        return older if found is None else found
