"""The answer script: what the file may say, as structs.  docs/answers.md describes it.

Rules of this file:

- A `Script` is whole and sound: what cannot be meant is refused when it is read, by
  `answers.reading`.
- Nothing here holds a secret: `{ env = "X" }` stays the name of a variable until it is sent.
"""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias, get_args

from msgspec import Struct

from mcp_tap.answers.match import Condition
from mcp_tap.core.model import AskKind

VERSION: Final = 1
Action: TypeAlias = Literal["accept", "decline", "cancel"]
How: TypeAlias = Literal["fail", "ask", "pass", "decline", "cancel"]
"""What happens to a round in which an ask has no answer."""
Way: TypeAlias = Literal["default", "generate", "capture"]
AfterLast: TypeAlias = Literal["fail", "repeat"]

ACTIONS: Final[tuple[Action, ...]] = get_args(Action)
HOWS: Final[tuple[How, ...]] = get_args(How)
WAYS: Final[tuple[Way, ...]] = get_args(Way)
AFTER: Final[tuple[AfterLast, ...]] = get_args(AfterLast)
OTHERS: Final = "*"
"""In `content`: all fields that are not named."""
_ONLY_OF: Final[dict[str, AskKind]] = {"field": "form", "url": "url"}
"""Condition -> the only kind of asks that can meet it."""


class FromEnv(Struct, frozen=True):
    """A value that is taken from the environment when it is sent."""

    variable: str


class FromDefault(Struct, frozen=True):
    """A value that is the field's own default."""


Value: TypeAlias = str | int | float | bool | list[Any] | FromEnv | FromDefault
"""A value of `content`: what is sent, or where it comes from."""


class Root(Struct, frozen=True):
    """A root."""

    uri: str
    name: str | None = None


class Step(Struct, frozen=True, kw_only=True):
    """What an entry says to one ask."""

    kinds: frozenset[AskKind]
    """Kinds of asks it can answer."""
    action: Action | None = None
    """None where it was not written: `accept`, or what the capture has."""
    content: dict[str, Value] | None = None
    fill: tuple[Way, ...] = ()
    seed: int = 0
    capture: str | None = None
    """Path as written."""
    text: str | None = None
    model: str | None = None
    roots: tuple[Root, ...] | None = None


class Entry(Struct, frozen=True, kw_only=True, eq=False):
    """One `[[answer]]`."""

    number: int
    """Its place in the file, from 1."""
    script: str
    """Name of its file."""
    name: str
    """What it is called in the capture, the views and errors; `answer 2` where it has no name."""
    match: dict[str, Any] = {}
    """As written."""
    conditions: tuple[Condition, ...] = ()
    kinds: frozenset[AskKind] = frozenset()
    """Kinds of asks it can answer."""
    steps: tuple[Step, ...]
    """One; with `each_round`, one for each round of a call that asks."""
    counted: bool = False
    """It has `each_round`."""
    after_last: AfterLast = "fail"
    times: int | None = None
    """Calls it answers for; after them, it is passed over."""
    check: bool = True
    """Content is compared with the schema before it is sent."""

    @property
    def answerable(self) -> frozenset[AskKind]:
        """Kinds of asks that can meet its conditions and be answered by it."""
        kinds = self.kinds
        for key, wanted in self.match.items():
            if key in ("ask", "mode"):
                kinds = kinds.intersection(wanted if isinstance(wanted, list) else [wanted])
            elif key in _ONLY_OF:
                kinds = kinds & {_ONLY_OF[key]}
        return kinds

    @property
    def place(self) -> str:
        """Say where it stands: `deploy.toml, answer 2`."""
        return f"{self.script}, answer {self.number}"


class Script(Struct, frozen=True, kw_only=True, eq=False):
    """A file of answers."""

    name: str
    entries: tuple[Entry, ...] = ()
    unmatched: How | None = None
    advertise: frozenset[AskKind] | None = None
    """Kinds to declare upstream; None where the script does not say."""

    def captures(self) -> list[str]:
        """Give the paths of the captures it fills from, as written, each once."""
        found = [step.capture for entry in self.entries for step in entry.steps if step.capture]
        return list(dict.fromkeys(found))

    def variables(self) -> list[str]:
        """Give the names of the environment's variables it needs, each once."""
        found = [
            value.variable
            for entry in self.entries
            for step in entry.steps
            for value in (step.content or {}).values()
            if isinstance(value, FromEnv)
        ]
        return list(dict.fromkeys(found))
