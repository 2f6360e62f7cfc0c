"""Reading what an entry of a script says: its answers, and the values in them.

Rules of this file: those of `answers.reading`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

from mcp_tap.answers.match import Unusable, check_literal
from mcp_tap.answers.question import EVERY
from mcp_tap.answers.script import (
    ACTIONS,
    OTHERS,
    WAYS,
    FromDefault,
    FromEnv,
    Root,
    Step,
    Value,
)
from mcp_tap.core.model import AskKind
from mcp_tap.core.text import brief
from mcp_tap.errors import ScriptError

STEP: Final = (
    "action", "content", "fill", "seed", "capture", "text", "model", "roots",
)  # fmt: skip
"""Settings of an answer."""
_ROOT: Final = ("uri", "name")
_ELICITED: Final[frozenset[AskKind]] = frozenset({"form", "url"})


class Mistakes:
    """Small readers, and what they found to be wrong."""

    def __init__(self, name: str) -> None:
        """Begin with a script of that name."""
        self.name = name
        self.problems: list[ScriptError] = []

    def known(self, table: Mapping[str, Any], keys: Sequence[str], here: str) -> None:
        """Refuse keys that are not known."""
        for key in table:
            if key not in keys:
                near = get_close_matches(key, keys, 1)
                self.wrong(
                    "unknown-setting",
                    f'{here} has no setting "{key}"',
                    help=f'did you mean "{near[0]}"?' if near else f"it takes {', '.join(keys)}",
                )

    def text(self, table: Mapping[str, Any], key: str, here: str) -> str | None:
        """Read a text; None where there is none."""
        value = table.get(key)
        if value is None or (isinstance(value, str) and value):
            return value
        self.wrong("setting-type", f'{here}: "{key}" takes a text')
        return None

    def flag(self, table: Mapping[str, Any], key: str, here: str) -> bool:
        """Read a flag; true where it is absent."""
        value = table.get(key, True)
        if isinstance(value, bool):
            return value
        self.wrong("setting-type", f'{here}: "{key}" takes true or false')
        return True

    def one_of(self, table: Mapping[str, Any], key: str, words: Sequence[Any], here: str) -> Any:
        """Read one of some words; None where it is absent."""
        value = table.get(key)
        if value is None or value in words:
            return value
        near = get_close_matches(value, words, 1) if isinstance(value, str) else []
        self.wrong(
            "bad-value",
            f"{here}: {key} cannot be {brief(value, 40)}",
            help=f'did you mean "{near[0]}"?' if near else f"one of {', '.join(words)}",
        )
        return None

    def wrong(self, code: str, what: str, *, why: str = "", help: str = "") -> None:
        """Keep what is wrong."""
        self.problems.append(ScriptError(code, what, why=why, help=help))


class Steps(Mistakes):
    """Reads what entries say."""

    def steps(self, table: Mapping[str, Any], here: str) -> list[Step]:
        """Read what an entry says, round by round."""
        if "each_round" not in table:
            step = self._step(table, here)
            return [] if step is None else [step]
        beside = [key for key in STEP if key in table]
        if beside:
            self.wrong(
                "setting-conflict",
                f'{here}: "{beside[0]}" stands beside "each_round"',
                help=f'write "{beside[0]}" into the entries of each_round',
            )
        rounds = table["each_round"]
        if not isinstance(rounds, list) or not rounds or not all(_is_table(r) for r in rounds):
            self.wrong(
                "setting-type",
                f'{here}: "each_round" takes a list of answers',
                help='each_round = [{ content = { code = "1" } }, { action = "decline" }]',
            )
            return []
        found = []
        for number, round_ in enumerate(rounds, 1):
            place = f"{here}, round {number}"
            self.known(round_, STEP, place)
            step = self._step(round_, place)
            if step is not None:
                found.append(step)
        return found

    def _step(self, table: Mapping[str, Any], here: str) -> Step | None:
        before = len(self.problems)
        action = self.one_of(table, "action", ACTIONS, here)
        content = self._content(table, here)
        fill = self._ways(table, here)
        seed = table.get("seed", 0)
        if not isinstance(seed, int) or isinstance(seed, bool):
            self.wrong("setting-type", f'{here}: "seed" takes a whole number', help="seed = 7")
        capture = self.text(table, "capture", here)
        if "capture" in fill and capture is None and "capture" not in table:
            self.wrong(
                "setting-missing",
                f'{here}: fill from a capture, but no "capture" says from which',
                help='capture = "captures/booking.jsonl"',
            )
        if capture is not None and "capture" not in fill:
            self.wrong(
                "setting-conflict",
                f'{here}: "capture" is used by no fill',
                help='fill = ["capture"]',
            )
        text = self.text(table, "text", here)
        model = self.text(table, "model", here)
        roots = self._roots(table, here)
        if content is not None and OTHERS in content and fill:
            self.wrong("setting-conflict", f'{here}: "fill" stands beside "*", which fills as well')
        kinds = self._kinds(table, action, here)
        if len(self.problems) > before or kinds is None:
            return None
        return Step(
            kinds=kinds,
            action=action,
            content=content,
            fill=fill,
            seed=seed,
            capture=capture,
            text=text,
            model=model,
            roots=roots,
        )

    def _kinds(
        self, table: Mapping[str, Any], action: str | None, here: str
    ) -> frozenset[AskKind] | None:
        """Say which asks an answer suits."""
        said = {
            "form": [key for key in ("content", "fill") if key in table],
            "sampling": [key for key in ("text", "model") if key in table],
            "roots": [key for key in ("roots",) if key in table],
        }
        kinds = [kind for kind, keys in said.items() if keys]
        if len(kinds) > 1:
            one, other = (said[kind][0] for kind in kinds[:2])
            self.wrong(
                "setting-conflict",
                f'{here}: "{one}" answers {kinds[0]} asks and "{other}" {kinds[1]} asks',
                help="make two answers of it",
            )
            return None
        if not kinds and action is None:
            if any(here in problem.what for problem in self.problems):
                return None  # what it was to say is probably what could not be read
            self.wrong(
                "answer-empty",
                f"{here} says nothing",
                help='add content, fill, action, text or roots: action = "decline"',
            )
            return None
        kind = kinds[0] if kinds else None
        if kind in ("sampling", "roots"):
            if action is not None:
                self.wrong(
                    "setting-conflict", f'{here}: "action" is for elicitations, not for {kind}'
                )
            if kind == "sampling" and "text" not in table:
                self.wrong("setting-missing", f'{here}: no "text"', help='text = "Paris."')
            return frozenset({"sampling"}) if kind == "sampling" else frozenset({"roots"})
        if kind == "form" and action in ("decline", "cancel"):
            self.wrong("setting-conflict", f'{here}: "{said["form"][0]}" cannot go with a {action}')
        if kind is None:
            return _ELICITED
        wide = table.get("fill") and "capture" in table.get("fill", ()) and "content" not in table
        return EVERY if wide else frozenset({"form"})

    def _content(self, table: Mapping[str, Any], here: str) -> dict[str, Value] | None:
        content = table.get("content")
        if content is None:
            return None
        if not isinstance(content, dict):
            self.wrong(
                "setting-type",
                f'{here}: "content" takes a table of fields',
                help="content = { proceed = true }",
            )
            return None
        return {
            name: self._value(value, f"{here}, content.{name}") for name, value in content.items()
        }

    def _value(self, value: Any, here: str) -> Value:
        """Read a value: a literal, or a table that says where it comes from."""
        if isinstance(value, dict):
            if value == {"default": True}:
                return FromDefault()
            variable = value.get("env")
            if len(value) == 1 and isinstance(variable, str) and variable:
                return FromEnv(variable)
            self.wrong(
                "value-unusable",
                f"{here}: a table is no value",
                why="forms are flat; a table says where a value comes from",
                help='{ env = "NAME" } or { default = true }',
            )
            return ""
        self._literal(value, here)
        found: Value = value
        return found

    def _literal(self, value: Any, here: str) -> None:
        if isinstance(value, list):
            for number, one in enumerate(value):
                if isinstance(one, dict):
                    self.wrong("value-unusable", f"{here}: a table in a list is no value")
                else:
                    self._literal(one, f"{here}[{number}]")
            return
        try:
            check_literal(value, here)
        except Unusable as error:
            self.wrong("value-unusable", str(error), help=error.help)

    def _ways(self, table: Mapping[str, Any], here: str) -> tuple[Any, ...]:
        fill = table.get("fill")
        if fill is None:
            return ()
        fill = [fill] if isinstance(fill, str) else fill
        known = isinstance(fill, list) and fill and all(way in WAYS for way in fill)
        if not known:
            self.wrong(
                "bad-value",
                f'{here}: "fill" is a list of {", ".join(WAYS)}',
                help='fill = ["default", "generate"]',
            )
            return ()
        return tuple(fill)

    def _roots(self, table: Mapping[str, Any], here: str) -> tuple[Root, ...] | None:
        roots = table.get("roots")
        if roots is None:
            return None
        if not isinstance(roots, list) or not all(isinstance(root, dict) for root in roots):
            self.wrong(
                "setting-type",
                f'{here}: "roots" takes a list of tables',
                help='roots = [{ uri = "file:///home/ada/shop", name = "shop" }]',
            )
            return None
        found = []
        for number, root in enumerate(roots, 1):
            place = f"{here}, root {number}"
            self.known(root, _ROOT, place)
            uri, name = self.text(root, "uri", place), self.text(root, "name", place)
            if uri is None and "uri" not in root:
                self.wrong("setting-missing", f'{place}: no "uri"', help='uri = "file:///..."')
            found.append(Root(uri or "", name))
        return tuple(found)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)
