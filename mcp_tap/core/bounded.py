"""A dictionary that forgets: bounded in number and age, oldest first, counting what it lets go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Bounded(Generic[K, V]):
    """Keep the newest `size` entries, none older than `age` seconds of record time."""

    __slots__ = ("_age", "_gone", "_items", "_size", "retired")

    def __init__(self, size: int, age: float, gone: Callable[[V], None] | None = None) -> None:
        """Hold at most `size` entries; tell `gone` about each one that had to leave."""
        self._items: dict[K, tuple[float, V]] = {}
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
        self._items.pop(key, None)
        self._items[key] = (t, value)
        if len(self._items) > self._size:
            self._retire(next(iter(self._items)))

    def pop(self, key: K) -> V | None:
        """Take out an entry that is done with; this does not count as retired."""
        found = self._items.pop(key, None)
        return None if found is None else found[1]

    def retire(self) -> None:
        """Let go of the oldest entry."""
        if self._items:
            self._retire(next(iter(self._items)))

    def expire(self, now: float) -> None:
        """Let go of what is too old."""
        while self._items:
            key = next(iter(self._items))
            if self._items[key][0] + self._age >= now:
                return
            self._retire(key)

    def _retire(self, key: K) -> None:
        _, value = self._items.pop(key)
        self.retired += 1
        if self._gone is not None:
            self._gone(value)
