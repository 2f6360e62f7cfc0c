"""Asks of the era to 2025-11-25 on lines: requests of the server, answered by a line.

As on HTTP, the script comes first, whatever the client declared; what the tap deals with, the
client does not see.  The process is one session, so an ask counts as one of the only call that is
under way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from mcp_tap.core.spec import MAY_ASK
from mcp_tap.core.splice import SpliceError, find
from mcp_tap.core.values import id_key, text_of
from mcp_tap.core.wire import dumps, loads
from mcp_tap.proxy.answering.asked import Asked
from mcp_tap.proxy.answering.deciding import decide
from mcp_tap.proxy.answering.rounds import steps
from mcp_tap.proxy.answering.session import (
    Called,
    Session,
    begun,
    edited,
    pushed_ask,
    refusal,
    server_name,
)
from mcp_tap.proxy.answering.verdicts import Fail, Pass, Round, Send, Told, told
from mcp_tap.proxy.stdio.answering.board import Board
from mcp_tap.proxy.stdio.steps import Decided, Seen, ToClient, ToServer

if TYPE_CHECKING:
    from mcp_tap.proxy.stdio.steps import Step

_NO_RESULT: Final = Asked(requests={}, state=None, server=None)
_KEY: Final = "stdio"


class LineSession:
    """The session of a process."""

    def __init__(self, board: Board) -> None:
        """Begin with one whose beginning was not seen."""
        self._board = board
        self._session = Session(key=_KEY)

    def begin(self, line: bytes) -> Sequence[Step] | None:
        """Take an `initialize`; None where it is none."""
        answering = self._board.answering
        request = edited(line, answering.advertised)
        if request is None:
            return None
        self._session = begun(request, answering.advertised)
        self._session.key = _KEY
        self._board.wait(request.id, SessionCall(self, Called(self._board.number(), line)))
        if not request.edited:
            return [ToServer(line)]
        seen = Seen(line, "client")
        return [seen, ToServer(request.body, "tap", replaces=seen)]

    def call(self, line: bytes, token: bytes) -> None:
        """Take note of any other request."""
        called = Called(self._board.number(), line)
        self._board.wait(token, SessionCall(self, called))
        self._session.begin(called)

    @property
    def busy(self) -> bool:
        """A call is under way for which the server may ask."""
        requests = [called.request for called in self._session.calls.values()]
        return any(each is not None and each.method in MAY_ASK for each in requests)

    def cancelled(self, line: bytes) -> None:
        """Take note of what the client takes back."""
        self._session.cancelled(line)

    def answered(self, called: Called, line: bytes | None) -> None:
        """Take note of a response; None where nobody could read it."""
        self._session.calls.pop(called.number, None)
        self._board.answering.book.forget(called.number)
        if line is not None and b"serverInfo" in line:
            name = server_name(_read(line))
            if name is not None:
                self._session.server = self._board.answering.server = name

    def asked(self, line: bytes, t: float) -> Sequence[Step]:
        """Take a request of the server that asks."""
        message = _read(line)
        try:
            at = find(line, "id")
        except SpliceError:
            at = None
        if at is None or type(message.get("id")) not in {str, int, float}:
            why = "it names a member twice" if message else "it cannot be read for certain"
            return [ToClient(line), Decided(Told("not-examined", why))]
        answering, session = self._board.answering, self._session
        key = text_of(message["id"])
        server = answering.label or session.server or answering.server_name
        ask = pushed_ask(session, session.only(), key, message, server)
        if self._board.closed:
            return [Seen(line, "server")]
        verdict = decide(answering, [ask])
        said = [
            Decided(facts) for facts in told(Round(asked=_NO_RESULT, asks=[ask], verdict=verdict))
        ]
        mark = id_key(message["id"])
        if isinstance(verdict, Pass):
            session.asks.put(mark, "passed", t)
            return [ToClient(line), *said]
        session.asks.put(mark, "taken", t)
        token = line[at.start : at.end]
        if isinstance(verdict, Send):
            answering.answered += 1
            given = verdict.answers[key]
            secrets = tuple(("result", *steps(at)) for at in given.secrets)
            answer = _response(token, b"result", dumps(given.answer))
            return [Seen(line, "server"), *said, ToServer(answer, "tap", secrets=secrets)]
        assert isinstance(verdict, Fail)  # over stdio there is nobody to ask
        answering.fail(verdict.code)
        answer = _response(token, b"error", dumps(refusal(session, ask, verdict)))
        return [Seen(line, "server"), *said, ToServer(answer, "tap")]

    def withdrawn(self, line: bytes) -> Sequence[Step]:
        """Take the server's word that it does not want an answer any more."""
        params = _read(line).get("params")
        number = params.get("requestId") if type(params) is dict else None
        if number is None or self._session.asks.get(id_key(number)) != "taken":
            return [ToClient(line)]
        why = "the server does not want it any more"
        return [Seen(line, "server"), Decided(Told("withdrawn", why, None, text_of(number)))]


class SessionCall:
    """A request of the client in a session, while its response is waited for."""

    def __init__(self, session: LineSession, called: Called) -> None:
        """Wait for the response to `called`."""
        self._session = session
        self._called = called

    def came(self, line: bytes, t: float) -> Sequence[Step]:
        """Take the response, which passes."""
        del t
        self._session.answered(self._called, line)
        return [ToClient(line)]

    def unread(self, code: str, why: str, t: float) -> Sequence[Step]:
        """Take note that it came, and nobody could read it."""
        del code, why, t
        self._session.answered(self._called, None)
        return []


def _response(token: bytes, member: bytes, value: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":%b,"%b":%b}\n' % (token, member, value)


def _read(line: bytes) -> dict[str, Any]:
    """Read a message; empty for what is none."""
    try:
        value = loads(line)
    except ValueError:
        return {}
    return value if type(value) is dict else {}
