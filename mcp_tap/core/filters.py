"""The filter language: one grammar for the command line, the console and configuration.

    filter  = and ("|" and)*            either
    and     = not not*                  both: a space is enough
    not     = "!" not | "(" filter ")" | term
    term    = key ":" value ("," value)*  |  word
    value   = bare | "quoted"           quoted text is taken as it is: no glob, no comparison
            | /regular expression/      for `text` only

Rules of this file:

- `parse(str(f)) == f` for every filter: what is printed can be pasted.
- An unknown key, value or form is an error that names the nearest; it is never searched as text
  instead.  `KEYS` (core.filter_keys) is the only list of keys, for errors and for the help too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from textwrap import fill
from typing import Final, TypeAlias

from msgspec import Struct

from mcp_tap.core.filter_keys import KEYS, NO_SCOPE, Scope, Subject, texts, unknown_key
from mcp_tap.core.filter_tests import Form, Value, contains
from mcp_tap.errors import UsageError

__all__ = ["Filter", "Scope", "help_text", "parse"]

_MAX_DEPTH: Final = 50
_Test: TypeAlias = Callable[[Subject, Scope], bool]


class Word(Struct, frozen=True):
    """Text that must occur somewhere."""

    text: str


class Term(Struct, frozen=True):
    """A key and the values of which one must hold."""

    key: str
    values: tuple[Value, ...]


class Not(Struct, frozen=True):
    """The opposite of a part."""

    part: Node


class And(Struct, frozen=True):
    """All of its parts; none at all is the filter that lets everything through."""

    parts: tuple[Node, ...]


class Or(Struct, frozen=True):
    """One of its parts at least."""

    parts: tuple[Node, ...]


Node: TypeAlias = Word | Term | Not | And | Or


class Filter:
    """A filter that was read: matches calls and exchanges, and prints as it is written."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self._test = _compile(node)

    def matches(self, subject: Subject, scope: Scope = NO_SCOPE) -> bool:
        """Tell whether a call, or an exchange that belongs to none, passes."""
        return self._test(subject, scope)

    def uses(self, *keys: str) -> bool:
        """Tell whether one of the keys is in it; a plain word counts as `text`."""
        return any(name in keys for name in _keys_in(self.node))

    def __bool__(self) -> bool:
        """False for the empty filter, which lets everything through."""
        return self.node != And(())

    def __str__(self) -> str:
        return _show(self.node, inner=False)

    def __repr__(self) -> str:
        return f"parse({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Filter) and self.node == other.node

    def __hash__(self) -> int:
        return hash(self.node)


def parse(text: str) -> Filter:
    """Read a filter; empty text gives the one that lets everything through.

    Raises:
        UsageError: the text is no filter; it says where, and what the nearest key or value is.
    """
    return Filter(_Parser(text).read())


def help_text() -> str:
    """Describe the language for `--help`, from the parser's own table."""
    lines = [
        "key:value    both        a b          tool:deploy state:waiting",
        "a,b          any of      a | b        tool:book_*,pay_* | method:prompts/*",
        "!a           not         (a b) | c    !kind:notification (took:>2s | round:>3)",
        'word         bodies hold it           "two words"    text:/tok[ae]n/',
        "",
    ]
    for key in KEYS.values():
        few = "," in key.takes
        label = key.name + ":" if few else f"{key.name}:{key.takes}"
        says = f"{key.says}: {key.takes.replace(',', ', ')}" if few else key.says
        lines.append(fill(f"{label:<14} {says}", 76, subsequent_indent=" " * 17))
    return "\n".join(lines)


# --- matching -------------------------------------------------------------------------------------


def _compile(node: Node) -> _Test:
    match node:
        case Word(text):
            word = contains(Value(text))
            return lambda subject, scope: any(word(t) for t in texts(subject, scope))
        case Term(name, values):
            key = KEYS[name]
            tests = [key.test(name, value) for value in values]
            get = key.get
            return lambda subject, scope: any(
                test(found) for found in get(subject, scope) for test in tests
            )
        case Not(part):
            inner = _compile(part)
            return lambda subject, scope: not inner(subject, scope)
        case And(parts):
            every = [_compile(part) for part in parts]
            return lambda subject, scope: all(test(subject, scope) for test in every)
        case Or(parts):
            some = [_compile(part) for part in parts]
            return lambda subject, scope: any(test(subject, scope) for test in some)


def _keys_in(node: Node) -> list[str]:
    match node:
        case Word():
            return ["text"]
        case Term(name, _):
            return [name]
        case Not(part):
            return _keys_in(part)
        case And(parts) | Or(parts):
            return [name for part in parts for name in _keys_in(part)]


# --- printing -------------------------------------------------------------------------------------

_BARE_WORD: Final = re.compile(r"[^\s()|\"!:][^\s()|\":]*")
_BARE_VALUE: Final = re.compile(r"[^\s()|\",/*?][^\s()|\",*?]*")
_BARE_GLOB: Final = re.compile(r"[^\s()|\",]+")


def _show(node: Node, *, inner: bool = True) -> str:
    match node:
        case Word(text):
            return text if _BARE_WORD.fullmatch(text) else _quote(text)
        case Term(name, values):
            return f"{name}:{','.join(map(_show_value, values))}"
        case Not(part):
            return "!" + _show(part)
        case And(parts) | Or(parts):
            shown = (" " if isinstance(node, And) else " | ").join(map(_show, parts))
            return f"({shown})" if inner else shown


def _show_value(value: Value) -> str:
    if value.form == "regex":
        return "/" + re.sub(r"(\\.)|/", lambda m: m[1] or r"\/", value.text, flags=re.DOTALL) + "/"
    if value.form == "glob":
        return value.text
    return value.text if _BARE_VALUE.fullmatch(value.text) else _quote(value.text)


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


# --- reading --------------------------------------------------------------------------------------

_SPACE: Final = re.compile(r"\s*")
_KEY: Final = re.compile(r"([A-Za-z][A-Za-z_-]*)([:(])")
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_REGEX: Final = re.compile(r"/((?:[^/\\]|\\.)+)/(?=[\s()|,]|$)", re.DOTALL)
_MISSING: Final = "something to match is missing"
_WORD: Final = re.compile(r"[^\s()|\"]+")


class _Parser:
    """Recursive descent over the text; `self.at` is where it stands."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0

    def read(self) -> Node:
        self._skip()
        if self.at == len(self.text):
            return And(())
        node = self._either()
        if self.at < len(self.text):
            raise self._error("there is a ) without its (")
        return node

    def _either(self) -> Node:
        parts = [self._both()]
        while self._take("|"):
            parts.append(self._both())
        flat = [p for part in parts for p in (part.parts if isinstance(part, Or) else (part,))]
        return Or(tuple(flat)) if len(flat) > 1 else flat[0]

    def _both(self) -> Node:
        parts: list[Node] = []
        while self._peek() not in ("", "|", ")"):
            part = self._not()
            parts += part.parts if isinstance(part, And) else (part,)
        if not parts:
            raise self._error(_MISSING)
        return And(tuple(parts)) if len(parts) > 1 else parts[0]

    def _not(self) -> Node:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise self._error("it is nested too deep")
        try:
            if self._take("!"):
                return Not(self._not())
            if self._take("("):
                node = self._either()
                if not self._take(")"):
                    raise self._error("there is a ( without its )")
                return node
            return self._term()
        finally:
            self.depth -= 1

    def _term(self) -> Node:
        if quoted := self._match(_QUOTED):
            return Word(_unquote(quoted[1]))
        key = _KEY.match(self.text, self.at)
        if key and (key[2] == ":" or key[1] in KEYS):
            return self._values(key)
        word = _WORD.match(self.text, self.at)
        if not word:
            quote = self._peek() == '"'
            raise self._error('there is a " without its other' if quote else _MISSING)
        if ":" in word[0]:
            raise self._error("what stands before : is no key", f"as text: {_quote(word[0])}")
        self.at = word.end()
        return Word(word[0])

    def _values(self, key: re.Match[str]) -> Node:
        name = key[1]
        if name not in KEYS:
            written = _WORD.match(self.text, self.at)
            raise unknown_key(name, written[0] if written else name)
        self.at = key.end()
        closing = key[2] == "(" or self._take("(")
        values = [self._value(name)]
        while self.text[self.at : self.at + 1] == ",":
            self.at += 1
            values.append(self._value(name))
        if closing and not self._take(")"):
            raise self._error("there is a ( without its )")
        if self.text[self.at : self.at + 1] == '"':
            raise self._error("quotes go around the whole value")
        self._skip()
        return Term(name, tuple(values))

    def _value(self, name: str) -> Value:
        forms = KEYS[name].forms
        if quoted := self._match(_QUOTED):
            return Value(_unquote(quoted[1]))
        if "regex" in forms and self.text[self.at : self.at + 1] == "/":
            regex = self._match(_REGEX)
            if not regex:
                raise self._error("there is a / without its other; a / in it is written \\/")
            return Value(regex[1].replace("\\/", "/"), "regex")
        bare = self._match(_BARE_GLOB)
        if not bare:
            raise self._error(f"{name}: wants a value", f"as in {name}:{KEYS[name].takes}")
        form: Form = "glob" if "glob" in forms and set("*?") & set(bare[0]) else "plain"
        return Value(bare[0], form)

    def _peek(self) -> str:
        self._skip()
        return self.text[self.at : self.at + 1]

    def _take(self, ch: str) -> bool:
        if self._peek() != ch:
            return False
        self.at += 1
        self._skip()
        return True

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def _skip(self) -> None:
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def _error(self, why: str, help: str = "") -> UsageError:
        return UsageError(
            "filter-syntax",
            f"cannot read the filter at column {self.at + 1}",
            where=self.text,
            why=why,
            help=help,
        )


def _unquote(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
