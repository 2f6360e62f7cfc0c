"""Reading regular expressions: from Python's notation to a small program.

The language is Python's, minus what needs backtracking: backreferences, lookaround, atomic and
possessive forms are refused by name.  What one character matches is decided by `re` itself.
A program is a list of instructions: `one` character, `at` a place, `go` on at one of some others.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple, TypeAlias

MAX_PATTERN: Final = 500
MAX_STEPS: Final = 1000
"""Instructions a pattern may come to, with its counted repeats written out."""
_MAX_DEPTH: Final = 40

Node: TypeAlias = tuple[Any, ...]
_CLASS: Final = re.compile(r"\[\^?\]?(?:[^\]\\]|\\.)*\]", re.DOTALL)
_COUNT: Final = re.compile(r"\{(\d{1,4})?(,)?(\d{1,4})?\}")
_CHAR: Final = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[^xuU])", re.DOTALL
)
_FLAGS: Final = re.compile(r"\(\?([ims]+)\)")


class Program(NamedTuple):
    """A pattern, ready to be turned into an automaton."""

    steps: list[Node]
    """Its instructions; the last one is `match`."""
    multiline: bool
    """`^` and `$` hold at line breaks too."""
    needs: str
    """Text that stands in whatever the pattern matches."""
    literal: bool
    """That text is all of the pattern."""


def read(source: str) -> Program:
    """Read a pattern, or raise `ValueError` with a reason for people."""
    if len(source) > MAX_PATTERN:
        raise ValueError(f"the pattern is longer than {MAX_PATTERN} characters")
    reader = _Reader(source)
    node = reader.read()
    steps: list[Node] = []
    _emit(steps, node)
    steps.append(("match",))
    needs, literal = _needs(node)
    return Program(steps, bool(reader.flags & re.MULTILINE), needs, literal)


def _needs(node: Node) -> tuple[str, bool]:
    """Find the longest text that must occur, and tell whether it is all there is."""
    parts = node[1] if node[0] == "seq" else [node]
    plain = [part[2] if part[0] == "one" else None for part in parts]
    runs = "".join("\0\0" if text is None else text for text in plain).split("\0\0")
    return max(runs, key=len), None not in plain


def _emit(out: list[Node], node: Node) -> None:
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


def _emit_repeat(out: list[Node], part: Node, low: int, high: int | None) -> None:
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

    def read(self) -> Node:
        node = self._alternatives()
        if self.at < len(self.text):
            raise ValueError("there is a ) without its (")
        return node

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _alternatives(self) -> Node:
        parts = [self._sequence()]
        while self._peek() == "|":
            self.at += 1
            parts.append(self._sequence())
        return ("or", parts) if len(parts) > 1 else parts[0]

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while (ch := self._peek()) and ch not in "|)":
            parts.append(self._repeats(self._atom()))
        return ("seq", parts)

    def _repeats(self, node: Node) -> Node:
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

    def _atom(self) -> Node:
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
        return self._one(".") if ch == "." else self._one(re.escape(ch), ch)

    def _escape(self) -> Node:
        found = _CHAR.match(self.text, self.at)
        if not found:
            raise ValueError("the pattern ends in the middle of an escape")
        self.at = found.end()
        letter = found[0][1]
        if letter in "bBAZ":
            return ("at", letter)
        if letter.isdigit() and letter != "0":
            raise ValueError("backreferences are not known here")
        plain = letter if not letter.isalnum() and letter.isascii() else None
        return self._one(found[0], plain)

    def _one(self, source: str, literal: str | None = None) -> Node:
        """Make the instruction for one character; `literal`: it is just this one."""
        if self.flags & re.IGNORECASE:
            literal = None
        try:
            return ("one", re.compile(source, self.flags).match, literal, source)
        except (re.error, OverflowError) as error:
            raise ValueError(f"{source}: {error}") from None

    def _group(self) -> Node:
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
