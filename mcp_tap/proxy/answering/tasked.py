"""Asks of tasks: they come with a task's state, and `tasks/update` answers them (SEP-2663).

Rules of this file:

- The client's poll is held until the tap has answered and the server says something new; the client
  gets the newest state as the server gave it, with its own id.  Nothing is made up for it.
- Each key of a task is answered once, however often the server repeats it.
- A server may take its time over an answer.  For as long as a person would wait it is polled again,
  in the pace it asked for.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from mcp_tap.answers.book import Given
from mcp_tap.answers.question import Question, questions
from mcp_tap.core import spec
from mcp_tap.core.bounded import Bounded
from mcp_tap.core.splice import SpliceError, find, put, spliced
from mcp_tap.core.values import short, text_of
from mcp_tap.core.wire import dumps, loads
from mcp_tap.net.heads import RawHeaders
from mcp_tap.proxy.answering.asked import Asked, may_ask
from mcp_tap.proxy.answering.chain import Chain, steps
from mcp_tap.proxy.answering.deciding import decide
from mcp_tap.proxy.answering.errand import Errand, Outcome, errand_head
from mcp_tap.proxy.answering.repeat import Repeat
from mcp_tap.proxy.answering.request import Watched
from mcp_tap.proxy.answering.verdicts import Ask, Fail, Pass, Round, Send

if TYPE_CHECKING:
    from mcp_tap.proxy.answering.eras import EitherExchange
    from mcp_tap.proxy.tape import Tape

MOST_TASKS: Final = 10_000
LONGEST_TASK: Final = 24 * 3600.0
LONGEST_WAIT: Final = 20.0
"""Seconds a poll is held after the last answer, while the server says nothing new."""
_PAUSE_FIRST: Final = 0.05
_PAUSE_MOST: Final = 1.0
_PACE_MOST: Final = 5.0
"""Seconds between two polls at most, whatever pace the server asks for."""


class _State(Struct):
    taskId: Raw | UnsetType = UNSET  # noqa: N815 - the word of the protocol
    status: Raw | UnsetType = UNSET
    inputRequests: Raw | UnsetType = UNSET  # noqa: N815 - likewise
    pollIntervalMs: Raw | UnsetType = UNSET  # noqa: N815 - likewise
    resultType: Raw | UnsetType = UNSET  # noqa: N815 - likewise


class _Message(Struct):
    result: _State | UnsetType = UNSET
    params: _State | UnsetType = UNSET
    method: Raw | UnsetType = UNSET


_decoder: Final = msgspec.json.Decoder(_Message)


class TaskAsked(Asked, frozen=True, kw_only=True):
    """The state of a task that waits for input."""

    task: str | None = None
    pace: float | None = None
    """Seconds the server wants between two polls."""


class Task(Struct, eq=False, kw_only=True):
    """A task, as far as answering needs it."""

    id: str
    call: Hashable = None
    """What tells the call that became a task from others; None where that was not seen."""
    request: Watched | None = None
    """Its request."""
    rounds: int = 0
    answered: set[str] = set()
    """Keys that have an answer."""
    asking: set[str] = set()
    """Keys of which a person is deciding."""
    passed: set[str] = set()
    """Keys that a client was shown, so that it answers them."""


class Tasks:
    """The tasks of a run."""

    def __init__(self) -> None:
        """Begin with none."""
        self._tasks: Bounded[str | bytes, Task] = Bounded(MOST_TASKS, LONGEST_TASK)

    def find(self, name: str, t: float) -> Task:
        """Give a task by its id."""
        self._tasks.expire(t)
        task = self._tasks.get(short(name)) or Task(id=name)
        self._tasks.put(short(name), task, t)
        return task

    def made(self, body: bytes, request: Watched, call: Hashable, t: float) -> None:
        """Take note of a task, where a response says that its request became one."""
        if b"taskId" not in body:
            return
        try:
            result = _decoder.decode(body).result
        except (ValueError, RecursionError):
            return
        if result is not UNSET and _value(result.resultType) == "task":
            name = _value(result.taskId)
            if type(name) is str:
                task = self.find(name, t)
                task.call, task.request = call, request


def read(body: bytes, *, notice: bool = False) -> TaskAsked | None:
    """Read a state that waits for input; None for any other message.

    Args:
        body: a response, or a notification.
        notice: the latter.
    """
    if not may_ask(body):
        return None
    try:
        message = _decoder.decode(body)
        if notice and (message.method is UNSET or loads(bytes(message.method)) != spec.NOTE_TASK):
            return None
        state = message.params if notice else message.result
        if state is UNSET or _value(state.status) != spec.INPUT_REQUIRED:
            return None
        requests = _value(state.inputRequests)
    except (ValueError, RecursionError):
        return None
    pace, name = _value(state.pollIntervalMs), _value(state.taskId)
    return TaskAsked(
        requests=requests if type(requests) is dict else {},
        state=None,
        server=None,
        task=name if type(name) is str else None,
        pace=pace / 1000 if type(pace) is int and pace >= 0 else None,
    )


class TaskChain(Chain):
    """Drives one poll of a task."""

    def __init__(self, exchange: EitherExchange, task: Task) -> None:
        """Begin with the client's poll, which has gone upstream."""
        super().__init__(exchange)
        self.task = task
        self._either = exchange
        self._passed = True  # the call goes on behind the poll
        self._errand: Errand | None = None
        self._asked_for: set[str] = set()
        """Keys of which a person decides for this poll."""
        self._answered_at = self._loop.time()
        self._pause_next = _PAUSE_FIRST
        if task.call is None:
            task.call = "task", task.id
        self.call = task.call  # type: ignore[assignment]

    def round(self, asked: Asked) -> Round:
        """Decide about what was not answered yet."""
        task = self.task
        asks = fresh(self._either, task, asked)
        if asks:
            return Round(asked=asked, asks=asks, verdict=decide(self.answering, asks))
        if task.passed.intersection(asked.requests):
            return Round(asked=asked, asks=asks, verdict=Pass("the client answers it"))
        if not asked.requests:
            return Round(asked=asked, asks=asks, verdict=Pass("it asks for nothing"))
        if task.asking or self._loop.time() - self._answered_at < LONGEST_WAIT:
            return Round(asked=asked, asks=asks, verdict=Send({}))
        why = f"the server still asks what was answered {LONGEST_WAIT:g} s ago"
        return Round(asked=asked, asks=asks, verdict=Fail("answer-not-taken", why))

    def tell(self, round_: Round, tape: Tape) -> None:
        """Record what was decided; that the server takes its time is no decision."""
        if round_.asks or not isinstance(round_.verdict, Send):
            super().tell(round_, tape)

    def act(self, round_: Round, tape: Tape, deliver: Callable[[], None] | None = None) -> None:
        """Do what was decided."""
        verdict, keys = round_.verdict, {ask.key for ask in round_.asks}
        if keys or not isinstance(verdict, Send):
            self.task.asking -= keys
            if isinstance(verdict, Ask):
                self.task.asking |= keys
                self._asked_for = keys
            elif isinstance(verdict, Pass):
                self.task.passed |= keys
            super().act(round_, tape, deliver)
            return
        self._stop_clock()
        self._left = self.answering.longest  # while the server talks, a person may still decide
        self._start_clock()
        pace = getattr(round_.asked, "pace", None)
        delay = self._pause_next if pace is None else min(pace, _PACE_MOST)
        self._pause_next = min(_PAUSE_MOST, self._pause_next * 2)
        self._pause = self._loop.call_later(delay, self._after_pause, round_)

    def _again(self, round_: Round, answers: dict[str, Given]) -> None:
        del round_
        if answers:
            self._errand = update(self._either, self.task, answers, self._updated)
        else:
            self._poll()

    def _updated(self, outcome: Outcome) -> None:
        self._errand = None
        self._answered_at, self._pause_next = self._loop.time(), _PAUSE_FIRST
        if self.over:
            return
        why = refusal(outcome)
        if why is None:
            self._poll()
        else:
            self.answering.fail("answer-not-taken")
            self.exchange.lost(502, "answer-not-taken", why)
        self.exchange.write_out()

    def _poll(self) -> None:
        token = self.answering.next_id()
        try:
            body = self.watched.again(token, None, None)
        except SpliceError as error:
            self.answering.fail("cannot-repeat")
            self.exchange.lost(502, "cannot-repeat", f"the poll cannot be repeated: {error}")
            return
        if self._repeat is not None:
            self._older.append(self._repeat)
        self._repeat = Repeat(self, self.exchange.head_for(body), body, token, ())

    def end(self) -> None:
        """Wait for nothing any more."""
        super().end()
        if self._asked_for:
            self.task.asking -= self._asked_for

    def _pending(self) -> bool:
        return self._errand is not None or super()._pending()


def fresh(exchange: EitherExchange, task: Task, asked: Asked) -> list[Question]:
    """Give what is asked for the first time, as a round of the task's call."""
    requests = {
        key: entry
        for key, entry in asked.requests.items()
        if key not in task.answered and key not in task.passed and key not in task.asking
    }
    if not requests:
        return []
    task.rounds += 1
    request = task.request
    return questions(
        requests,
        method=request.method if request is not None else None,
        name=request.name if request is not None else None,
        arguments=request.arguments() if request is not None else None,
        server=exchange.server_name,
        call=task.call,
        round=task.rounds,
        declared=exchange.watched.declared,
    )


def update(
    exchange: EitherExchange, task: Task, answers: dict[str, Given], done: Callable[[Outcome], None]
) -> Errand:
    """Send answers to a task's asks, with the header fields and the `_meta` of a request."""
    answering, keys = exchange.answering, set(answers)
    params = [
        b'"taskId":' + dumps(task.id),
        b'"inputResponses":' + dumps({key: given.answer for key, given in answers.items()}),
        *_meta(exchange.watched.body),
    ]
    body = b'{"jsonrpc":"2.0","id":%b,"method":"%b","params":{%b}}' % (
        answering.next_id(),
        spec.TASKS_UPDATE.encode(),
        b",".join(params),
    )
    named: RawHeaders = [(b"Mcp-Method", spec.TASKS_UPDATE.encode())]
    named.append((b"Mcp-Name", _header(task.id)))
    secrets = tuple(
        ("params", "inputResponses", key, *steps(at))
        for key, given in answers.items()
        for at in given.secrets
    )
    task.answered |= keys

    def ended(outcome: Outcome) -> None:
        if not outcome.sent:
            task.answered -= keys
        done(outcome)

    head = errand_head(exchange.tap, exchange.tape.head, len(body), named)
    tap, records, peer = exchange.tap, exchange.records, exchange.client.peer
    return Errand(tap, records, peer, head, body, ended, answering.errands, secrets)


def refusal(outcome: Outcome) -> str | None:
    """Say why a server did not take answers; None where it did."""
    message = "the server did not take the answers to its task"
    if not outcome.taken or outcome.message is None:
        return f"{message}: {outcome.why or 'it said nothing'}"
    try:
        error = loads(outcome.message).get("error")
    except ValueError:
        return f"{message}: what it said is no JSON"
    if error is None:
        return None
    words = error.get("message") if type(error) is dict else None
    return f"{message}: {text_of(words if words is not None else error)[:200]}"


def _meta(body: bytes) -> list[bytes]:
    """Give the `_meta` member of a request, without what is the request's alone."""
    try:
        span = find(body, "params", "_meta")
        if span is None:
            return []
        token = body[span.start : span.end]
        return [b'"_meta":' + spliced(token, put(token, {"progressToken": None}))]
    except SpliceError:
        return []


def _header(name: str) -> bytes:
    """Write a task's id as a header field, encoded where it could not be one (SEP-2243)."""
    plain = name.isascii() and name.isprintable() and name == name.strip() and bool(name)
    if plain and not (name.startswith("=?base64?") and name.endswith("?=")):
        return name.encode()
    return b"=?base64?" + b64encode(name.encode(errors="surrogatepass")) + b"?="


def _value(raw: Raw | UnsetType) -> Any:
    return None if raw is UNSET else loads(bytes(raw))
