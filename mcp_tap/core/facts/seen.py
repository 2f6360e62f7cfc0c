"""What one client's side of a run has shown so far.

`Seen` is of one client (stateless era), one session (session era) or one process (stdio); `Run` is
of all of them together.  Both are nothing but topics, each with a subject of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from mcp_tap.core.bounded import Bounded
from mcp_tap.core.facts.cancelled import Cancelled
from mcp_tap.core.facts.held import Held
from mcp_tap.core.facts.levels import Levels
from mcp_tap.core.facts.lines import Lines
from mcp_tap.core.facts.links import Links
from mcp_tap.core.facts.listings import Listings
from mcp_tap.core.facts.lost import Lost
from mcp_tap.core.facts.pending import Pending
from mcp_tap.core.facts.progress import Progress
from mcp_tap.core.facts.server import Server
from mcp_tap.core.facts.session import Session
from mcp_tap.core.facts.states import States
from mcp_tap.core.facts.steady import Steady
from mcp_tap.core.facts.subscriptions import Subscriptions
from mcp_tap.core.facts.tasks import Tasks
from mcp_tap.core.facts.tools import Tools

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_tap.core.facts.flow import Band, Flow
    from mcp_tap.core.facts.message import Message
    from mcp_tap.core.facts.topic import Topic

MOST_CLIENTS = 4096
LONGEST_CLIENT = 24 * 3600.0

_OF_A_CLIENT: Final[dict[str, type[Topic]]] = {
    "pending": Pending,
    "lost": Lost,
    "tools": Tools,
    "listings": Listings,
    "server": Server,
    "session": Session,
    "progress": Progress,
    "cancelled": Cancelled,
    "subscriptions": Subscriptions,
    "tasks": Tasks,
    "levels": Levels,
    "lines": Lines,
}
_OF_A_RUN: Final[dict[str, type[Topic]]] = {"states": States, "links": Links}

Table: TypeAlias = dict[str, dict[str | None, tuple[tuple[bool, str], ...]]]
"""Event -> method -> which topics of the run (True) or the client (False) want to know."""


def _table(transport: str, *, known: bool) -> Table:
    table: Table = {}
    for of_run, topics in ((False, _OF_A_CLIENT), (True, _OF_A_RUN)):
        for name, topic in topics.items():
            if transport not in topic.over:
                continue
            for wanted in topic.wants:
                if known and wanted in topic.steady:
                    continue
                event, _, method = wanted.partition(" ")
                methods = table.setdefault(event, {None: ()})
                methods[method or None] = (*methods.get(method or None, ()), (of_run, name))
    for methods in table.values():
        for narrow in methods:
            if narrow is not None:
                methods[narrow] = tuple(dict.fromkeys((*methods[None], *methods[narrow])))
    return table


_NOBODY: Final[dict[str | None, tuple[tuple[bool, str], ...]]] = {None: ()}
_WANTED: Final = {
    (http, known): _table("http" if http else "stdio", known=known)
    for http in (True, False)
    for known in (True, False)
}


class Run:
    """Memory all clients of a run share."""

    __slots__ = ("band", "clients", "count", "held", "links", "states", "steady", "whole")

    def __init__(self) -> None:
        """Begin with nothing seen."""
        self.states = States()
        self.links = Links()
        self.steady = Steady()
        self.held = Held()
        self.band: Band = "ambiguous"
        """Of its newest request, whoever sent that."""
        self.count = 0
        self.whole = True
        """No record was lost, and no line of a stdio run was too large to look at."""
        self.clients: Bounded[object, Seen] = Bounded(MOST_CLIENTS, LONGEST_CLIENT)

    def client(self, key: object, t: float) -> Seen:
        """Find a client's memory, or begin one."""
        found = self.clients.get(key)
        if found is None:
            self.count += 1
            found = Seen(self, self.count)
            self.clients.put(key, found, t)
        return found


class Seen:
    """Memory of one client, session or process."""

    __slots__ = (*_OF_A_CLIENT, "_ends", "band", "number", "run")

    pending: Pending
    lost: Lost
    tools: Tools
    listings: Listings
    server: Server
    session: Session
    progress: Progress
    cancelled: Cancelled
    subscriptions: Subscriptions
    tasks: Tasks
    levels: Levels
    lines: Lines

    def __init__(self, run: Run, number: int) -> None:
        """Begin with nothing seen."""
        self.run = run
        self.number = number
        """Tells clients of one run apart."""
        self.band: Band = "ambiguous"
        """Of its newest request."""
        for name, topic in _OF_A_CLIENT.items():
            setattr(self, name, topic())
        self._ends: list[tuple[Callable[[Flow], None], ...] | None] = [None, None]
        """Who wants to know of an exchange that is over, looked up once: of one that was not as
        those before, and of one that was."""

    def note(self, event: str, message: Message) -> None:
        """Tell whoever wants to know of a message."""
        methods = _WANTED[message.flow.http, False].get(event)
        if methods is None:
            return
        for of_run, name in methods.get(message.method) or methods[None]:
            getattr(self.run if of_run else self, name).note(message)

    def notes(self, message: Message) -> tuple[Callable[[Message], None], ...]:
        """Give what wants to know of messages that are equal to this one."""
        events = ("message", message.event)
        tables = [_WANTED[message.flow.http, True].get(event, _NOBODY) for event in events]
        return tuple(
            getattr(self.run if of_run else self, name).note
            for methods in tables
            for of_run, name in methods.get(message.method) or methods[None]
        )

    def closed(self, flow: Flow, *, known: bool = False) -> None:
        """Tell whoever wants to know that an exchange is over; `known`: as those before were."""
        ends = self._ends[known]
        if ends is None:
            ends = self._ends[known] = tuple(
                getattr(self.run if of_run else self, name).closed
                for of_run, name in _WANTED[flow.http, known]["closed"][None]
            )
        for end in ends:
            end(flow)
