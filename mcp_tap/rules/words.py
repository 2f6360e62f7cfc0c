"""Words people are asked for secrets with, found in texts of many languages.

The words are data (`data/words.toml`): terms by language, what only looks like one, and what people
say around them.  A text is compared case-folded, in one spelling of each character (NFKC) and
without accents.  In alphabetic scripts a term is a whole word, its endings apart; in the others it
is found anywhere.

A title asks by naming a secret.  A description asks unless its clause says that nothing is asked
for.  A message asks if its clause has a word of request too.

The texts are a stranger's: no more than `LONGEST` characters of one are read, and time is linear.
"""

from __future__ import annotations

import pkgutil
import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from mcp_tap.rules.words_terms import LETTER, LONGEST, Found, Matcher, exact, fold, phrases

_REMEMBERED: Final = 1_000
"""Characters of a text whose reading is remembered."""

Kind: TypeAlias = Literal["secrets", "payment", "codes", "perhaps_codes"]
"""The lists of words; the last one has those that are a captcha's, too."""
Place: TypeAlias = Literal["title", "description", "message"]

_SIGNS: Final = frozenset({"zh", "ja", "ko", "ar", "hi"})
"""Languages whose words are found anywhere."""
_STRONG: Final = r"[!?;\r\n()\[\]{}]"
_STOP: Final = r"\u3002|\.(?=\s|$)"
_AROUND: Final = 80
"""Characters before a term in which what is said of it stands."""
_JOINED: Final = 5
"""Pieces between commas, on each side, that belong to one clause."""
_PIECE: Final = 400
"""Characters of a piece that are looked at."""
_TAN: Final = re.compile(r"(?<![A-Za-z])(?:[a-z]{1,5}-?)?TAN(?![A-Za-z])")
"""The German word for a transaction number; in lower case it is a colour."""

_START: Final = re.compile(rf"(?<!{LETTER}){LETTER}{{1,2}}")
_NEVER: Final = re.compile(
    r"(?:^|[.!?;]\s{0,3}|please )(?:do not|don't|never),(?:[^,.!?;:]{1,40},)?\s*$"
)
"""What is interrupted and goes on in the next clause: `Do not, under any circumstances, ..`."""


class Word(NamedTuple):
    """A word of a list, found in a text."""

    term: str
    """As the list spells it: harmless to show."""
    numeric: bool
    """A field for numbers can hold what it asks for."""


def asks(kind: Kind, place: Place, text: str) -> Word | None:
    """Give the word by which a text asks for something of a kind; None where it does not."""
    if len(text) <= _REMEMBERED:
        return _asks(kind, place, text)
    return _asks.__wrapped__(kind, place, text)


def speaks_of_delivery(text: str) -> bool:
    """Tell whether a text speaks of a phone or a mail box, to which codes are sent."""
    text = fold(text)
    return any(sign in text for sign in _data()["codes"]["context"])


@lru_cache(maxsize=2048)
def _asks(kind: Kind, place: Place, text: str) -> Word | None:
    text = text[:LONGEST]
    folded = fold(text)
    lexicon = _lexicon(kind)
    found = lexicon.find(folded)
    if kind == "codes" and (tan := _TAN.search(text)) is not None and not _shouts(text):
        span = tan.span() if len(folded) == len(text) else (0, 0)
        found.append(Found(*span, "TAN", frozenset({"de"})))
    if not found or (lexicon.partial and lexicon.partial.search(folded)):
        return None
    breaks: list[tuple[int, int, bool]] | None = None
    for word in found:
        if any(_holds(other, word) for other in found):
            continue
        if lexicon.is_friend(folded, word) or _is_attribute(folded, word, kind):
            continue
        if place != "title":
            breaks = _breaks(folded) if breaks is None else breaks
            if not _is_asked(folded, word, breaks, verb=place == "message"):
                continue
        return Word(word.term, lexicon.numeric is None or word.term in lexicon.numeric)
    return None


def _holds(longer: Found, word: Found) -> bool:
    """Tell whether a word is but a part of another, whose language then counts."""
    inside = longer.start <= word.start and word.end <= longer.end
    return inside and longer.end - longer.start > word.end - word.start


def _shouts(text: str) -> bool:
    return len(text.split()) > 2 and text.isupper()


class _Lexicon:
    """One list of words."""

    def __init__(self, kind: Kind) -> None:
        data = _data()[kind]
        self._terms = Matcher(data["terms"], _spread(data["signs"]), _spread(data["compounds"]))
        friend_signs = [(sign, "") for sign in data["friend_signs"]]
        self._friends = Matcher({"": data["friends"]}, friend_signs)
        numeric = data["numeric"]
        self.numeric = None if numeric == ["*"] else frozenset(numeric)
        """Terms that may be asked for by a number field; None for all."""
        partial = [
            *map(exact, data.get("partial", ())),
            *map(re.escape, data.get("partial_signs", ())),
        ]
        self.partial = re.compile("|".join(partial)) if partial else None
        """What says that only a part is asked for."""

    def find(self, text: str) -> list[Found]:
        return self._terms.find(text)

    def is_friend(self, text: str, word: Found) -> bool:
        begin = max(word.start - _AROUND, 0)
        if begin:
            begin = text.find(" ", begin, word.start) + 1 or begin
        around = text[begin : word.end + _AROUND]
        return any(
            friend.start + begin < word.end and word.start < friend.end + begin
            for friend in self._friends.find(around)
        )


class _Talk:
    """What people say around such words, of one kind: negations, requests."""

    def __init__(self, kind: str) -> None:
        self._by_language = {
            language: phrases(listed, anywhere=language in _SIGNS)
            for language, listed in _data()[kind].items()
        }
        self._starts: dict[str, set[str]] = {}
        """First letters of phrases, and the languages that have such."""
        for language, listed in _data()[kind].items():
            for phrase in listed if language not in _SIGNS else ():
                start = _START.match(fold(phrase))
                self._starts.setdefault(start[0] if start else "", set()).add(language)

    def within(self, text: str, languages: Iterable[str]) -> bool:
        return any(
            language in self._by_language and self._by_language[language].search(text) is not None
            for language in languages
        )

    def anywhere(self, text: str) -> bool:
        languages = set() if text.isascii() else set(_SIGNS)
        languages.update(self._starts.get("", ()))
        for start in set(_START.findall(text)):
            languages.update(self._starts.get(start, ()))
        return self.within(text, languages)


def _is_attribute(text: str, word: Found, kind: Kind) -> bool:
    """Tell whether a word says something of another: policy, length, the name of a key."""
    before, after, itself = _attributes()
    of = before.search(text[max(word.start - _AROUND, 0) : word.start])
    if of is not None and _is_of_another(of, word, kind):
        return True
    if text[word.end : word.end + 1] in ("-", "_") and text[word.end + 1 : word.end + 2].isalpha():
        return itself.match(text, word.end + 1) is None
    if after.match(text, word.end) is not None:
        return True
    following = text[word.end : word.end + 10].lstrip()
    if following.startswith(_signs("itself_signs")):
        return False
    return following.startswith(_signs("after_signs")) or (
        kind != "payment" and following.startswith(_signs("of_signs"))
    )


def _is_of_another(of: re.Match[str], word: Found, kind: Kind) -> bool:
    """Tell whether what a word belongs to is not the same once more: `value of the key`."""
    head, link = of["head"], of["link"]
    if head is None:
        return True
    if kind == "payment":
        return head not in _folded("card_heads") and head in _folded("before")
    if head in _folded("before"):
        return True
    if head in _folded("heads") or link not in _folded("possessives"):
        return False
    return link not in ("de", "van") or not word.languages & {"nl"}


def _is_asked(
    text: str, word: Found, breaks: Sequence[tuple[int, int, bool]], *, verb: bool
) -> bool:
    start, end = _clause(text, word, breaks)
    clause = text[start:end]
    languages: Iterable[str] = word.languages
    if "en" in word.languages:
        languages = _data()["negations"]
    elif word.languages & _SIGNS:
        languages = (*word.languages, "zh", "ja", "ko", "en")
    if _talk("negations").within(clause, languages):
        return False
    if _NEVER.search(text, max(start - _AROUND, 0), start) is not None:
        return False
    before = clause if word.languages & _SIGNS else text[start : word.start]
    if _talk("mentions").within(before, languages) or _talk("passives").within(clause, languages):
        return False
    return not verb or _talk("verbs").within(clause, word.languages)


def _breaks(text: str) -> list[tuple[int, int, bool]]:
    """Give where pieces of sentences end: from, to, and whether a clause certainly ends there."""
    return [
        (match.start(), match.end(), match.lastgroup == "strong")
        for match in _break_pattern().finditer(text)
    ]


def _clause(text: str, word: Found, breaks: Sequence[tuple[int, int, bool]]) -> tuple[int, int]:
    """Find the clause a word stands in: pieces without a verb of their own belong together."""
    earlier = [place for place in breaks if place[1] <= word.start][-_JOINED:]
    later = [place for place in breaks if place[0] >= word.end][:_JOINED]
    start, end = 0, len(text)
    piece_end = later[0][0] if later else end
    listed = bool(earlier) and _is_listed(text[earlier[-1][1] : word.start])
    for index in range(len(earlier) - 1, -1, -1):
        start = earlier[index][1]
        if earlier[index][2] or (not listed and _has_own(text[start:piece_end])):
            break
        listed = False
        piece_end = earlier[index][0]
        start = earlier[index - 1][1] if index else 0
    listed = bool(later) and not text[word.end : later[0][0]].strip()
    for index, place in enumerate(later):
        end = place[0]
        following = later[index + 1][0] if index + 1 < len(later) else len(text)
        if place[2]:
            break
        piece = text[place[1] : following]
        if _has_own(piece):
            end = following if listed and _ends_list(text, place, piece) else end
            break
        end = following
    return max(start, word.start - _PIECE), min(end, word.end + _PIECE)


def _is_listed(before: str) -> bool:
    """Tell whether what follows goes on with a list: it comes first, or after `and`."""
    if not before.strip():
        return True
    return _list_patterns()[1].fullmatch(before[-_AROUND:]) is not None and not _has_own(before)


def _ends_list(text: str, place: tuple[int, int, bool], piece: str) -> bool:
    """Tell whether a piece names the last ones of a list, and what is said of all of them."""
    return text[place[0]] == "\u3001" or _list_patterns()[0].match(piece[:_AROUND]) is not None


def _has_own(piece: str) -> bool:
    """Tell whether a piece between commas says something of its own."""
    return _says_something(piece[:_PIECE])


@lru_cache(maxsize=1024)
def _says_something(piece: str) -> bool:
    return any(_talk(kind).anywhere(piece) for kind in ("verbs", "negations", "passives"))


def _spread(listed: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(word, language) for language, words in listed.items() for word in words]


@cache
def _data() -> dict[str, Any]:
    data = pkgutil.get_data("mcp_tap.rules", "data/words.toml")
    return tomllib.loads((data or b"").decode())


@cache
def _lexicon(kind: Kind) -> _Lexicon:
    return _Lexicon(kind)


@cache
def _talk(kind: str) -> _Talk:
    return _Talk(kind)


@cache
def _break_pattern() -> re.Pattern[str]:
    but = "|".join(re.escape(fold(word)) for word in _data()["boundaries"]["but"])
    please = "|".join(re.escape(fold(word)) for word in _data()["boundaries"]["please"])
    again = rf"\s*(?:{please})\W*(?:$|[.!?\u3002])"
    strong = rf"(?P<strong>{_STRONG}|(?:{_STOP})(?!{again}))"
    comma = rf"[,:](?!\d|{again})"
    weak = rf"{comma}|\u3001|\s[-\u2013\u2014]+\s|(?<!{LETTER})(?:{but})(?!{LETTER})"
    return re.compile(f"{strong}|{weak}")


@cache
def _list_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    both = "|".join(re.escape(fold(word)) for word in _data()["boundaries"]["and"])
    last = rf"\s*(?:\S+\s+){{1,3}}(?:{both})\s"
    return re.compile(last), re.compile(rf"{last}\s*(?:\S+\s+){{0,2}}\S*")


@cache
def _folded(name: str) -> frozenset[str]:
    return frozenset(map(fold, _data()["attributes"][name]))


@cache
def _signs(name: str) -> tuple[str, ...]:
    return tuple(map(fold, _data()["attributes"][name]))


@cache
def _attributes() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    one = {name: "|".join(map(re.escape, _signs(name))) for name in _data()["attributes"]}
    one = {name: f"(?:{words})" for name, words in one.items()}
    begin = f"(?<!{LETTER})"
    before = re.compile(
        rf"{begin}(?P<head>{LETTER}+)\s+(?P<link>{one['prepositions']})\s*"
        rf"(?:{one['articles']}\s*){{0,2}}$"
        rf"|{begin}{one['before_genitive']}\s+(?:{one['articles_genitive']}\s+)?$"
        rf"|{begin}{one['actions']}\s+(?:{one['articles']}\s+)?$"
        rf"|{begin}{one['direct']}\s+$"
        rf"|{one['before_signs']}$"
    )
    after = re.compile(rf"\s*{one['after']}(?!{LETTER})")
    itself = re.compile(rf"{one['itself']}(?!{LETTER})")
    return before, after, itself
