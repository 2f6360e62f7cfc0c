r"""Regular expressions that cannot hang: the only place that knows RE2.

A pattern a user types, or finds in a script, meets text a stranger wrote.  Backtracking turns that
into an afternoon (`(a+)+$`); RE2 reads the text once.

Rules of this file:

- Groups capture nothing, and what `spans()` gives are the leftmost, longest matches: a mask should
  rather cover too much.
- Text is any `str`, lone surrogates too; indices are those of its characters.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import re2

MAX_STEPS: Final = 4000
"""Instructions a pattern may come to: each of them may be looked at for each byte of a text."""
MAX_READ: Final = 1 << 31
"""Bytes of one text that `spans()` may read, all its searches taken together."""
_MEMORY: Final = 8 << 20
"""For one pattern's automata; beyond it RE2 forgets, and begins to build them again."""

_SYNTAX: Final = "patterns are written as RE2 reads them: https://github.com/google/re2/wiki/Syntax"
_SMALLER: Final = "make counted repeats smaller, or unlimited: x{300} may be x+"
_REFUSED: Final = (
    (r"invalid perl operator: \(\?<?[=!]", "lookaround", "match what is around it too"),
    (
        r"invalid escape sequence: \\[1-9]|invalid perl operator: \(\?P$",
        "backreferences",
        "write the repeated part out",
    ),
    (r"invalid perl operator: \(\?>", "atomic groups", "write (?:..): nothing goes back here"),
    (r"bad repetition operator: \W+\+", "possessive repeats", "leave the last + away"),
    (r"invalid perl operator: \(\?\(", "conditions", "write both cases, with | between them"),
    ("pattern too large", "so many steps", _SMALLER),
    (r"invalid repetition size", "such a count", "counts go up, and to 1000 at most"),
    (r"invalid escape sequence: \\Z", r"\Z", r"write \z for the end of the text"),
    (r"invalid escape sequence: \\[uUN]", "characters by that name", r"write \x{43f}"),
)
"""What RE2 says, what that is called, and what to do instead."""
_INSIDE: Final = bytes(range(0x80, 0xC0))
"""Bytes of UTF-8 at which no character begins."""


class PatternError(ValueError):
    """A pattern cannot be used; the text says why, `help` what to do."""

    def __init__(self, why: str, help: str) -> None:
        super().__init__(why)
        self.help = help


class Pattern:
    """A compiled pattern.  Made by `compile_pattern`; any number of threads may use it."""

    def __init__(self, compiled: re2._Regexp) -> None:
        self._compiled = compiled

    def search(self, text: str | bytes) -> bool:
        """Tell whether the pattern occurs in `text`, or in bytes that are UTF-8 for the most."""
        data = _encoded(text) if isinstance(text, str) else text
        return self._compiled.search(data) is not None

    def spans(self, text: str, *, most: float | None = None) -> list[tuple[int, int]]:
        """Give where the pattern occurs, in order, without the empty matches.

        A search may read to the end to find a short match, and so may the next one: where that
        comes to more than `most` bytes (`MAX_READ`), the rest of the text counts as one match.
        """
        data = _encoded(text)
        found: list[tuple[int, int]] = []
        left = MAX_READ if most is None else most
        known, at = 0, 0  # `at` characters are in the first `known` bytes
        for match in self._compiled.finditer(data):
            first, end = match.span()
            left -= len(data) - end
            if left < 0:
                end = len(data)
            if first < end:  # a match of bytes (\C) counts for all of its characters
                start = at + _characters(data[known : first + 1]) - 1
                start, at = max(start, at), start + 1 + _characters(data[first + 1 : end])
                known = end
                if start < at:
                    found.append((start, at))
            if left < 0:
                break
        return found


def compile_pattern(source: str) -> Pattern:
    """Compile a pattern, or raise `PatternError`."""
    import re2  # noqa: PLC0415 - costs start-up, and few commands are given a pattern

    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    options.longest_match = True
    options.never_capture = True
    try:
        compiled = re2.compile(_encoded(source), options)
    except re2.error as error:
        (said,) = error.args
        raise _refusal(said.decode("utf-8", "replace")) from None
    if compiled.programsize > MAX_STEPS:
        raise PatternError(
            f"the pattern comes to {compiled.programsize} steps, more than {MAX_STEPS}",
            _SMALLER,
        )
    return Pattern(compiled)


def _refusal(said: str) -> PatternError:
    for form, name, help in _REFUSED:
        if re.match(form, said):
            return PatternError(f"{name} cannot be used: {said}", help)
    return PatternError(said, _SYNTAX)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _characters(data: bytes) -> int:
    """Count the characters that begin in it."""
    return len(data) if data.isascii() else len(data.translate(None, _INSIDE))
