"""What all answered calls of a run share: the scripts, the limits, the counters."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from itertools import count
from typing import TYPE_CHECKING, TypeAlias

from mcp_tap.answers.book import Answered, Book, Decided, Unmatched
from mcp_tap.answers.question import Question
from mcp_tap.core.bounded import Bounded
from mcp_tap.proxy.answering.request import Reader
from mcp_tap.proxy.answering.sessions import Sessions
from mcp_tap.proxy.answering.tasks import Tasks

if TYPE_CHECKING:
    from mcp_tap.proxy.answering.errand import Errand

MAX_ROUNDS = 10
"""Rounds the tap answers in one call; the official SDKs have the same limit."""
LONGEST = 600.0
"""Seconds from a call's first ask to its result; servers keep states about as long."""
LIMITS = frozenset({"too-many-rounds", "asks-again", "answers-timeout"})
"""Errors of calls that have gone on for too long."""
_MOST_PASSED = 4096
_MOST_ALIKE = 64

Person: TypeAlias = Callable[[Sequence[Question], Unmatched], Awaitable[Decided]]
"""Lets a person decide on a round."""


class Answering:
    """Answers for the clients of one run."""

    def __init__(
        self,
        book: Book,
        *,
        max_rounds: int = MAX_ROUNDS,
        longest: float = LONGEST,
        person: Person | None = None,
        mark: str = "",
    ) -> None:
        """Answer from a book of scripts.

        Args:
            book: the scripts.
            max_rounds: rounds to answer in one call.
            longest: seconds a call may take from its first ask on, without a person's time.
            person: decides where `unmatched` is `ask`.
            mark: tells ids of this run from those of another tap, where they may meet.
        """
        self.book = book
        self.max_rounds = max_rounds
        self.longest = longest
        self.person = person
        self.advertised = book.advertised()
        """Capabilities that are declared where a client does not."""
        self.reader = Reader(self.advertised)
        self.sessions = Sessions(self.advertised)
        """Of the era to 2025-11-25."""
        self.tasks = Tasks()
        self.errands: set[Errand] = set()
        """Answers on their way to servers."""
        self.answered = 0
        """Rounds that were answered."""
        self.failed = 0
        """Calls that ended with an error since a round was not answered."""
        self.limited = 0
        """Those among them that a limit ended."""
        self.label: str | None = None
        """What the user calls the server."""
        self.server: str | None = None
        """The name the server gave itself last."""
        self.host: str | None = None
        """What it is called as long as nothing else is known."""
        self._ids = count(1)
        self._id = f'"mcp-tap-{mark}-'.encode() if mark else b'"mcp-tap-'
        self._passed: Bounded[Hashable, deque[Hashable]] = Bounded(_MOST_PASSED, LONGEST * 6)

    @property
    def server_name(self) -> str | None:
        """What the server is called: by the user, by itself, else its host."""
        return self.label or self.server or self.host

    def renew(self) -> None:
        """Take note that the book can answer more than it could."""
        self.advertised.clear()
        self.advertised.update(self.book.advertised())
        self.reader = Reader(self.advertised)

    def next_id(self) -> bytes:
        """Give the token of an id that no other request of the run has from the tap."""
        return b'%b%d"' % (self._id, next(self._ids))

    def gave(self, token: bytes) -> bool:
        """Tell whether the token of an id is from here."""
        return token.startswith(self._id)

    def fail(self, code: str) -> None:
        """Count a call that ends with an error; `code`: its short name."""
        self.failed += 1
        self.limited += code in LIMITS

    def stop(self) -> None:
        """Let no answer be under way any more: the run ends."""
        for errand in [*self.errands]:
            errand.drop("shutdown", "the tap stopped")

    def passed(self, round_: Hashable, call: Hashable, t: float) -> None:
        """Remember whose round a client was given, which answers that itself.

        Args:
            round_: what its own retry will be known by.
            call: the round's.
            t: when.
        """
        calls = self._passed.get(round_) or deque(maxlen=_MOST_ALIKE)
        calls.append(call)
        self._passed.put(round_, calls, t)

    def resumed(self, round_: Hashable) -> Hashable:
        """Find the call that a client's own retry goes on with; each but once.

        Servers may give many calls the same state.
        """
        calls = self._passed.get(round_)
        return calls.pop() if calls else None


__all__ = ["LONGEST", "MAX_ROUNDS", "Answered", "Answering", "Decided", "Person", "Unmatched"]
