"""Runs the rules on a subject and makes findings of what they say.

All rules always run: what counts is a matter of policy, later.  Which rules a subject needs is
looked up, never searched.  A rule that raises is itself a finding, and costs nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from mcp_tap.core.bounded import Bounded
from mcp_tap.core.finding import Blame, Finding
from mcp_tap.core.spec import NAME_PARAM
from mcp_tap.core.values import short
from mcp_tap.rules import catalogue
from mcp_tap.rules.base import Hit, Hits, Parties, Rule
from mcp_tap.rules.precedence import beaten

if TYPE_CHECKING:
    from mcp_tap.core.facts.flow import Band, Flow
    from mcp_tap.core.facts.message import Message

MOST_ONCE: Final = 16_384
MOST_HITS: Final = 200
"""Findings of one rule on one subject: a hostile message cannot bury the rest."""
LONGEST_MESSAGE: Final = 400

Step: TypeAlias = tuple[str, str | None, Any]
"""A trigger's event, its method or kind, and the subject."""
Found: TypeAlias = tuple[Rule, Hit]
Judge: TypeAlias = Callable[[Any], Hits]
Pair: TypeAlias = tuple[Judge, Rule]
Plan: TypeAlias = tuple[tuple[Pair, ...], tuple[Pair, ...], tuple[Pair, ...]]
"""What runs: at once, as a consequence of that, and where nothing else fired."""
Table: TypeAlias = dict[str, dict[str | None, Plan]]
"""Event -> method or kind -> what runs."""


def silent(judges: tuple[Judge, ...], message: Message) -> bool:
    """Tell whether none of these has anything to say; else they have to be asked properly."""
    try:
        for judge in judges:
            if judge(message) is not None:
                return False
    except Exception:  # noqa: BLE001 (a top door: the engine will meet it again, and report it)
        return False
    return True


class Engine:
    """Judges the subjects of one run."""

    def __init__(self, rules: Sequence[Rule] | None = None) -> None:
        """Judge by `rules`; by all of them where none are given."""
        self._rules = catalogue.RULES if rules is None else tuple(rules)
        self._tables: dict[tuple[bool, Band, bool], Table] = {}
        self._once: Bounded[Any, Rule] = Bounded(MOST_ONCE, float("inf"))
        self._raised: set[str] = set()
        self.restless = False
        """A rule fired on the subject judged last, and may again on an equal one."""

    def spares(self, event: str) -> bool:
        """Tell whether no rule of an event has to look at what is known."""
        return all(
            trigger in rule.steady
            for rule in self._rules
            for trigger in rule.on
            if trigger.partition(" ")[0] == event
        )

    def judges(
        self, flow: Flow, event: str, word: str | None, *, flat: bool = False
    ) -> tuple[Judge, ...]:
        """List the rules that look at a message although it is known; `flat`: and flat."""
        if flat:
            spared = {rule.judge for rule in self._rules if _is_in(rule.flat, event, word)}
            return tuple(j for j in self.judges(flow, event, word) if j not in spared)
        table = self._tables.get((flow.http, flow.band, True)) or self._table(flow, known=True)
        plans = [
            plans.get(word) or plans[None]
            for plans in (table.get("message"), table.get(event))
            if plans is not None
        ]
        return tuple(judge for plan in plans for pairs in plan for judge, _ in pairs)

    def judge(
        self, flow: Flow, message: Message | None, steps: Iterable[Step], *, known: bool = False
    ) -> list[Finding]:
        """Run what applies.

        Args:
            flow: the exchange.
            message: what happened in it, whose findings these are; None for the exchange itself.
            steps: the subjects, with their triggers.
            known: steady rules need not look.

        Returns:
            Findings, those of a lower id first.
        """
        table = self._tables.get((flow.http, flow.band, known)) or self._table(flow, known=known)
        found: list[Found] = []
        late: list[tuple[Plan, Any]] | None = None
        self.restless = False
        for event, word, subject in steps:
            plans = table.get(event)
            if plans is None:
                continue
            plan = plans.get(word) or plans[None]
            for judge, rule in plan[0]:
                try:
                    hits = judge(subject)
                    if hits is not None:
                        _gather(found, rule, hits)
                except Exception as error:  # noqa: BLE001 (a top door: a rule of ours failed)
                    self._failed(found, rule, error)
            if plan[1] or plan[2]:
                late = [*(late or ()), (plan, subject)]
        if late is not None:
            self._late(found, late, message)
        if not found:
            return []
        self.restless = not all(_is_said_once(hit, rule) for rule, hit in found)
        return self._findings(flow, message, found)

    def _late(
        self, found: list[Found], late: list[tuple[Plan, Any]], message: Message | None
    ) -> None:
        if message is not None and found:
            message.fired = {rule.id for rule, _ in found}
        for plan, subject in late:
            if plan[1]:
                self._run(found, plan[1], subject)
        if not found or all(rule.severity == "note" for rule, _ in found):
            for plan, subject in late:
                if plan[2]:
                    self._run(found, plan[2], subject)

    def _run(self, found: list[Found], pairs: tuple[Pair, ...], subject: Any) -> None:
        for judge, rule in pairs:
            try:
                hits = judge(subject)
                if hits is not None:
                    _gather(found, rule, hits)
            except Exception as error:  # noqa: BLE001 (a top door: a rule of ours failed)
                self._failed(found, rule, error)

    def _table(self, flow: Flow, *, known: bool) -> Table:
        transport = "http" if flow.http else "stdio"
        applying = tuple(
            rule
            for rule in self._rules
            if transport in rule.transports and flow.band in rule.versions
        )
        table = self._tables[flow.http, flow.band, known] = _build(applying, known=known)
        return table

    def _failed(self, found: list[Found], rule: Rule, error: Exception) -> None:
        tap = catalogue.BY_ID.get("TAP-001")
        if tap is None or rule.id in self._raised:
            return
        self._raised.add(rule.id)
        words = f"the tap's own rule {rule.id} {rule.name} failed: {type(error).__name__}"
        found.append((tap, Hit(words, spot=rule.id)))

    def _findings(self, flow: Flow, message: Message | None, found: list[Found]) -> list[Finding]:
        found = [pair for pair in found if not _is_masked(pair[1].about or message, pair[1].path)]
        lost = beaten([(rule.id, hit.path, _spot(hit)) for rule, hit in found])
        kept = [pair for index, pair in enumerate(found) if index not in lost]
        kept.sort(key=_order)
        fired = {rule.id for rule, _ in kept}
        if message is not None:
            message.fired = fired
        return [
            self._finding(flow, message, rule, hit)
            for rule, hit in kept
            if hit.once is None or self._first(flow, rule, hit)
        ]

    def _first(self, flow: Flow, rule: Rule, hit: Hit) -> bool:
        once = hit.once
        per_client = once == "client" or (type(once) is tuple and once[:1] == ("client",))
        parts = once if type(once) is tuple else (once,)
        short_parts = tuple(short(part) if type(part) is str else part for part in parts)
        key = (rule.id, flow.seen.number if per_client else None, short_parts)
        if self._once.get(key) is not None:
            return False
        self._once.put(key, rule, 0.0)
        return True

    def _finding(self, flow: Flow, message: Message | None, rule: Rule, hit: Hit) -> Finding:
        about = hit.about or message
        where = about.flow if about is not None else flow
        exchange, call, round_ = where.exchange, where.call, where.round
        return Finding(
            rule=rule.id,
            name=rule.name,
            severity=hit.severity or rule.severity,
            level=rule.level,
            blame=_blame(rule, hit, about, flow),
            message=hit.message[:LONGEST_MESSAGE],
            seq=about.seq if about is not None else (exchange.request_seq or 0),
            t=about.t if about is not None else exchange.t,
            call=call.number if call is not None else None,
            round=round_.number if round_ is not None else None,
            exchange=exchange.number or None,
            path=hit.path,
            server=call.server if call is not None else None,
            method=_method(about, flow),
            target=call.name if call is not None else _target(about),
            spot=_spot(hit),
        )


@lru_cache(maxsize=16)  # those of all rules: two transports, three bands, known or not
def _build(rules: tuple[Rule, ...], *, known: bool) -> Table:
    words: dict[str, set[str | None]] = {}
    listening: dict[str, dict[str, Rule]] = {}
    for rule in rules:
        for trigger in (*rule.on, *rule.steady) if known else rule.on:
            event, _, word = trigger.partition(" ")
            words.setdefault(event, {None}).add(word or None)
            listening.setdefault(event, {})[rule.id] = rule
    table: Table = {}
    for event, of_event in words.items():
        plans: dict[str | None, Plan] = {}
        for narrow in of_event:
            name = _names(event, narrow)
            exact = [rule for rule in listening[event].values() if name in rule.on]
            broad = [r for r in listening[event].values() if event in r.on and name not in r.on]
            plans[narrow] = _plan(
                [
                    rule
                    for rule in (*exact, *broad)
                    if not (known and _is_in(rule.steady, event, narrow))
                ]
            )
        if any(map(any, plans.values())):
            table[event] = plans
    return table


def _names(event: str, word: str | None) -> str:
    return event if word is None else f"{event} {word}"


def _is_in(triggers: tuple[str, ...], event: str, word: str | None) -> bool:
    """Tell whether triggers cover an event, with a word or without."""
    return event in triggers or _names(event, word) in triggers


def _plan(rules: list[Rule]) -> Plan:
    pairs = [(rule.judge, rule) for rule in rules]
    return (
        tuple(pair for pair in pairs if not (pair[1].consequence or pair[1].last_resort)),
        tuple(pair for pair in pairs if pair[1].consequence),
        tuple(pair for pair in pairs if pair[1].last_resort),
    )


def _gather(found: list[Found], rule: Rule, hits: Hits) -> None:
    if type(hits) is Hit:
        found.append((rule, hits))
        return
    for count, hit in enumerate(hits):  # type: ignore[arg-type]
        if count >= MOST_HITS:
            return
        found.append((rule, hit))


def _is_said_once(hit: Hit, rule: Rule) -> bool:
    """Tell whether an equal message of the same client would add nothing to a finding."""
    return hit.once == "client" and rule.severity == "note" and hit.severity in (None, "note")


def _order(pair: Found) -> tuple[str, str]:
    return pair[0].id, pair[1].path


def _is_masked(about: Message | None, path: str) -> bool:
    """Tell whether a place lies in what was masked, and so became a string that it was not.

    Rules skip masked strings by themselves, since they may still have something to say of them.
    """
    if about is None or not about.record.masked:
        return False
    whole = f"/body{path}/"
    return any(
        mask.type != "string" and whole.startswith(f"{mask.at}/") for mask in about.record.masked
    )


def _spot(hit: Hit) -> str:
    if hit.spot is not None:
        return hit.spot
    last = hit.path.rsplit("/", 1)[-1]
    return last.replace("~1", "/").replace("~0", "~")


def _blame(rule: Rule, hit: Hit, about: Message | None, flow: Flow) -> Blame:
    """Name whose fault it is: what the tap wrote for a client is its own, unless it copied it."""
    party: Parties | Blame = hit.blame or rule.blames
    if party == "sender":
        party = about.sender if about is not None else "unknown"
    if party in ("client", "tap"):
        said = about if about is not None and about.sender != "server" else flow.sent
        if said is None or said.sender != "tap":
            return party
        first = said.flow.retry.first if said.flow.retry is not None else None
        copied = first is not None and first.fired is not None and rule.id in first.fired
        return "client" if copied else "tap"
    return party


def _method(about: Message | None, flow: Flow) -> str | None:
    if about is not None and about.method is not None:
        return about.method
    return flow.exchange.method


def _target(about: Message | None) -> str | None:
    if about is None or about.method is None:
        return None
    name = about.params.get(NAME_PARAM.get(about.method, ""))
    return name if type(name) is str else None
