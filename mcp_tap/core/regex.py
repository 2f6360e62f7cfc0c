r"""Regular expressions that cannot hang: search in time linear in the text.

A pattern a user types, or finds in a script, meets text a stranger wrote.  Backtracking turns that
into an afternoon (`(a+)+$`).  This engine walks the text once, following all possibilities at the
same time, and keeps what it worked out for the next character like it; so the cost is the length
of the text times the length of the pattern, at worst, and both are bounded.

Rules of this file:

- The language is Python's, minus what needs backtracking: backreferences, lookaround, atomic and
  possessive forms are refused by name.  What one character matches is decided by `re` itself.
- The only question is whether the pattern occurs; so lazy and greedy are the same, groups capture
  nothing, and a pattern without special characters is a plain substring search.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final, TypeAlias

MAX_PATTERN: Final = 500
MAX_STEPS: Final = 1000
"""Instructions a pattern may come to, with its counted repeats written out."""
MAX_TEXT: Final = 1 << 20
"""Characters of one text that are looked at."""
_MAX_DEPTH: Final = 40
_MAX_KNOWN: Final = 20_000

_Node: TypeAlias = tuple[Any, ...]
_SPECIAL: Final = frozenset("\\.[](){}*+?|^$")
_CLASS: Final = re.compile(r"\[\^?\]?(?:[^\]\\]|\\.)*\]", re.DOTALL)
_COUNT: Final = re.compile(r"\{(\d{1,4})?(,)?(\d{1,4})?\}")
_CHAR: Final = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[^xuU])", re.DOTALL
)
_FLAGS: Final = re.compile(r"\(\?([ims]+)\)")


class Pattern:
    """A compiled pattern.  Made by `compile_pattern`, which says what is wrong with a bad one."""

    def __init__(self, source: str) -> None:
        if len(source) > MAX_PATTERN:
            raise ValueError(f"the pattern is longer than {MAX_PATTERN} characters")
        self.source = source
        reader = _Reader(source)
        node = reader.read()
        self._multiline = bool(reader.flags & re.MULTILINE)
        self._program: list[_Node] = []
        _emit(self._program, node)
        self._program.append(("match",))
        self._literal = None if _SPECIAL & set(source) else source
        self._states: dict[tuple[frozenset[int], str], _State] = {}
        self._known = 0

    def search(self, text: str) -> bool:
        """Tell whether the pattern occurs in the first `MAX_TEXT` characters of `text`."""
        if self._literal is not None:
            return self._literal in text
        text = text[:MAX_TEXT]
        state = self._state(frozenset(), "")
        for ch in text:
            after = state.get(ch)
            if after is None:
                after = self._step(state, ch)
            if after is _FOUND:
                return True
            state = after
        return self._step(state, "") is _FOUND

    def _state(self, waiting: frozenset[int], before: str) -> _State:
        key = waiting, before
        state = self._states.get(key)
        if state is None:
            self._states[key] = state = _State(waiting, before)
        return state

    def _step(self, state: _State, ch: str) -> _State:
        """Work out where `state` goes on `ch` (empty: the end of the text), and remember it."""
        self._known += 1
        if self._known > _MAX_KNOWN:
            self._states.clear()
            self._known = 0
        after: set[int] = set()
        seen: set[int] = set()
        todo = [0, *state.waiting]
        while todo:
            at = todo.pop()
            if at in seen:
                continue
            seen.add(at)
            op, *args = self._program[at]
            if op == "match":
                state[ch] = _FOUND
                return _FOUND
            if op == "one":
                if ch and args[0](ch):
                    after.add(at + 1)
            elif op == "go":
                todo += args
            elif self._holds(args[0], state.before, ch):
                todo.append(at + 1)
        state[ch] = found = self._state(frozenset(after), _kind(ch))
        return found

    def _holds(self, what: str, before: str, ch: str) -> bool:
        if what in "bB":
            edge = (before == "w") != (_kind(ch) == "w")
            return edge == (what == "b")
        if what == "^":
            return before == "" or (self._multiline and before == "n")
        if what == "$":
            return ch == "" or (self._multiline and ch == "\n")
        return before == "" if what == "A" else ch == ""


class _State(dict[str, "_State"]):
    """A set of places the pattern may be at, and where each next character leads from there."""

    def __init__(self, waiting: frozenset[int], before: str) -> None:
        super().__init__()
        self.waiting = waiting
        self.before = before


_FOUND: Final = _State(frozenset(), "found")


def _kind(ch: str) -> str:
    if not ch:
        return ""
    return "n" if ch == "\n" else "w" if ch.isalnum() or ch == "_" else "o"


@lru_cache(maxsize=256)
def compile_pattern(source: str) -> Pattern:
    """Compile a pattern, or raise `ValueError` with a reason for people."""
    return Pattern(source)


def _emit(out: list[_Node], node: _Node) -> None:
    """Append the instructions of a node; what a repeat writes out is bounded as a whole."""
    if len(out) > MAX_STEPS:
        raise ValueError("the pattern's counted repeats come to too many steps")
    op = node[0]
    if op in ("one", "at"):
        out.append(node)
    elif op == "seq":
        for part in node[1]:
            _emit(out, part)
    elif op == "or":
        jumps = []
        for part in node[1][:-1]:
            split = len(out)
            out.append(())
            _emit(out, part)
            jumps.append(len(out))
            out.append(())
            out[split] = ("go", split + 1, len(out))
        _emit(out, node[1][-1])
        for jump in jumps:
            out[jump] = ("go", len(out))
    else:
        _emit_repeat(out, node[1], node[2], node[3])


def _emit_repeat(out: list[_Node], part: _Node, low: int, high: int | None) -> None:
    for _ in range(low):
        before = len(out)
        _emit(out, part)
        if len(out) == before:
            break  # nothing, many times, is nothing
    if high is None:
        split = len(out)
        out.append(())
        _emit(out, part)
        out.append(("go", split))
        out[split] = ("go", split + 1, len(out))
        return
    splits = []
    for _ in range(high - low):
        splits.append(len(out))
        out.append(())
        _emit(out, part)
    for split in splits:
        out[split] = ("go", split + 1, len(out))


class _Reader:
    """Reads a pattern into nodes: `one` character, `at` a place, `seq`, `or`, `repeat`."""

    def __init__(self, source: str) -> None:
        self.text = source
        self.at = 0
        self.flags = 0
        self.depth = 0
        if flags := _FLAGS.match(source):
            self.at = flags.end()
            for letter in flags[1]:
                self.flags |= {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}[letter]

    def read(self) -> _Node:
        node = self._alternatives()
        if self.at < len(self.text):
            raise ValueError("there is a ) without its (")
        return node

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _alternatives(self) -> _Node:
        parts = [self._sequence()]
        while self._peek() == "|":
            self.at += 1
            parts.append(self._sequence())
        return ("or", parts) if len(parts) > 1 else parts[0]

    def _sequence(self) -> _Node:
        parts: list[_Node] = []
        while (ch := self._peek()) and ch not in "|)":
            parts.append(self._repeats(self._atom()))
        return ("seq", parts)

    def _repeats(self, node: _Node) -> _Node:
        ch = self._peek()
        if not ch or ch not in "*+?{":
            return node
        if ch == "{":
            count = _COUNT.match(self.text, self.at)
            if not count or not (count[1] or count[3]):
                return node  # as in `re`: a brace that counts nothing is a brace
            self.at = count.end()
            low = int(count[1] or 0)
            high = low if not count[2] else int(count[3]) if count[3] else None
            if high is not None and high < low:
                raise ValueError(f"{count[0]} has its bounds the wrong way round")
        else:
            self.at += 1
            low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}[ch]
        after = self._peek()
        if after == "?":
            self.at += 1
        elif after and (after in "*+" or (after == "{" and _COUNT.match(self.text, self.at))):
            raise ValueError(f"{after} repeats a repeat")
        return ("repeat", node, low, high)

    def _atom(self) -> _Node:
        ch = self._peek()
        if ch == "(":
            return self._group()
        if ch in "*+?":
            raise ValueError(f"{ch} has nothing to repeat")
        if ch in "^$":
            self.at += 1
            return ("at", ch)
        if ch == "[":
            found = _CLASS.match(self.text, self.at)
            if not found:
                raise ValueError("there is a [ without its ]")
            self.at = found.end()
            return self._one(found[0])
        if ch == "\\":
            return self._escape()
        self.at += 1
        return self._one("." if ch == "." else re.escape(ch))

    def _escape(self) -> _Node:
        found = _CHAR.match(self.text, self.at)
        if not found:
            raise ValueError("the pattern ends in the middle of an escape")
        self.at = found.end()
        letter = found[0][1]
        if letter in "bBAZ":
            return ("at", letter)
        if letter.isdigit() and letter != "0":
            raise ValueError("backreferences are not known here")
        return self._one(found[0])

    def _one(self, source: str) -> _Node:
        try:
            return ("one", re.compile(source, self.flags).match)
        except (re.error, OverflowError) as error:
            raise ValueError(f"{source}: {error}") from None

    def _group(self) -> _Node:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise ValueError("the pattern's groups are nested too deep")
        self.at += 1
        if self._peek() == "?":
            if self.text.startswith("?:", self.at):
                self.at += 2
            elif named := re.compile(r"\?P<\w+>").match(self.text, self.at):
                self.at = named.end()
            else:
                form = self.text[self.at - 1 : self.at + 3]
                raise ValueError(f"{form}..) is not known here; flags go first: (?i)")
        node = self._alternatives()
        if self._peek() != ")":
            raise ValueError("there is a ( without its )")
        self.at += 1
        self.depth -= 1
        return node
