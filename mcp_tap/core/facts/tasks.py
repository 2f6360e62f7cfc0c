"""Tasks (extension io.modelcontextprotocol/tasks): their states, asks and answers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Final

from mcp_tap.core import spec
from mcp_tap.core.bounded import Bounded
from mcp_tap.core.facts.ask import Ask, asks_in
from mcp_tap.core.facts.held import size_of
from mcp_tap.core.facts.message import NONE
from mcp_tap.core.facts.topic import Topic
from mcp_tap.core.values import SHORT, digest, short

if TYPE_CHECKING:
    from mcp_tap.core.facts.message import Message

MOST_TASKS: Final = 1024
LONGEST_TASK: Final = 24 * 3600.0
MOST_KEYS: Final = 500
"""Questions remembered of one task."""
_QUESTION: Final = 100
"""Bytes one of them weighs."""


class Question:
    """What a task asked under one key."""

    __slots__ = ("answered", "digest", "gone")

    def __init__(self, digest: bytes | None) -> None:
        """Remember one by the digest of its request."""
        self.digest = digest
        self.answered: float | None = None
        """When the answer to it was acknowledged."""
        self.gone = False
        """After that it was not among the questions of a state."""


class Task:
    """What has been seen of one task."""

    __slots__ = (
        "__weakref__",
        "asks",
        "cancelling",
        "complete",
        "created",
        "credential",
        "questions",
        "status",
        "status_at",
        "status_in",
        "ttl",
        "unheard",
        "updated",
    )

    def __init__(self) -> None:
        """Begin with nothing seen."""
        self.created: float | None = None
        """When the result that made it came; None where that was not seen."""
        self.credential: tuple[str | None, str | None] = (None, None)
        """Of who made it."""
        self.ttl: float | None = None
        """Seconds it is kept from its creation; None for ever."""
        self.status: str | None = None
        """The newest; once it is terminal, that."""
        self.status_at = 0.0
        self.status_in = 0
        """Exchange that showed it."""
        self.updated: datetime | None = None
        """`lastUpdatedAt` of it."""
        self.cancelling = False
        """Its client asked to cancel it."""
        self.questions: dict[str | bytes, Question] = {}
        self.complete = True
        """No question was forgotten."""
        self.unheard = 0
        """Polls whose answer was not seen."""
        self.asks: dict[str, Ask] = {}

    @property
    def ended(self) -> bool:
        """Its status is a terminal one."""
        return self.status in spec.TERMINAL

    def let_go(self) -> None:
        """Forget what it asked."""
        self.asks, self.questions, self.complete = {}, {}, False

    def is_old(self, message: Message, state: dict[str, Any]) -> bool:
        """Tell whether a state may have been true before the one that is known."""
        if message.event == "result":
            asked = message.request
            if asked is None or asked.t <= self.status_at:
                return True
        elif message.flow.exchange.number != self.status_in and message.t - self.status_at < 1.0:
            return True
        updated = moment(state.get("lastUpdatedAt"))
        return updated is not None and self.updated is not None and updated < self.updated


class Tasks(Topic):
    """Tasks of one client."""

    wants: ClassVar = (
        "result tools/call",
        f"request {spec.TASKS_GET}",
        f"result {spec.TASKS_GET}",
        f"error {spec.TASKS_GET}",
        f"result {spec.TASKS_UPDATE}",
        f"request {spec.TASKS_CANCEL}",
        f"server_notification {spec.NOTE_TASK}",
    )
    steady: ClassVar = ("result tools/call",)

    def __init__(self) -> None:
        """Begin with none."""
        self._tasks: Bounded[str | bytes, Task] = Bounded(MOST_TASKS, LONGEST_TASK)

    def get(self, task_id: object) -> Task | None:
        """Find a task by its id; None for one nobody has seen."""
        return self._tasks.get(short(task_id)) if type(task_id) is str else None

    def asked(self, task_id: object) -> dict[str, Ask]:
        """Give the unanswered asks of a task, by key; empty for a task nobody knows."""
        task = self.get(task_id)
        return {} if task is None else task.asks

    def note(self, message: Message) -> None:
        """Take note of a task's creation, its states, and what its client does about it."""
        event, method = message.event, message.method
        if event == "server_notification":
            self._state(message, message.params, "/params/inputRequests")
        elif event == "request":
            self._request(message)
        elif method == "tools/call":
            result = message.result
            if result is not None and result.get("resultType") == "task" and message.flow.modern:
                self._create(message, result)
        elif method == spec.TASKS_UPDATE:
            self._answered(message)
        else:
            asked = message.request
            task = None if asked is None else self.get(asked.params.get("taskId"))
            if task is not None:
                task.unheard -= 1
            if event == "result" and message.result is not None:
                self._state(message, message.result, "/result/inputRequests")

    def _request(self, message: Message) -> None:
        task = self.get(message.params.get("taskId"))
        if task is None:
            return
        if message.method == spec.TASKS_CANCEL:
            task.cancelling = True
        else:
            task.unheard += 1

    def _create(self, message: Message, result: dict[str, Any]) -> None:
        task_id = result.get("taskId")
        if type(task_id) is not str:
            return
        task = Task()
        task.created = message.t
        task.credential = message.flow.credential, message.flow.principal
        self._tasks.put(short(task_id), task, message.t)
        self._state(message, result, "/result/inputRequests")

    def _state(self, message: Message, state: dict[str, Any], path: str) -> None:
        task_id, status = state.get("taskId"), state.get("status")
        if type(task_id) is not str or type(status) is not str or not message.flow.modern:
            return
        task = self.get(task_id)
        if task is None:
            task = Task()
            self._tasks.put(short(task_id), task, message.t)
        ttl = state.get("ttlMs")
        task.ttl = ttl / 1000 if isinstance(ttl, int | float) else None
        requests = state.get("inputRequests")
        self._ask(task, message, requests if type(requests) is dict else NONE, path)
        if task.ended:
            return
        task.status, task.status_at = status[:SHORT], message.t
        task.status_in = message.flow.exchange.number
        task.updated = moment(state.get("lastUpdatedAt"))
        if status in spec.TERMINAL:
            task.asks = {}
            message.flow.seen.run.held.free(task)

    def _ask(self, task: Task, message: Message, requests: dict[str, Any], path: str) -> None:
        known = task.questions
        listed: set[str | bytes] = set()
        for key, asked in digests(requests):
            listed.add(key)
            question = known.get(key)
            if question is not None and question.digest == asked:
                continue
            if question is None and len(known) >= MOST_KEYS:
                task.complete = False
                continue
            known[key] = Question(asked)
        task.complete = task.complete and len(requests) <= MOST_KEYS
        looked = message.request.t if message.request is not None else message.t
        for key, question in known.items():
            if question.answered is not None and key not in listed and looked > question.answered:
                question.gone = True
        if requests:
            asks = asks_in(message, requests, "task", path)[:MOST_KEYS]
            task.asks = {a.key: a for a in asks if not _is_answered(known.get(short(a.key)))}
            weight = size_of(message) + _QUESTION * len(known)
            message.flow.seen.run.held.hold(task, weight)

    def _answered(self, message: Message) -> None:
        asked = message.request
        if asked is None or message.result is None:
            return
        task, answers = self.get(asked.params.get("taskId")), asked.params.get("inputResponses")
        if task is None or type(answers) is not dict:
            return
        for key in [k for k in task.asks if k in answers]:
            del task.asks[key]
        for key in answers:
            question = task.questions.get(short(key))
            if question is not None and question.answered is None:
                question.answered = message.t


def digests(requests: dict[str, Any]) -> Iterator[tuple[str | bytes, bytes | None]]:
    """Give the first questions of a state: a key for each, and the digest of what it asks."""
    for index, (key, entry) in enumerate(requests.items()):
        if index >= MOST_KEYS:
            return
        yield short(key), _digest(entry)


def moment(value: Any) -> datetime | None:
    """Read a timestamp; None where that cannot be done."""
    if type(value) is not str or len(value) > 64:
        return None
    try:
        read = datetime.fromisoformat(value)
    except ValueError:
        return None
    return read if read.tzinfo is not None else read.replace(tzinfo=UTC)


def _is_answered(question: Question | None) -> bool:
    return question is not None and question.answered is not None


def _digest(entry: Any) -> bytes | None:
    """Sum up a question; the address of a page may be made anew for each poll."""
    if type(entry) is dict:
        params = entry.get("params")
        if type(params) is dict and params.get("mode") == "url":
            entry = {**entry, "params": {k: v for k, v in params.items() if k != "url"}}
    return digest(entry)
