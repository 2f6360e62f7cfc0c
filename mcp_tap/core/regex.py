r"""Regular expressions that cannot hang: search in time linear in the text.

A pattern a user types, or finds in a script, meets text a stranger wrote.  Backtracking turns that
into an afternoon (`(a+)+$`).  This engine walks the text once, following all possibilities at the
same time, and keeps what it worked out for the next character like it.

Rules of this file:

- A set of places is one integer, and a step is a few shifts of it, whatever the text: runs of
  characters and counted repeats are shifts.  A pattern that needs more of them than `MAX_MOVES` is
  refused when it is read, so that any accepted one takes about a second for a million characters.
- Groups capture nothing; lazy and greedy are the same, and what `spans()` gives are the longest
  matches, those that overlap as one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import product
from typing import Final, NamedTuple, TypeAlias

from mcp_tap.core.regex_syntax import Program, read

MAX_TEXT: Final = 1 << 20
"""Characters of one text that `search()` looks at."""
MAX_MOVES: Final = 20
_MAX_EDGES: Final = 20_000
_MAX_CLASSES: Final = 64
_MAX_KNOWN: Final = 20_000
_MAX_CHARACTERS: Final = 1 << 16

_END, _BREAK, _WORD, _OTHER = range(4)
"""Kinds of characters, as far as `^`, `$` and `\\b` can tell them apart."""
_PLACES: Final = frozenset(product((_END, _BREAK, _WORD, _OTHER), repeat=2))
_Rows: TypeAlias = list[int]


class _Table(NamedTuple):
    """How places follow each other between two characters of given kinds."""

    first: int
    """Places for the first character of a match."""
    last: int
    """Places after which a match is complete; with `_START`: an empty one."""
    up: list[tuple[int, int]]
    """Places, and by how much those that follow them are further on."""
    down: list[tuple[int, int]]
    """Places, and by how much those that follow them are further back."""
    sets: list[tuple[int, int]]
    """Places, and all those that follow each of them."""


_START: Final = 1
"""The place before a match, where a search always is."""


class _Characters(dict[str, tuple[int, int]]):
    """The places each character fits, and its kind; worked out when it is first met."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self._plain: dict[str, int] = {}
        classes: dict[str, tuple[Callable[[str], object], int]] = {}
        ones = [step for step in program.steps if step[0] == "one"]
        for place, (_, match, literal, source) in enumerate(ones, 1):
            if literal is None:
                classes[source] = match, classes.get(source, (match, 0))[1] | 1 << place
            else:
                self._plain[literal] = self._plain.get(literal, _START) | 1 << place
        if len(classes) > _MAX_CLASSES:
            raise ValueError(f"the pattern has more than {_MAX_CLASSES} kinds of characters")
        self._classes = list(classes.values())

    def __missing__(self, ch: str) -> tuple[int, int]:
        mask = self._plain.get(ch, _START)
        for match, places in self._classes:
            if match(ch):
                mask |= places
        if len(self) >= _MAX_CHARACTERS:
            self.clear()
        kind = _BREAK if ch == "\n" else _WORD if ch.isalnum() or ch == "_" else _OTHER
        self[ch] = found = mask, kind
        return found


class _State(dict[str, "_State"]):
    """A set of places the pattern may be at, and where each next character leads from there."""

    def __init__(self, places: int, before: int) -> None:
        super().__init__()
        self.places = places
        self.before = before


_FOUND: Final = _State(0, _END)


class Pattern:
    """A compiled pattern.  Made by `compile_pattern`, which says what is wrong with a bad one."""

    def __init__(self, source: str) -> None:
        self.source = source
        program = read(source)
        self._needs = program.needs
        self._literal = program.literal
        self._characters = _Characters(program)
        self._tables = _tables(program)
        self._states: dict[tuple[int, int], _State] = {}
        self._known = 0
        self._wild = False
        """Too many different states were met for remembering them to pay."""

    def search(self, text: str, limit: int | None = MAX_TEXT) -> bool:
        """Tell whether the pattern occurs in the first `limit` characters of `text`."""
        if self._needs not in text:
            return False
        if self._literal:
            return True
        if limit is not None:
            text = text[:limit]
        if self._wild:
            return self._found(text)
        state = self._state(_START, _END)
        for at, ch in enumerate(text):
            after = state.get(ch)
            if after is None:
                if self._known >= _MAX_KNOWN:
                    self._states.clear()
                    self._wild = True
                    return self._found(text[at:], state.places, state.before)
                after = self._next(state, ch)
            if after is _FOUND:
                return True
            state = after
        return bool(state.places & self._tables[state.before << 2].last)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Give where the pattern occurs, in order, without the empty matches.

        Where a match begins is learnt on a walk from the end; on the way back, one that begins
        while another might still go on is one with it.
        """
        if not self.search(text, None):
            return []
        starts = self._starts(text)
        found: list[tuple[int, int]] = []
        at = starts.find(1)
        while at >= 0:
            end, on = self._longest(text, at, starts)
            found.append((at, end))
            at = starts.find(1, max(on, end))
        return found

    def _state(self, places: int, before: int) -> _State:
        state = self._states.get((places, before))
        if state is None:
            self._states[places, before] = state = _State(places, before)
        return state

    def _next(self, state: _State, ch: str) -> _State:
        """Work out where `state` goes on `ch`, and remember it."""
        self._known += 1
        mask, kind = self._characters[ch]
        table = self._tables[state.before << 2 | kind]
        if state.places & table.last:
            state[ch] = _FOUND
            return _FOUND
        after = (_after(state.places, table) | table.first | _START) & mask
        state[ch] = found = self._state(after, kind)
        return found

    def _found(self, text: str, places: int = _START, before: int = _END) -> bool:
        """Search, or go on searching, without remembering."""
        characters, tables = self._characters, self._tables
        for ch in text:
            mask, kind = characters[ch]
            first, last, up, down, sets = tables[before << 2 | kind]
            if places & last:
                return True
            after = first | _START
            for some, by in up:
                after |= (places & some) << by
            for some, by in down:
                after |= (places & some) >> by
            for some, those in sets:
                if places & some:
                    after |= those
            places = after & mask
            before = kind
        return bool(places & tables[before << 2].last)

    def _starts(self, text: str) -> bytearray:
        """Mark where matches begin that are not empty."""
        starts = bytearray(len(text))
        characters, tables = self._characters, self._tables
        places, kind = 0, _END
        for at in range(len(text) - 1, -1, -1):
            mask, before = characters[text[at]]
            first, last, up, down, sets = tables[before << 2 | kind]
            if places & first:
                starts[at + 1] = 1
            leading = last
            for some, by in up:
                leading |= places >> by & some
            for some, by in down:
                leading |= places << by & some
            for some, those in sets:
                if places & those:
                    leading |= some
            places = leading & mask
            kind = before
        if places & tables[kind].first:
            starts[0] = 1
        return starts

    def _longest(self, text: str, start: int, starts: bytearray) -> tuple[int, int]:
        """Follow the match that begins at `start`; give its end, and from where to look on."""
        characters, tables = self._characters, self._tables
        places, end = 0, start
        before = characters[text[start - 1]][1] if start else _END
        for at in range(start, len(text)):
            mask, kind = characters[text[at]]
            table = tables[before << 2 | kind]
            if places & table.last:
                end = at
            places = _after(places, table) & mask
            if at == end > start and not places:
                return end, end  # the next match may begin right here
            if starts[at]:
                places |= table.first & mask
            if not places:
                return end, at + 1
            before = kind
        if places & tables[before << 2].last:
            end = len(text)
        return end, len(text)


@lru_cache(maxsize=256)
def compile_pattern(source: str) -> Pattern:
    """Compile a pattern, or raise `ValueError` with a reason for people."""
    return Pattern(source)


def _after(places: int, table: _Table) -> int:
    """Give the places that follow."""
    after = 0
    for some, by in table.up:
        after |= (places & some) << by
    for some, by in table.down:
        after |= (places & some) >> by
    for some, those in table.sets:
        if places & some:
            after |= those
    return after


def _tables(program: Program) -> list[_Table]:
    """Build the tables of all pairs of kinds; those that are equal are one."""
    built: dict[tuple[int, ...], _Table] = {}
    holding: dict[frozenset[str], _Table] = {}
    places = {step[1] for step in program.steps if step[0] == "at"}
    tables = []
    for before, after in sorted(_PLACES):
        hold = frozenset(w for w in places if _holds(w, before, after, program.multiline))
        if hold not in holding:
            rows = _rows(program, hold)
            key = tuple(rows)
            if key not in built:
                built[key] = _table(rows)
            holding[hold] = built[key]
        tables.append(holding[hold])
    return tables


def _holds(what: str, before: int, after: int, multiline: bool) -> bool:  # noqa: FBT001
    if what in "bB":
        edge = (before == _WORD) != (after == _WORD)
        return edge == (what == "b")
    if what == "^":
        return before == _END or (multiline and before == _BREAK)
    if what == "$":
        return after == _END or (multiline and after == _BREAK)
    return (before if what == "A" else after) == _END


def _rows(program: Program, hold: frozenset[str]) -> _Rows:
    """Give, for each place, those that may follow it; the highest bit says that it may be last."""
    steps = program.steps
    ones = [at for at, step in enumerate(steps) if step[0] == "one"]
    bits = {at: 1 << place for place, at in enumerate(ones, 1)}
    reach = [0] * (len(steps) + 1)
    reach[len(steps) - 1] = 1 << (len(ones) + 1)
    changed = True
    while changed:  # as often as loops are nested
        changed = False
        for at in range(len(steps) - 2, -1, -1):
            op, *args = steps[at]
            if op == "one":
                found = bits[at]
            elif op == "at":
                found = reach[at + 1] if args[0] in hold else 0
            else:
                found = 0
                for to in args:
                    found |= reach[to]
            if found != reach[at]:
                reach[at] = found
                changed = True
    return [reach[0], *(reach[at + 1] for at in ones)]


def _table(rows: _Rows) -> _Table:
    """Group what follows what into few moves: by distance, or all that lead to the same places."""
    final = 1 << len(rows)
    last = sum(1 << place for place, row in enumerate(rows) if row & final)
    left = [row & ~final for row in rows]
    first, left[0] = left[0], 0
    if sum(row.bit_count() for row in left) > _MAX_EDGES:
        raise ValueError(_ENTANGLED)
    table = _Table(first, last, [], [], [])
    for _ in range(MAX_MOVES):
        apart: dict[int, list[int]] = {}
        same: dict[int, int] = {}
        for place, row in enumerate(left):
            if row:
                same[row] = same.get(row, 0) | 1 << place
            while row:
                low = row & -row
                apart.setdefault(low.bit_length() - 1 - place, []).append(place)
                row ^= low  # noqa: PLW2901
        if not apart:
            return table
        by = max(apart, key=lambda d: len(apart[d]))
        row = max(same, key=lambda r: r.bit_count() * same[r].bit_count())
        if len(apart[by]) >= row.bit_count() * same[row].bit_count():
            mask = sum(1 << place for place in apart[by])
            (table.up if by >= 0 else table.down).append((mask, abs(by)))
            for place in apart[by]:
                left[place] &= ~(1 << (place + by))
        else:
            table.sets.append((same[row], row))
            left = [0 if r == row else r for r in left]
    if any(left):
        raise ValueError(_ENTANGLED)
    return table


_ENTANGLED: Final = "the pattern's optional parts and repeats are entangled in too many ways"
