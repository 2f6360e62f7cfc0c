"""A recorded server: takes requests, finds what to answer, plays it.

It knows no socket and no clock; the faces for HTTP and stdio bring theirs along.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from mcp_tap.core import spec
from mcp_tap.core.records import HttpResponse, Message
from mcp_tap.core.values import id_key
from mcp_tap.core.wire import UNPARSED, dumps, whole_value
from mcp_tap.errors import CaptureError
from mcp_tap.replay.index import Index
from mcp_tap.replay.keys import key_of, params_of, target_of
from mcp_tap.replay.recorded import RecordedExchange
from mcp_tap.replay.server.caller import Caller
from mcp_tap.replay.server.matching import AfterLast, Book, Exhausted, Given, Node
from mcp_tap.replay.server.misses import Miss, Misses, error_of
from mcp_tap.replay.server.outlets import Outlet, say
from mcp_tap.replay.server.play import Clock, Play, served
from mcp_tap.replay.server.pushed import Branches
from mcp_tap.replay.server.scripts import Script, Scripts
from mcp_tap.replay.server.sessions import Session
from mcp_tap.replay.server.states import Refused, Served, States
from mcp_tap.replay.server.steps import Step
from mcp_tap.replay.server.tasks import Tasks, renamed
from mcp_tap.replay.server.visits import Turns, Visits
from mcp_tap.replay.splicing import ID, STATE, Tokens, answering

OnMiss: TypeAlias = Literal["error", "nearest", "404", "forward"]
JSON: Final = [("Content-Type", "application/json")]
MARK: Final = "Mcp-Tap-Error"
_MOST_SESSIONS: Final = 10_000


class Request(Struct, frozen=True, kw_only=True):
    """A request as a face got it."""

    verb: str = "POST"
    path: str = "/"
    session: str | None = None
    last_event: str | None = None
    body: bytes = b""


class Forward(Exception):
    """A request that shall go to a real server."""


class Player:
    """Serves what an index holds."""

    def __init__(
        self,
        index: Index,
        clock: Clock,
        *,
        after_last: AfterLast = "repeat",
        on_miss: OnMiss = "error",
        lines: bool = False,
        report: Callable[[Miss], None],
    ) -> None:
        """Get ready.

        Args:
            index: what was recorded.
            clock: when steps are due.
            after_last: what an equal call gets when all recorded ones were served.
            on_miss: what a request gets that was not recorded.
            lines: its client speaks over stdio: there is one session, and no head to answer with.
            report: told of each miss.
        """
        self._index = index
        self._lines = lines
        self._clock = clock
        self._on_miss = on_miss
        self._report = report
        self._book = Book(index, after_last)
        self._states = States(self._book)
        self._scripts = Scripts(index, lines=lines)
        self._misses = Misses(index, self._book, lines=lines)
        self._tasks = Tasks(index, self._book, self._misses)
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._anonymous = Session(id=None)
        self._turns = Turns(index)
        self._visits = Visits(index, self._scripts, self._turns, clock)
        self._branches = Branches(index, self._book, self._scripts, self._misses, report)

    def take(self, request: Request, outlet: Outlet) -> Play | None:
        """Answer a request; give what is being played, for whoever may have to drop it.

        Raises:
            Forward: it was not recorded, and shall go to a real server.
        """
        session = self._session(request)
        if session is None:
            if self._on_miss == "forward":
                raise Forward  # it may be one of the real server's
            say(outlet, 404, "Not Found", _error(None, -32001, "session not found"))
            return None
        if request.verb == "POST":
            return self._post(request, session, outlet)
        if request.verb == "GET":
            return self._visits.get(request.path, request.last_event, session, outlet)
        if request.verb == "DELETE" and session.id is not None:
            self._sessions.pop(session.id, None)
            session.end()
        return self._visits.other(request.verb, request.path, outlet, session)

    def _session(self, request: Request) -> Session | None:
        if request.session is None:
            return self._anonymous
        return self._sessions.get(request.session)

    # what clients send

    def _post(self, request: Request, session: Session, outlet: Outlet) -> Play | None:
        value = whole_value(request.body)
        if type(value) is not dict:
            words = "no JSON" if value is UNPARSED else "no JSON-RPC message"
            say(outlet, 400, "Bad Request", _error(None, -32700, f"the body is {words}"))
            return None
        method = value.get("method")
        if type(method) is str:
            if "id" not in value:
                return self._notified(value, method, session, outlet)
            try:
                return self._called(value, method, session, outlet)
            except Miss as miss:
                return self._missed(miss, value, session, outlet)
            except CaptureError as error:  # the file is not what it was
                return self._missed(Miss(error), value, session, outlet)
        session.answered(value)
        return self._accepted("response", "", session, outlet)

    def _notified(
        self, value: dict[str, Any], method: str, session: Session, outlet: Outlet
    ) -> Play | None:
        if method == spec.NOTE_CANCELLED:
            cancel = session.cancels.pop(id_key(params_of(value).get("requestId")), None)
            if cancel is not None:
                cancel()
        return self._accepted("notification", method, session, outlet)

    def _accepted(self, kind: str, method: str, session: Session, outlet: Outlet) -> Play | None:
        """Answer what wants no answer as it was recorded, else as every server does."""
        exchange = self._turns.next((kind, method), session)
        script = None if exchange is None else self._scripts.of(exchange)
        if script is None or (self._lines and not script.steps):
            say(outlet, 202, "Accepted")
            return None
        aside = any(step.aside for step in script.steps)
        within = session if aside else None
        play = Play(script, outlet, None, self._clock, session=within, events=session.events)
        play.advance()
        return play

    def _called(
        self, value: dict[str, Any], method: str, session: Session, outlet: Outlet
    ) -> Play | None:
        value, tasks = self._tasks.meant(value)
        params, target = params_of(value), target_of(value)
        answers = params.get("inputResponses")
        given = Given(key_of(value), value, (method, target), answers, tasks)
        about = self._tasks.find(given)
        if about is not None:
            task, exchange = about
            return self._play(
                self._script(exchange, given, None),
                given,
                task.first,
                session,
                outlet,
                delivered=lambda step: renamed(task, step.value.get("result")),
            )
        if given.answers or params.get("requestState") is not None:
            known = self._retry(given, outlet)
            if known is None:
                return None
            path, before, token = known
        else:
            path, before, token = (self._first(given, session),), None, None
        node = path[-1]
        if before is None and node.exchange.plain and self._clock.pace is None:
            self._answer(node.exchange, value, outlet)
            return None
        script = self._script(node.exchange, given, node)
        if method == spec.INITIALIZE:
            session = self._opened(node, session)

        def delivered(step: Step) -> Tokens:
            return self._delivered(step, path, given, before, token)

        return self._play(script, given, node, session, outlet, delivered=delivered)

    def _script(self, exchange: RecordedExchange, given: Given, node: Node | None) -> Script:
        script = self._scripts.of(exchange)
        if script.cut:
            raise self._misses.cut(given, node)
        return script

    def _answer(self, exchange: RecordedExchange, value: dict[str, Any], outlet: Outlet) -> None:
        """Answer with what has nothing to it but a result: most calls of most captures have not."""
        source = self._index.captures[exchange.capture].source
        head, message = source.again(exchange.seqs[2:4])
        assert isinstance(head, HttpResponse)
        assert isinstance(message, Message)
        outlet.head(head.status, head.reason, served(tuple(head.headers), None))
        outlet.message(answering(message.payload(), {ID: dumps(value["id"])}), message.sse)
        outlet.end()

    def _play(
        self,
        script: Script,
        given: Given,
        node: Node,
        session: Session,
        outlet: Outlet,
        *,
        delivered: Callable[[Step], Tokens],
    ) -> Play:
        """Play what a request gets."""
        caller = Caller.of(given.value, given.tasks)
        era = script.exchange.era
        play = Play(
            script,
            outlet,
            caller,
            self._clock,
            session=session if era == "session" or script.waits else None,
            events=session.events if era == "session" else None,
            delivered=delivered,
            branch=lambda play, response: self._branches.of(play, node, response),
        )
        if caller.id is not None and (session.id is not None or script.waits):
            session.began(id_key(given.value.get("id")), play.cancelled)
            session.numbered(script.exchange.number, caller.id)
        play.advance()
        return play

    def _first(self, given: Given, session: Session) -> Node:
        try:
            node = self._book.first(given, session.recorded)
        except Exhausted:
            raise self._misses.exhausted(given) from None
        if node is None:
            raise self._misses.call(given)
        return node

    def _retry(
        self, given: Given, outlet: Outlet
    ) -> tuple[tuple[Node, ...], Served | None, str | None] | None:
        """Find what a retry gets; refuse it, where a server would."""
        try:
            found = self._states.find(given)
        except Exhausted:
            raise self._misses.exhausted(given) from None
        except Refused as refusal:
            if self._on_miss == "forward" and not self._states.gave(given):
                raise Forward from None
            data = _error(given.value.get("id"), spec.INVALID_PARAMS, str(refusal))
            say(outlet, 400, "Bad Request", data)
            return None
        if found is None:
            raise self._misses.answers(given, self._states.near(given))
        return found

    def _delivered(
        self,
        step: Step,
        path: tuple[Node, ...],
        given: Given,
        before: Served | None,
        token: str | None,
    ) -> Tokens:
        """Take note of a response that is about to be sent; give what is this client's own."""
        result = step.value.get("result")
        known = result if type(result) is dict else {}
        if known.get("resultType") != spec.INPUT_REQUIRED or path[-1].exchange.era == "session":
            if before is not None and result is not None:
                self._states.complete(path, given, before)
            return self._tasks.made(path, known)
        requests, state = known.get("inputRequests"), known.get("requestState")
        issued = self._states.issue(
            path,
            given,
            frozenset(requests) if type(requests) is dict else frozenset(),
            state=state,
            before=before,
            token=token,
        )
        return {} if issued is None or issued == state else {STATE: dumps(issued)}

    # the session era

    def _is_ours(self, value: dict[str, Any], session: Session) -> bool:
        """Tell whether a request goes on with what no real server knows: our state, our session."""
        given = Given(None, value, (None, None))
        return session.id is not None or self._states.gave(given)

    def _opened(self, node: Node, session: Session) -> Session:
        """Begin a session, as the one that was recorded."""
        exchange = node.exchange
        if self._lines or exchange.era != "session":
            session.recorded, session.capture = exchange.session, exchange.capture
            return session
        if exchange.verb and exchange.session is None:
            return session
        new = Session(id=secrets.token_hex(16), recorded=exchange.session, capture=exchange.capture)
        assert new.id is not None
        self._sessions[new.id] = new
        if len(self._sessions) > _MOST_SESSIONS:
            self._sessions.popitem(last=False)[1].end()
        return new

    # what was not recorded

    def _missed(
        self, miss: Miss, value: dict[str, Any], session: Session, outlet: Outlet
    ) -> Play | None:
        if self._on_miss == "forward" and not self._is_ours(value, session):
            raise Forward
        if self._on_miss == "nearest" and miss.nearest is not None:
            node = miss.nearest
            script = self._scripts.of(node.exchange)
            if not (script.ends or script.size):
                miss = self._misses.unanswered(miss)
            elif not script.cut:
                self._report(miss)
                given = Given(key_of(value), value, (node.call.method, node.call.target))
                own = partial(self._delivered, path=(node,), given=given, before=None, token=None)
                return self._play(script, given, node, session, outlet, delivered=own)
        self._report(miss)
        status, reason = (404, "Not Found") if self._on_miss == "404" else (200, "OK")
        outlet.head(status, reason, [*JSON, (MARK, miss.error.code)])
        outlet.message(error_of(miss, value.get("id")), None)
        outlet.end()
        return None


def _error(request_id: Any, code: int, words: str) -> bytes:
    return dumps({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": words}})
