"""All scripts of a run together: decides what each round of asks gets.

Rules of this file:

- Asks of one round are answered together or not at all.
- The first entry that matches wins; what is wrong with its answer is an error, and no reason to try
  the next one.
- State is little: how often an entry answered within a call, and which entries ever matched.  A
  round that is not answered changes none of the counts.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct

from mcp_tap.answers.fill import NoAnswer, answer_to
from mcp_tap.answers.loops import Loops
from mcp_tap.answers.question import EVERY, NAMES, Question, described
from mcp_tap.answers.recall import Recording
from mcp_tap.answers.script import Entry, FromEnv, How, Script, Step
from mcp_tap.core.model import AskKind
from mcp_tap.core.text import brief
from mcp_tap.errors import ScriptError

MOST_CALLS: Final = 20_000
"""Calls that counts are kept of; beyond it the oldest one's begin anew."""
ANSWERED_BY: Final[dict[How | None, frozenset[AskKind]]] = {
    "decline": frozenset({"form", "url"}),
    "cancel": frozenset({"form", "url"}),
    "ask": EVERY,
}
"""What `unmatched` answers by itself; a person answers anything."""
_TOLD: Final = 4
"""Entries an error says of why they did not match."""


class Given(Struct, frozen=True, kw_only=True):
    """An answer to one ask."""

    entry: str | None
    """Name of the entry that gave it; None where `unmatched` did."""
    answer: dict[str, Any]
    """What stands under the ask's key in `inputResponses`, or is the result of a pushed request."""
    kind: AskKind
    secrets: tuple[str, ...] = ()
    """JSON pointers into `answer` to values that came from the environment."""


class Missed(Struct, frozen=True, kw_only=True):
    """Why one ask has no answer."""

    key: str
    error: ScriptError
    entry: str | None = None
    """Name of the entry that matched, where one did."""

    @property
    def why(self) -> str:
        """Say it in a line."""
        return f"{self.error.what}: {self.error.why}" if self.error.why else self.error.what


class Answered(Struct, frozen=True, kw_only=True):
    """All asks of a round have answers."""

    answers: dict[str, Given]


class Unmatched(Struct, frozen=True, kw_only=True):
    """A round is not answered."""

    how: How
    """What is to happen; `fail` also where the script is at fault, or the client could not do what
    `pass` hands to it."""
    misses: list[Missed]
    answers: dict[str, Given] = {}
    """For `decline` and `cancel` what every ask gets; for `ask` what entries answer, so that a
    person is asked only the rest."""

    @property
    def why(self) -> str:
        """Say it in a line."""
        return self.misses[0].why

    @property
    def error(self) -> ScriptError:
        """Say it to a person."""
        return self.misses[0].error


Decided: TypeAlias = Answered | Unmatched


class Book:
    """The answers of a run."""

    def __init__(
        self,
        scripts: Sequence[Script],
        *,
        env: Mapping[str, str],
        unmatched: How | None = None,
        advertise: frozenset[AskKind] | None = None,
        recorded: Mapping[tuple[str, str], Recording] | None = None,
        default: How = "pass",
    ) -> None:
        """Put scripts together.

        Args:
            scripts: in the order they were named; the first match wins.
            env: the environment, for `{ env = "X" }`.
            unmatched: overrides what the scripts say.
            advertise: overrides what the scripts say.
            recorded: what fills from captures is taken from: script and path as written -> answers.
            default: what `unmatched` is where nothing says.
        """
        self.scripts = tuple(scripts)
        self.entries: tuple[Entry, ...] = tuple(e for s in scripts for e in s.entries)
        said = [s.unmatched for s in scripts if s.unmatched is not None]
        self.unmatched: How = unmatched or (said[0] if said else default)
        self.source: str | None = None
        """The capture that asks come from, where calls are the numbers in it; for errors."""
        self._env = env
        self._recorded = recorded or {}
        lists = [s.advertise for s in scripts if s.advertise is not None]
        if advertise is None and lists:
            advertise = frozenset().union(*lists)
        self._advertise = advertise
        self._matched: set[int] = set()
        self._calls: OrderedDict[Hashable, dict[int, int]] = OrderedDict()
        """Call -> entry (its place in `entries`) -> rounds it has answered."""
        self._spent: dict[int, int] = {}
        """Entry -> calls it has answered for."""
        self._loops = Loops()

    def add(self, script: Script) -> None:
        """Let a further script answer, before all others."""
        count = len(script.entries)
        self.scripts = (script, *self.scripts)
        self.entries = (*script.entries, *self.entries)
        self._matched = {place + count for place in self._matched}
        self._spent = {place + count: calls for place, calls in self._spent.items()}
        for call, counts in self._calls.items():
            self._calls[call] = {place + count: rounds for place, rounds in counts.items()}

    # -- deciding ------------------------------------------------------------------------------

    def decide(self, asks: Sequence[Question]) -> Decided:
        """Decide about the asks of one round of one call."""
        answers: dict[str, Given] = {}
        faults: list[Missed] = []
        misses: list[Missed] = []
        winners: list[tuple[Hashable, int]] = []
        for ask in asks:
            place = self.winner(ask)
            if place is None:
                misses.append(Missed(key=ask.key, error=self._no_answer(ask)))
                continue
            self._matched.add(place)
            winners.append((ask.call, place))
            entry = self.entries[place]
            try:
                answers[ask.key] = self._give(entry, place, ask)
            except NoAnswer as error:
                faults.append(Missed(key=ask.key, error=error.told(entry, ask), entry=entry.name))
        if faults:
            return Unmatched(how="fail", misses=[*faults, *misses])
        if misses and self.unmatched != "ask":
            return self._unmatched(asks, misses)
        for call, place in dict.fromkeys(winners):
            self._count(call, place)
        if misses:
            return Unmatched(how="ask", misses=misses, answers=answers)
        return Answered(answers=answers)

    def winner(self, ask: Question) -> int | None:
        """Give the place in `entries` of the one that answers an ask."""
        for place, entry in enumerate(self.entries):
            if (
                ask.ask in entry.kinds
                and all(condition.test(ask) for condition in entry.conditions)
                and self.has_turn(place, ask)
            ):
                return place
        return None

    def has_turn(self, place: int, ask: Question) -> bool:
        """Tell whether an entry still answers for a call: `times` is not used up."""
        times = self.entries[place].times
        return (
            times is None
            or self._spent.get(place, 0) < times
            or place in self._calls.get(ask.call, ())
        )

    def why_not(self, place: int, ask: Question) -> str | None:
        """Say what an entry wants that an ask has not; None where it matches."""
        entry = self.entries[place]
        if ask.ask not in entry.kinds:
            return "answers " + " and ".join(sorted(NAMES[kind] for kind in entry.kinds))
        for condition in entry.conditions:
            if not condition.test(ask):
                return f"wants {condition.wants}"
        if not self.has_turn(place, ask):
            return f"has answered for {entry.times} calls"
        return None

    def _give(self, entry: Entry, place: int, ask: Question) -> Given:
        step = self._step(entry, place, ask)
        recording = None
        if step.capture is not None:
            recording = self._recorded.get((entry.script, step.capture))
        answer, secrets = answer_to(ask, step, self._env, recording, check=entry.check)
        return Given(entry=entry.name, answer=answer, kind=ask.ask, secrets=secrets)

    def _step(self, entry: Entry, place: int, ask: Question) -> Step:
        done = self._calls.get(ask.call, {}).get(place, 0)
        if done < len(entry.steps):
            return entry.steps[done]
        if entry.counted and entry.after_last == "fail":
            raise NoAnswer(
                "answers-used-up",
                f"is asked a {_nth(done + 1)} time and has {len(entry.steps)} answers",
                help='add one to each_round, or after_last = "repeat"',
            )
        return entry.steps[-1]

    def _count(self, call: Hashable, place: int) -> None:
        counts = self._calls.get(call)
        if counts is None:
            counts = self._calls[call] = {}
            while len(self._calls) > MOST_CALLS:
                self._calls.popitem(last=False)
        if place not in counts:
            self._spent[place] = self._spent.get(place, 0) + 1
        counts[place] = counts.get(place, 0) + 1

    def _unmatched(self, asks: Sequence[Question], misses: list[Missed]) -> Unmatched:
        how = self.unmatched
        if how == "pass" and not all(ask.declared for ask in asks):
            how = "fail"
        if how not in ("decline", "cancel"):
            return Unmatched(how=how, misses=misses)
        if any(ask.mode is None for ask in asks):  # only an elicitation can be declined
            return Unmatched(how="fail", misses=misses)
        given = {ask.key: Given(entry=None, answer={"action": how}, kind=ask.ask) for ask in asks}
        return Unmatched(how=how, misses=misses, answers=given)

    def _no_answer(self, ask: Question) -> ScriptError:
        names = ", ".join(script.name for script in self.scripts)
        nothing = f"nothing in {names}" if names else "no script"
        told = [
            f"{brief(entry.name)} {why}"
            for place, entry in enumerate(self.entries)
            if (why := self.why_not(place, ask)) is not None
        ]
        more = len(told) - _TOLD
        why = "; ".join(told[:_TOLD]) + (f"; and {more} more" if more > 0 else "")
        return ScriptError(
            "no-answer",
            f"{nothing} answers ask {brief(ask.key)} of {ask.place}",
            where=described(ask),
            why=why or ("it has no answers" if names else "none was given"),
            help=self._draft(ask),
        )

    def _draft(self, ask: Question) -> str:
        """Say how to get an entry."""
        script = self.scripts[0].name if self.scripts else "answers.toml"
        source, call = (self.source, ask.call) if self.source else ("CAPTURE", "N")
        if type(ask.call) is tuple:  # for no call: only a whole draft has an entry
            return f"mcp-tap answers new {source} drafts one"
        return f"mcp-tap answers new {source} --call {call} >> {script}"

    def stop(self, asks: Sequence[Question], answered: Answered) -> str | None:
        """Say why a call is not to go on: it is asked the same and given the same, over and over.

        To be called once for each answered round.
        """
        return self._loops.stop(
            [(ask, answered.answers[ask.key].answer) for ask in asks], most=MOST_CALLS
        )

    def forget(self, call: Hashable) -> None:
        """Let go of what is known of a call that ended."""
        self._calls.pop(call, None)
        self._loops.forget(call)

    # -- what it can do ------------------------------------------------------------------------

    def kinds(self) -> frozenset[AskKind]:
        """Give the kinds of asks that it can answer, and may say so of."""
        found: set[AskKind] = set()
        for entry in self.entries:
            found |= self._answered_by(entry)
        if self.unmatched == "ask":
            found |= EVERY
        elif self.unmatched in ("decline", "cancel"):
            found |= {"form", "url"}
        return frozenset(found if self._advertise is None else found & self._advertise)

    def _answered_by(self, entry: Entry) -> frozenset[AskKind]:
        kinds = entry.answerable
        if kinds <= frozenset({"form"}):
            return kinds
        for step in entry.steps:
            recording = self._recorded.get((entry.script, step.capture or ""))
            if recording is not None:
                kinds = kinds & recording.kinds()
        return kinds

    def advertised(self) -> dict[str, Any]:
        """Give the capabilities that follow: what a client declares that can do as much."""
        kinds = self.kinds()
        modes: dict[str, Any] = {kind: {} for kind in ("form", "url") if kind in kinds}
        found: dict[str, Any] = {"elicitation": modes} if modes else {}
        found.update((kind, {}) for kind in ("sampling", "roots") if kind in kinds)
        return found

    def unused(self) -> list[str]:
        """Name the entries that never matched."""
        return [e.name for place, e in enumerate(self.entries) if place not in self._matched]

    def missing(self) -> list[tuple[Entry, str]]:
        """Give the entries that need a variable which the environment has not."""
        return [
            (entry, value.variable)
            for entry in self.entries
            for step in entry.steps
            for value in (step.content or {}).values()
            if isinstance(value, FromEnv) and value.variable not in self._env
        ]


def _nth(number: int) -> str:
    last = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{last}"
