"""Which requests gave which progress token, and the values reported for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

from mcp_tap.core.bounded import Recent
from mcp_tap.core.facts.flow import MODERN
from mcp_tap.core.facts.topic import Topic
from mcp_tap.core.spec import NOTE_PROGRESS
from mcp_tap.core.values import SHORT, short

if TYPE_CHECKING:
    from mcp_tap.core.facts.flow import Flow
    from mcp_tap.core.facts.message import Message
    from mcp_tap.core.model import Exchange

MOST_TOKENS: Final = 1024
"""Tokens remembered at most, and half as many at least."""
MOST_USERS: Final = 8
"""Requests remembered of one token."""

Token: TypeAlias = str | bytes | int
"""A progress token as a dictionary key; 1 and "1" are two."""


def token_key(value: Any) -> Token | None:
    """Make a key of a progress token; None for what can be none."""
    if type(value) is int:
        return value
    if type(value) is str:
        return value if len(value) <= SHORT else short(value)
    if type(value) is float and value.is_integer():
        return int(value)
    return None


def is_over(exchange: Exchange) -> bool:
    """Tell whether the request of an exchange is answered, or will never be."""
    return exchange.answered or exchange.how is not None


class Progress(Topic):
    """Progress tokens of one client."""

    wants: ClassVar = ("request", f"server_notification {NOTE_PROGRESS}", "closed")

    def __init__(self) -> None:
        """Begin with no token."""
        self._users: Recent[Token, tuple[Exchange, ...]] = Recent(MOST_TOKENS)
        self.odd = False
        """A request gave what can be no token."""
        self._highest = -1
        """Of the tokens that are numbers; mostly they count up, and so are new without a look."""

    def note(self, message: Message) -> None:
        """Take note of a request's token, or of a value that was reported."""
        if message.event != "request":
            self._reported(message)
            return
        given = message.meta.get("progressToken")
        if given is None:
            return
        if type(given) is int and given > self._highest:
            self._highest = message.flow.token = given
            self._users.put(given, (message.flow.exchange,))
            return
        token = token_key(given)
        if token is None:
            self.odd = True
            return
        users: tuple[Exchange, ...] = (message.flow.exchange,)
        before = self._users.get(token)
        if before is not None:
            users = (*before, *users)[-MOST_USERS:]
        self._users.put(token, users)
        message.flow.token = token
        if type(token) is int and token > self._highest:
            self._highest = token

    def closed(self, flow: Flow) -> None:
        """Forget a token that was one request's alone: progress cannot come any more.

        In a session it can, on another stream; over stdio no exchange is closed.
        """
        token = flow.token
        if token is not None and flow.band == MODERN:
            users = self._users.get(token)
            if users is not None and len(users) == 1 and users[0] is flow.exchange:
                self._users.pop(token)

    def is_new(self, given: Any) -> bool:
        """Tell whether a token is such that no request can have given it before."""
        return type(given) is int and given > self._highest

    def _reported(self, message: Message) -> None:
        params = message.params
        token, value = token_key(params.get("progressToken")), params.get("progress")
        if token is None or type(value) not in {int, float}:
            return
        values = message.flow.memo.setdefault("progress", {})
        if len(values) < MOST_TOKENS or token in values:
            values[token] = (self._newest(token), value)

    def last(self, message: Message, token: Token) -> float | None:
        """Give the value reported before in the same exchange for the same request."""
        values = message.flow.memo.get("progress")
        if values is None or token not in values:
            return None
        user, value = values[token]
        return value if user is self._newest(token) else None

    def active(self, token: Token) -> list[Exchange]:
        """Give the exchanges of unanswered requests that gave a token."""
        users = self._users.get(token)
        return [] if users is None else [user for user in users if not is_over(user)]

    def answered(self, token: Token) -> Exchange | None:
        """Give the newest answered request of a token that no unanswered one has given."""
        users = self._users.get(token) or ()
        if any(not is_over(user) for user in users):
            return None
        return next((user for user in reversed(users) if user.answered), None)

    def _newest(self, token: Token) -> Exchange | None:
        users = self._users.get(token)
        return users[-1] if users else None
