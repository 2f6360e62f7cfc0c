"""What is probably not meant in a script that can be read.

Rules of this file:

- An error of reading is no matter of this file: here a script is whole.
- A warning is certain: the entry can never do what it says.  A note is about what may be meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from mcp_tap.answers.book import ANSWERED_BY
from mcp_tap.answers.match import field_of
from mcp_tap.answers.question import NAMES
from mcp_tap.answers.script import OTHERS, Entry, FromDefault, FromEnv, Script, Value
from mcp_tap.core.filter_tests import glob
from mcp_tap.core.forms import KINDS, has_type
from mcp_tap.core.model import AskKind
from mcp_tap.core.text import brief
from mcp_tap.core.values import same_json

Severity: TypeAlias = Literal["warning", "note"]
_GLOBS: Final = ("server", "tool", "name", "method", "key", "url")


class Remark(Struct, frozen=True, kw_only=True):
    """One thing to look at."""

    severity: Severity
    code: str
    where: str
    """Script and entry."""
    what: str
    help: str = ""


def lint(script: Script, env: Mapping[str, str]) -> list[Remark]:
    """Look a script through.

    Args:
        script: to look at.
        env: the environment, of which only names are looked at.
    """
    found: list[Remark] = []
    for place, entry in enumerate(script.entries):
        found += _entry(entry)
        found += _unreachable(entry, script.entries[:place])
        found += _environment(entry, env)
        same = next((e for e in script.entries[:place] if e.name == entry.name), None)
        if same is not None:
            found.append(
                _remark(
                    entry,
                    "name-twice",
                    f"answer {same.number} has the same name",
                    "captures and errors quote it: give each its own",
                    "note",
                )
            )
    return found + list(_advertised(script))


def _remark(
    entry: Entry, code: str, what: str, help: str = "", severity: Severity = "warning"
) -> Remark:
    named = f" {brief(entry.name)}" if entry.name != f"answer {entry.number}" else ""
    where = f"{entry.place}{named}"
    return Remark(severity=severity, code=code, where=where, what=what, help=help)


def _entry(entry: Entry) -> Iterator[Remark]:
    """Look at one entry by itself."""
    if not entry.answerable:
        can = " and ".join(sorted(NAMES[kind] for kind in entry.kinds))
        yield _remark(
            entry,
            "never-matches",
            f"it answers {can}, which what it matches never is",
            "make match and answer of one kind",
        )
    methods, tools = entry.match.get("method"), entry.match.get("tool")
    if methods is not None and tools is not None and not _method_of_tools(methods):
        yield _remark(
            entry,
            "never-matches",
            f"only tools/call has a tool, and method is {brief(methods)}",
            'match a prompt or a resource by "name"',
        )
    for text in _texts(entry.match.get("field", [])):
        yield from _field(entry, text)
    for text in _texts(entry.match.get("url", [])):
        host = text.partition("://")[2].partition("/")[0]
        if "*" in host and not host.startswith("*."):
            yield _remark(
                entry,
                "url-open",
                f"url {brief(text)} matches other hosts, too",
                "end the host with a slash: https://auth.example.com/*",
                "note",
            )
    if entry.check:
        for step in entry.steps:
            for name, value in (step.content or {}).items():
                yield from _content(entry, name, value)


def _field(entry: Entry, text: str) -> Iterator[Remark]:
    """Look at a condition on a field, and at what the entry puts there."""
    name, kind = field_of(text)
    if kind is None:
        suffix = text.rpartition(":")[2] if ":" in text else ""
        near = get_close_matches(suffix, sorted(KINDS), 1) if suffix else []
        if near:
            yield _remark(
                entry,
                "field-type",
                f"field {brief(text)} names a field with a colon in it",
                f'if a type is meant: "{text.rpartition(":")[0]}:{near[0]}"',
                "note",
            )
        return
    for step in entry.steps:
        value = (step.content or {}).get(name)
        if value is None or isinstance(value, FromEnv | FromDefault) or not entry.check:
            continue
        if not has_type(kind, value):
            yield _remark(
                entry,
                "never-fits",
                f"content.{name} is {brief(value, 40)}, and match wants the field to take"
                f" {'an' if kind[0] in 'aeiou' else 'a'} {kind}",
            )


def _content(entry: Entry, name: str, value: Value) -> Iterator[Remark]:
    """Look for what no form can take."""
    if isinstance(value, list) and not all(isinstance(one, str) for one in value):
        yield _remark(
            entry,
            "never-fits",
            f"content.{name} is a list of something but texts, which no form can ask for",
            "check = false sends it anyway",
        )
    elif name == OTHERS and not isinstance(value, FromDefault):
        yield _remark(
            entry,
            "same-for-all",
            'content."*" puts one value into all other fields',
            '"*" = { default = true } takes their defaults',
            "note",
        )


def _environment(entry: Entry, env: Mapping[str, str]) -> Iterator[Remark]:
    for step in entry.steps:
        for name, value in (step.content or {}).items():
            if isinstance(value, FromEnv) and value.variable not in env:
                yield _remark(
                    entry,
                    "env-missing",
                    f"content.{name} needs {value.variable}, which is not in the environment now",
                    severity="note",
                )


def _advertised(script: Script) -> Iterator[Remark]:
    if script.advertise is None:
        return
    can: set[AskKind] = set()
    for entry in script.entries:
        can |= entry.answerable
    can |= ANSWERED_BY.get(script.unmatched, frozenset())
    for kind in sorted(script.advertise - can):
        yield Remark(
            severity="warning",
            code="advertise-empty",
            where=script.name,
            what=f"{NAMES[kind]} is advertised and no answer is for it, so it is not declared",
            help="take it off the list, or add an answer",
        )


# -- entries that never get their turn -------------------------------------------------------------


def _unreachable(entry: Entry, before: tuple[Entry, ...]) -> Iterator[Remark]:
    for other in before:
        if other.times is None and entry.answerable and hides(other, entry):
            yield _remark(
                entry,
                "never-wins",
                f"answer {other.number} {brief(other.name)} matches all that it does, and is first",
                "put it before that one",
            )
            return


def hides(first: Entry, later: Entry) -> bool:
    """Tell whether the first matches everything that the later one does."""
    if not later.answerable <= first.kinds:
        return False
    return all(_implied(key, wanted, later) for key, wanted in first.match.items())


def _implied(key: str, wanted: Any, later: Entry) -> bool:
    """Tell whether a condition holds wherever the later entry's do."""
    if key in ("ask", "mode"):
        return later.answerable <= frozenset(_texts(wanted))
    if key not in later.match:
        return key == "method" and "tool" in later.match and _method_of_tools(wanted)
    has = later.match[key]
    if key == "arguments":
        return all(name in has and same_json(has[name], value) for name, value in wanted.items())
    wants, got = _texts(wanted), _texts(has)
    if key == "field":
        known = [field_of(text) for text in got]
        return all(
            any(name == one and kind in (None, other) for one, other in known)
            for name, kind in map(field_of, wants)
        )
    return all(any(_covers(key, want, text) for want in wants) for text in got)


def _method_of_tools(wanted: Any) -> bool:
    return any(_covers("method", text, "tools/call") for text in _texts(wanted))


def _covers(key: str, wide: str, narrow: str) -> bool:
    """Tell whether a text matches all that another does; false where that is not sure."""
    if wide == narrow:
        return True
    if key not in _GLOBS or ("*" not in wide and "?" not in wide):
        return False
    if "?" in wide and "*" in narrow:
        return False
    fits: Callable[[str], bool] = glob(wide)
    return fits(narrow)


def _texts(wanted: Any) -> list[str]:
    return wanted if isinstance(wanted, list) else [wanted]
