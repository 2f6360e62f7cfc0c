"""Terms found in text: one spelling for all, and matchers that take time linear in the text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple
from unicodedata import combining

LONGEST: Final = 8_000
"""Characters of one text that are read: no person reads more."""
MOST_FOUND: Final = 20
"""Terms looked at in one text."""

LETTER: Final = r"[^\W\d_]"
"""A letter.  That those of East Asia end no word is left to `_is_letter`: in a set they would take
`re` a millisecond, and there are hundreds of patterns."""
STEM: Final = 4
"""Letters with which a stem may go on."""
_WORD: Final = re.compile(r"[^\W_\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff]+")
_ACCENTS: Final = re.compile("[\u0300-\u036f]+")
_PILED: Final = re.compile(r"[^\w\s\x00-\xac\xae-\u02ff]{16,}")
"""What may be many marks on one letter: these take a normal form time by the square."""
_AT_ONCE: Final = 1000
_SAME: Final = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u02bc\u0060\u00b4"), "'"),
    **dict.fromkeys(map(ord, "\u2010\u2011"), "-"),
    **dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF), None),
}
_INFLECTION: Final = re.compile(rf"(?:s|es|e|er|ern|en|n)?(?!{LETTER})(?!-{LETTER})")


class Term(NamedTuple):
    """A term of a list, ready to be found."""

    term: str
    languages: frozenset[str]
    pattern: re.Pattern[str]
    is_stem: bool
    """It may go on with a few letters."""


class Found(NamedTuple):
    """A term found in a text, and where."""

    start: int
    end: int
    term: str
    languages: frozenset[str]


def fold(text: str) -> str:
    """Spell a text as all its spellings are compared."""
    text = text[:LONGEST]
    if text.isascii():
        return text.lower().replace("`", "'")
    return _folded(text)


@lru_cache(maxsize=16)
def _folded(text: str) -> str:
    text = _PILED.sub(lambda pile: "".join(c for c in pile[0] if not combining(c)), text)
    text = _unfolded(text).casefold().translate(_SAME)
    text = _ACCENTS.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", text)


def _unfolded(text: str) -> str:
    """Spell out what one character stands for, as long as that is not far more than there was."""
    most = min(2 * len(text) + 64, LONGEST)
    found = ""
    for start in range(0, len(text), _AT_ONCE):
        found += unicodedata.normalize("NFKC", text[start : start + _AT_ONCE])
        if len(found) >= most:
            break
    return found[:most]


class Matcher:
    """Finds terms: words by their first three letters, signs by one pattern."""

    def __init__(
        self,
        terms: dict[str, list[str]],
        signs: Iterable[tuple[str, str]],
        compounds: Iterable[tuple[str, str]] = (),
    ) -> None:
        self._starts: dict[str, list[Term]] = {}
        languages: dict[str, set[str]] = {}
        for language, listed in terms.items():
            for term in listed:
                languages.setdefault(term, set()).add(language)
        for term, spoken in languages.items():
            folded = fold(term)
            first = _WORD.match(folded)
            start = first[0][:3] if first is not None else folded[:3]
            pattern = re.compile(_pattern(folded))
            known = Term(term, frozenset(spoken), pattern, folded.endswith("*"))
            self._starts.setdefault(start, []).append(known)
        self._signs = {fold(sign): (sign, frozenset({language})) for sign, language in signs}
        self._pattern = _alternatives(self._signs)
        self._compounds = [(fold(stem), stem, frozenset({lang})) for stem, lang in compounds]

    def find(self, text: str) -> list[Found]:
        """Give the terms in a folded text, `MOST_FOUND` of each sort at most."""
        found = self._words(text)
        if self._pattern is not None and not text.isascii():
            signs = islice(self._pattern.finditer(text), MOST_FOUND)
            found += [Found(*sign.span(), *self._signs[sign[0]]) for sign in signs]
        return found + self._last_parts(text)

    def _words(self, text: str) -> list[Found]:
        found: list[Found] = []
        for word in _WORD.finditer(text):
            for term in self._starts.get(word[0][:3], ()):
                end = _end(term, text, word.start())
                if end is not None:
                    found.append(Found(word.start(), end, term.term, term.languages))
            if len(found) >= MOST_FOUND:
                break
        return found

    def _last_parts(self, text: str) -> list[Found]:
        found: list[Found] = []
        for stem, spelled, languages in self._compounds:
            at = text.find(stem)
            while at >= 0 and len(found) < MOST_FOUND:
                end = _INFLECTION.match(text, at + len(stem))
                if end is not None and text[at - 1 : at].isalpha():
                    found.append(Found(at, end.end(), spelled, languages))
                at = text.find(stem, at + len(stem))
        return found


def _end(term: Term, text: str, start: int) -> int | None:
    """Give where a term that begins here ends; None where it is none, or part of a longer word."""
    match = term.pattern.match(text, start)
    if match is None:
        return None
    end = match.end()
    if term.is_stem:
        most = end + STEM
        while end < most and _is_letter(text, end):
            end += 1
    return None if _is_letter(text, end) else end


def _is_letter(text: str, at: int) -> bool:
    """Tell whether a letter of an alphabetic script stands there."""
    letter = text[at : at + 1]
    if letter.isascii():
        return letter.isalpha()
    return letter.isalpha() and _WORD.match(letter) is not None


def _pattern(folded: str) -> str:
    parts = folded.removesuffix("*").split()
    words = [
        re.escape(part[:-1]) + rf"\w{{0,{STEM}}}" if part.endswith("*") else re.escape(part) + "s?"
        for part in parts
    ]
    words[-1] = words[-1].removesuffix("s?")
    ending = "" if folded.endswith("*") else "(?:e?s)?"
    return r"[\s_-]{0,3}".join(words) + ending


def exact(phrase: str) -> str:
    """Write the pattern of a phrase of whole words."""
    words = r"\s+".join(map(re.escape, fold(phrase).split()))
    return f"(?<!{LETTER}){words}(?!{LETTER})"


def phrases(listed: list[str], *, anywhere: bool) -> re.Pattern[str]:
    """Compile phrases: a blank at the end ends a word, `$` ends the clause."""
    if anywhere:
        return re.compile("|".join(re.escape(fold(phrase)) for phrase in listed))
    found = []
    for phrase in listed:
        folded = fold(phrase)
        words = r"\s+".join(map(re.escape, folded.removesuffix("$").split()))
        if folded.endswith("$"):
            words += r"\W*$"
        elif folded.endswith(" "):
            words += r"(?![-\w])"
        found.append(words)
    return re.compile(f"(?<!{LETTER})(?:{'|'.join(found)})")


def _alternatives(phrases: Iterable[str]) -> re.Pattern[str] | None:
    listed = sorted(phrases, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, listed))) if listed else None
