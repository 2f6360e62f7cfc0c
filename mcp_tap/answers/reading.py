"""From the text of a script to a `Script`, or to what is wrong with it.

Rules of this file:

- What is not known is an error that names the nearest; nothing is guessed.
- TOML's reader knows no line numbers once it is done, so errors name the entry and its number.
- Reading goes on behind a mistake, so that `answers lint` can tell of all of them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

from mcp_tap.answers.match import KEYS, Condition, Unusable, condition
from mcp_tap.answers.question import NAMES
from mcp_tap.answers.reading_steps import STEP, Steps
from mcp_tap.answers.script import (
    AFTER,
    HOWS,
    VERSION,
    Entry,
    Script,
)
from mcp_tap.core.model import AskKind
from mcp_tap.core.text import brief
from mcp_tap.errors import ScriptError, UsageError

TOP: Final = ("version", "unmatched", "advertise", "answer")
ENTRY: Final = (
    "name", "match", *STEP, "each_round", "after_last", "times", "check",
)  # fmt: skip


def load(text: str, name: str) -> Script:
    """Read a script.

    Args:
        text: what the file holds.
        name: what it is called, for errors and records.

    Raises:
        ScriptError: it cannot be meant; the first of its mistakes.
    """
    script, problems = read(text, name)
    if script is None:
        raise problems[0]
    return script


def load_table(table: Mapping[str, Any], name: str) -> Script:
    """Read a script that is a table already, as TOML gives one.

    Args:
        table: `{"answer": [...]}` and what else stands at the top of a file.
        name: what it is called, for errors and records.

    Raises:
        ScriptError: it cannot be meant; the first of its mistakes.
    """
    script, problems = Reader(name).table(table)
    if script is None:
        raise problems[0]
    return script


def read(text: str, name: str) -> tuple[Script | None, list[ScriptError]]:
    """Read a script; None with everything that is wrong with it."""
    return Reader(name).script(text)


def advertised(words: Sequence[str]) -> frozenset[AskKind]:
    """Read a list of capabilities: `elicitation.form`, `elicitation` for both modes, and so on.

    Raises:
        UsageError: a word is none.
    """
    found: set[AskKind] = set()
    for word in words:
        kinds = [kind for kind, name in NAMES.items() if word in (name, name.partition(".")[0])]
        if not kinds:
            known = ("elicitation", *NAMES.values())
            near = get_close_matches(word, known, 1)
            raise UsageError(
                "bad-value",
                f'advertise: "{word}" is no capability that can be answered for',
                help=f'did you mean "{near[0]}"?' if near else f"one of {', '.join(known)}",
            )
        found.update(kinds)
    return frozenset(found)


class Reader(Steps):
    """Reads one script and collects what is wrong with it."""

    def script(self, text: str) -> tuple[Script | None, list[ScriptError]]:
        """Read it from TOML."""
        try:
            table = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            self.wrong("script-unreadable", f"{self.name} is no TOML", why=str(error))
            return None, self.problems
        except RecursionError:
            self.wrong("script-unreadable", f"{self.name} is nested too deep")
            return None, self.problems
        return self.table(table)

    def table(self, table: Mapping[str, Any]) -> tuple[Script | None, list[ScriptError]]:
        """Read it from what TOML gives."""
        self.known(table, TOP, self.name)
        version = table.get("version", VERSION)
        if version != VERSION or isinstance(version, bool):
            self.wrong(
                "script-version",
                f"{self.name} has version {brief(version, 20)}, this mcp-tap reads {VERSION}",
                help="pipx upgrade mcp-tap-proxy"
                if isinstance(version, int) and version > VERSION
                else f"version = {VERSION}",
            )
        unmatched = self.one_of(table, "unmatched", HOWS, self.name)
        advertise = self._advertise(table.get("advertise"))
        answers = table.get("answer", [])
        if not isinstance(answers, list) or not all(isinstance(a, dict) for a in answers):
            self.wrong(
                "setting-type", f"{self.name}: an answer is no table", help="write [[answer]]"
            )
            answers = []
        entries = [self._entry(number, answer) for number, answer in enumerate(answers, 1)]
        if self.problems:
            return None, self.problems
        script = Script(
            name=self.name,
            entries=tuple(entry for entry in entries if entry is not None),
            unmatched=unmatched,
            advertise=advertise,
        )
        return script, []

    def _advertise(self, words: Any) -> frozenset[AskKind] | None:
        if words is None:
            return None
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            self.wrong(
                "setting-type",
                f'{self.name}: "advertise" takes a list of texts',
                help='advertise = ["elicitation.form"]',
            )
            return None
        try:
            return advertised(words)
        except UsageError as error:
            self.wrong(error.code, f"{self.name}: {error.what}", help=error.help)
            return None

    def _entry(self, number: int, table: Mapping[str, Any]) -> Entry | None:
        before = len(self.problems)
        name = table.get("name", f"answer {number}")
        if not isinstance(name, str) or not name.strip():
            self.wrong("setting-type", f'{self.name}, answer {number}: "name" takes a text')
            name = f"answer {number}"
        here = f"{self.name}, answer {number}"
        if "name" in table:
            here += f" {brief(name, 80)}"
        self.known(table, ENTRY, here)
        match, conditions = self._match(table, here)
        steps = self.steps(table, here)
        after_last = self.one_of(table, "after_last", AFTER, here)
        if after_last is not None and "each_round" not in table:
            self.wrong(
                "setting-conflict", f'{here}: "after_last" goes with "each_round", which it has not'
            )
        times = table.get("times")
        if times is not None and (not _is_count(times) or times < 1):
            self.wrong(
                "setting-type", f'{here}: "times" takes a number from 1 on', help="times = 1"
            )
        check = self.flag(table, "check", here)
        kinds = frozenset.intersection(*(step.kinds for step in steps)) if steps else frozenset()
        if steps and not kinds:
            self.wrong("setting-conflict", f"{here}: its rounds answer different kinds of asks")
        if len(self.problems) > before:
            return None
        return Entry(
            number=number,
            script=self.name,
            name=name,
            match=match,
            conditions=conditions,
            kinds=kinds,
            steps=tuple(steps),
            counted="each_round" in table,
            after_last=after_last or "fail",
            times=times,
            check=check,
        )

    def _match(
        self, table: Mapping[str, Any], here: str
    ) -> tuple[dict[str, Any], tuple[Condition, ...]]:
        match = table.get("match", {})
        if not isinstance(match, dict):
            self.wrong(
                "setting-type",
                f'{here}: "match" takes a table',
                help='match = { tool = "deploy", key = "confirm" }',
            )
            return {}, ()
        self.known(match, KEYS, f"{here}, match")
        found: list[Condition] = []
        for key, value in match.items():
            if key not in KEYS:
                continue
            try:
                found.append(condition(key, value))
            except Unusable as error:
                self.wrong("match-unusable", f"{here}: {error}", help=error.help)
        return match, tuple(found)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
