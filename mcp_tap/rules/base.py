"""What a rule is, and the register of all of them.

A rule is a pure function of one subject.  It reads no configuration, keeps nothing between two
calls, and knows no other rule; only a *consequence* may look at which rules fired on the request
(`message.request.fired`).  Its name is the function's, its page the docstring.  It gives a `Hit`,
several, or None, and most often None: so the first lines of a rule are the cheapest test that says
so, and a generator is started only where something is suspicious.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

from msgspec import Struct

from mcp_tap.core.facts.flow import MODERN, Band
from mcp_tap.core.finding import Blame, Level, Severity

if TYPE_CHECKING:
    from mcp_tap.core.facts.message import Message

Trigger: TypeAlias = str
"""When a rule runs: an event, perhaps with a method or kind after a blank.

Messages (the subject is a `Message`): `message` (any), `request`, `notification`,
`client_response`, `result`, `error`, `server_request`, `server_notification`, `malformed`; with a
method (`result tools/list`: of a response the method it answers).  And these, beside the above:
`input_required` (a result of that type, with the method), `retrying` (a request that has a member
`inputResponses` or `requestState`, whatever its value), `after` (a response to a request in which
something was found).
Asks and answers (`Ask`, `Answer`): `ask`, `answer`, with a kind (`ask form`).
Linked retries (`Retry`): `retry`.
Exchanges (`Flow`): `http` (the head of a request that is no POST), `head` (the head of a
response), `closed`.
`line` (a `Message`): a line of a stdio run that is no JSON.
`end` (a `Seen`): no more records come.
Of the tap itself (records): `gap`, `decision`, `cut` (a payload that is not judged).
"""

Transport: TypeAlias = Literal["http", "stdio"]
Parties: TypeAlias = Literal["client", "server", "sender", "tap"]
"""Who is to blame; `sender`: who wrote the message."""

LEGACY: Final[tuple[Band, ...]] = ("2025-11-25", "2025-06-18")
ALL: Final[tuple[Band, ...]] = (MODERN, *LEGACY)
RECENT: Final[tuple[Band, ...]] = (MODERN, "2025-11-25")
"""Since 2025-11-25, which brought url mode, choices of several, and tools in sampling."""


class Hit(Struct, frozen=True):
    """One thing a rule found."""

    message: str
    """What happened, in one sentence: `client answered ...`.  Names the party.  No secret, no
    requestState, nothing from the wire that is not needed; what is quoted is cut short."""
    path: str = ""
    """JSON pointer into the message the finding is about."""
    spot: str | None = None
    """Header, key or field; None takes the last step of `path`."""
    severity: Severity | None = None
    """Where it is not the rule's own."""
    blame: Blame | None = None
    """Where it is not the rule's own."""
    about: Message | None = None
    """The message it is about, where that is not the subject's own."""
    once: Hashable = None
    """Found once only: `"client"` (once a client), `"run"`, or anything else that is the same for
    equal findings, such as `("client", "roots")`."""


Hits: TypeAlias = Hit | Iterable[Hit] | None


class Rule(Struct, frozen=True, kw_only=True):
    """A rule and all that is said about it."""

    id: str
    name: str
    severity: Severity
    level: Level
    blames: Parties
    spec: str
    """Page of the specification, below its revision's folder: `basic/patterns/mrtr#...`."""
    on: tuple[Trigger, ...]
    versions: tuple[Band, ...]
    transports: tuple[Transport, ...]
    consequence: bool
    """It looks at which rules fired on the request, and so runs after the others."""
    last_resort: bool
    """It runs only where no other rule said a word."""
    steady: tuple[Trigger, ...]
    """Triggers for which it looks at nothing but what `core.facts.steady` compares: where it found
    nothing in a message, it is not asked about the next that is equal.  With a method they may be
    narrower than those it has."""
    flat: tuple[Trigger, ...]
    """Triggers for which the same holds as far as results are flat."""
    judge: Callable[[Any], Hits]
    page: str
    """Its docstring."""

    @property
    def family(self) -> str:
        """The letters its id begins with."""
        return self.id.partition("-")[0]

    @property
    def summary(self) -> str:
        """First line of its page."""
        return self.page.partition("\n")[0]


_REGISTER: Final[dict[str, Rule]] = {}
F = TypeVar("F", bound=Callable[[Any], Hits])


def rule(
    identity: str,
    *,
    severity: Severity,
    level: Level,
    blames: Parties,
    spec: str,
    on: Trigger | tuple[Trigger, ...],
    versions: tuple[Band, ...] = (MODERN,),
    transports: tuple[Transport, ...] = ("http", "stdio"),
    consequence: bool = False,
    last_resort: bool = False,
    steady: bool | tuple[Trigger, ...] = False,
    flat: tuple[Trigger, ...] = (),
) -> Callable[[F], F]:
    """Register the function below as a rule; its name and docstring become the rule's.

    Args:
        identity: its id, which never changes its meaning.
        severity: how bad it is, unless a hit says otherwise.
        level: the specification's word.
        blames: whose bug it is, unless a hit says otherwise.
        spec: page and section of the specification.
        on: when it runs.
        versions: the revisions it holds for; with `ambiguous` also where none was declared.
        transports: where it can be seen.
        consequence: it looks at what fired on the request.
        last_resort: it runs only where nothing else fired.
        steady: it looks at nothing that differs from one ordinary message to the next; for some
            of its triggers only, where these are given.
        flat: triggers for which it is steady where results are flat, too.
    """

    def register(function: F) -> F:
        if identity in _REGISTER:
            raise ValueError(f"{identity} is registered twice")
        triggers = (on,) if isinstance(on, str) else on
        never = steady if isinstance(steady, tuple) else triggers if steady else ()
        _REGISTER[identity] = Rule(
            id=identity,
            name=function.__name__.replace("_", "-"),
            severity=severity,
            level=level,
            blames=blames,
            spec=spec,
            on=triggers,
            versions=versions,
            transports=transports,
            consequence=consequence,
            last_resort=last_resort,
            steady=never,
            flat=flat,
            judge=function,
            page=function.__doc__ or "",
        )
        return function

    return register


def registered() -> tuple[Rule, ...]:
    """Give all rules whose modules were imported, by id."""
    return tuple(_REGISTER[identity] for identity in sorted(_REGISTER))
