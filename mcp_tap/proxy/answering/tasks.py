"""Tasks as far as answering needs them: their state, what it asks, what answers it.

No socket, no clock, and nothing of a transport: what is told here comes with its time.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from mcp_tap.answers.book import Given
from mcp_tap.answers.question import Question, questions
from mcp_tap.core import spec
from mcp_tap.core.bounded import Bounded
from mcp_tap.core.model import AskKind
from mcp_tap.core.splice import SpliceError, find, put, spliced
from mcp_tap.core.values import short, text_of
from mcp_tap.core.wire import dumps, loads
from mcp_tap.proxy.answering.asked import Asked, may_ask
from mcp_tap.proxy.answering.deciding import decide
from mcp_tap.proxy.answering.request import Watched
from mcp_tap.proxy.answering.verdicts import Fail, Pass, Round, Send

if TYPE_CHECKING:
    from mcp_tap.proxy.answering.answering import Answering

MOST_TASKS: Final = 10_000
LONGEST_TASK: Final = 24 * 3600.0
LONGEST_WAIT: Final = 20.0
"""Seconds a poll is held after the last answer, while the server says nothing new."""
PACE_MOST: Final = 5.0
"""Seconds between two polls at most, whatever pace the server asks for."""
_PAUSE_FIRST: Final = 0.05
_PAUSE_MOST: Final = 1.0


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

    @property
    def own_call(self) -> Hashable:
        """What tells the call from others, also where it was not seen."""
        if self.call is None:
            self.call = "task", self.id
        return self.call


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


class Pauses:
    """How long a poll waits for the next one."""

    def __init__(self) -> None:
        """Begin with short ones."""
        self._next = _PAUSE_FIRST

    def after(self, asked: Asked) -> float:
        """Give the seconds that follow on a state."""
        pace = asked.pace if isinstance(asked, TaskAsked) else None
        delay = self._next if pace is None else min(pace, PACE_MOST)
        self._next = min(_PAUSE_MOST, self._next * 2)
        return delay


def fresh(
    answering: Answering, task: Task, asked: Asked, declared: frozenset[AskKind]
) -> list[Question]:
    """Give what is asked for the first time, as a round of the task's call.

    Args:
        answering: what all calls of the run share.
        task: that asks.
        asked: its state.
        declared: kinds the client can answer.
    """
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
        server=answering.server_name,
        call=task.own_call,
        round=task.rounds,
        declared=declared,
    )


def polled(
    answering: Answering, task: Task, asked: Asked, declared: frozenset[AskKind], waited: float
) -> Round:
    """Decide about what a poll shows that was not answered yet.

    Args:
        answering: what all calls of the run share.
        task: that is polled.
        asked: its state.
        declared: kinds the client can answer.
        waited: seconds since it was answered last.
    """
    asks = fresh(answering, task, asked, declared)
    if asks:
        return Round(asked=asked, asks=asks, verdict=decide(answering, asks))
    if task.passed.intersection(asked.requests):
        return Round(asked=asked, asks=asks, verdict=Pass("the client answers it"))
    if not asked.requests:
        return Round(asked=asked, asks=asks, verdict=Pass("it asks for nothing"))
    if task.asking or waited < LONGEST_WAIT:
        return Round(asked=asked, asks=asks, verdict=Send({}))
    why = f"the server still asks what was answered {LONGEST_WAIT:g} s ago"
    return Round(asked=asked, asks=asks, verdict=Fail("answer-not-taken", why))


def update(task: Task, answers: dict[str, Given], token: bytes, request: bytes) -> bytes:
    """Write what brings answers to a task; they count as given from then on.

    Args:
        task: that asks.
        answers: by key.
        token: of its id.
        request: whose `_meta` it has.

    Raises:
        ValueError: an answer is no text.
    """
    params = [
        b'"taskId":' + dumps(task.id),
        b'"inputResponses":' + dumps({key: given.answer for key, given in answers.items()}),
        *_meta(request),
    ]
    task.answered |= set(answers)
    return b'{"jsonrpc":"2.0","id":%b,"method":"%b","params":{%b}}' % (
        token,
        spec.TASKS_UPDATE.encode(),
        b",".join(params),
    )


def refused(message: bytes | None, why: str | None = None) -> str | None:
    """Say why a server did not take answers; None where it did.

    Args:
        message: its response; None where there is none.
        why: there is none.
    """
    words = "the server did not take the answers to its task"
    if message is None:
        return f"{words}: {why or 'it said nothing'}"
    try:
        error = loads(message).get("error")
    except ValueError:
        return f"{words}: what it said is no JSON"
    if error is None:
        return None
    said = error.get("message") if type(error) is dict else None
    return f"{words}: {text_of(said if said is not None else error)[:200]}"


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


def _value(raw: Raw | UnsetType) -> Any:
    return None if raw is UNSET else loads(bytes(raw))
