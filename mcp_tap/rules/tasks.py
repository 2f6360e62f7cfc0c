"""Tasks (extension io.modelcontextprotocol/tasks): who may get one, and how it lives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from mcp_tap.core import spec
from mcp_tap.core.facts.message import is_masked
from mcp_tap.core.facts.tasks import MOST_KEYS, digests
from mcp_tap.core.linking.peek import named
from mcp_tap.core.records import pointer
from mcp_tap.core.text import brief, took
from mcp_tap.core.values import short
from mcp_tap.rules.base import Hit, Hits, rule

if TYPE_CHECKING:
    from mcp_tap.core.facts.message import Message
    from mcp_tap.core.facts.tasks import Task

LAG: Final = 3.0
"""Seconds for which a task may not show yet that an answer was accepted."""
_NOTICE: Final = f"server_notification {spec.NOTE_TASK}"
STATES: Final = (f"result {spec.TASKS_GET}", _NOTICE)
"""What carries the state of a task that exists."""
_ABOUT: Final = tuple(f"request {method}" for method in sorted(spec.TASK_METHODS))


def state_of(m: Message) -> tuple[dict[str, Any], str]:
    """Give the state of a task in a message, and a pointer to it."""
    if m.event == "server_notification":
        return m.params, "/params"
    return m.result or {}, "/result"


@rule(
    "TASK-001",
    severity="error",
    level="must",
    blames="server",
    spec="seps/2663-tasks-extension#capability-negotiation",
    on="result",
    steady=True,
)
def task_for_undeclared_client(m: Message) -> Hits:
    """A task, or data of one, is given to a client that did not declare the extension.

    Every request says anew what its client can do: what an earlier one declared does not count, and
    neither does the `tasks` capability of older revisions.  A client that does not know tasks takes
    the handle for the result.  The right answer is the error -32021.

    A client that calls `tasks/get`, `tasks/update` or `tasks/cancel` without the declaration is at
    fault as well; it is named in the same finding.
    """
    result = m.result
    if result is None:
        return None
    about = m.method in spec.TASK_METHODS
    if (not about and result.get("resultType") != "task") or m.request is None:
        return None
    if spec.TASKS_EXTENSION in m.flow.extensions:
        return None
    if about:
        return Hit(
            f"server carries out {m.method} for a request that does not declare the tasks "
            "extension, and which the client should not have sent",
            "/result",
        )
    return Hit(
        f"server answers {m.method} with a task although the request does not declare the tasks "
        "extension",
        "/result/resultType",
    )


@rule(
    "TASK-002",
    severity="error",
    level="must",
    blames="server",
    spec="seps/2663-tasks-extension#polymorphic-results",
    on="result",
    steady=True,
)
def task_result_type_misused(m: Message) -> Hits:
    """`resultType` is `task` where no task is made.

    Only the answer to `tools/call` that makes a task has it.  A client takes any other for an
    invalid response.  The results of `tasks/get`, `tasks/update` and `tasks/cancel` are `complete`,
    whatever the task's status.

    For `tasks/get` it is a warning: two examples in the extension's own document show `task` there.
    """
    result = m.result
    if result is None or result.get("resultType") != "task":
        return None
    if m.method == "tools/call" or m.request is None:
        return None
    if m.method == spec.TASKS_GET:
        return Hit(
            "server answers tasks/get with resultType task; it must be complete, although two "
            "examples of the extension's document show this",
            "/result/resultType",
            severity="warning",
        )
    return Hit(f"server answers {m.method} with resultType task", "/result/resultType")


@rule(
    "TASK-005",
    severity="error",
    level="must",
    blames="server",
    spec="extensions/tasks/overview#task-lifecycle",
    on=(*STATES, f"error {spec.TASKS_GET}"),
)
def terminal_task_changed(m: Message) -> Hits:
    """A task changes after it has ended, or is unknown right after it was made.

    `completed`, `failed` and `cancelled` are final: a client stops looking then, and misses what
    comes after.  A task must be there from the moment its handle is given out; that it is not found
    within its `ttlMs` is a warning.

    A state that may be older than the known one, by its `lastUpdatedAt` or because it was asked for
    before that came, is not judged.  Neither is a task not found that was to be cancelled, or that
    somebody else asked for.
    """
    if m.event == "error":
        return _lost(m)
    state, at = state_of(m)
    task = m.flow.seen.tasks.get(state.get("taskId"))
    if task is None or not task.ended:
        return None
    status = state.get("status")
    if type(status) is not str or status == task.status or task.is_old(m, state):
        return None
    return Hit(
        f"server reports a task as {brief(status, 30)} after it was {task.status}",
        f"{at}/status",
        once=("client", short(state["taskId"]), short(status)),
    )


def _lost(m: Message) -> Hits:
    if m.code != spec.INVALID_PARAMS or m.request is None:
        return None
    task = m.flow.seen.tasks.get(m.request.params.get("taskId"))
    if task is None or task.created is None or task.ended or task.cancelling:
        return None
    age = m.t - task.created
    if task.ttl is not None and age > task.ttl:
        return None
    if task.credential != (m.flow.credential, m.flow.principal):
        return None
    return Hit(
        f"server does not know a task {took(age)} after it made it, although it is kept for "
        + ("ever" if task.ttl is None else took(task.ttl)),
        "/error/code",
        severity="warning",
    )


@rule(
    "TASK-006",
    severity="warning",
    level="must",
    blames="server",
    spec="seps/2663-tasks-extension#task-update-requests",
    on=(f"result {spec.TASKS_UPDATE}", f"result {spec.TASKS_CANCEL}"),
)
def task_ack_not_empty(m: Message) -> Hits:
    """`tasks/update` or `tasks/cancel` is answered with data of the task.

    Both are acknowledged with an empty result, since what they set in motion takes effect later:
    the state beside it would be one that is about to change.  Clients read it with `tasks/get`.
    """
    result = m.result
    if result is None:
        return None
    extra = [
        name for name in ("taskId", "status", "result", "error", "inputRequests") if name in result
    ]
    if not extra:
        return None
    return Hit(
        f"server answers {m.method} with {', '.join(extra)} instead of an empty result",
        f"/result/{extra[0]}",
    )


@rule(
    "TASK-007",
    severity="error",
    level="must",
    blames="client",
    spec="seps/2663-tasks-extension#streamable-http-routing-headers",
    on=_ABOUT,
    transports=("http",),
)
def task_routing_header(m: Message) -> Hits:
    """A request about a task does not name it in `Mcp-Name`.

    Load balancers send a request to the instance that holds the task by this header; without it,
    the request ends up where nobody knows the task.  A value in Base64 form is read as what it
    stands for.
    """
    task_id = m.params.get("taskId")
    if m.flow.head is None or type(task_id) is not str:
        return None
    header = m.flow.header(spec.HEADER_NAME)
    if header is None:
        return Hit(f"client sends {m.method} without Mcp-Name", spot="Mcp-Name")
    if is_masked(header) or is_masked(task_id):
        return None
    if named(header) in {task_id, task_id.strip(" \t")}:
        return None
    return Hit(
        f"client sends {m.method} with Mcp-Name {brief(header, 60)}, which is not the task's id",
        spot="Mcp-Name",
    )


@rule(
    "TASK-008",
    severity="error",
    level="must",
    blames="sender",
    spec="seps/2663-tasks-extension#task-update-requests",
    on=(*STATES, f"request {spec.TASKS_UPDATE}"),
)
def task_input_key_misuse(m: Message) -> Hits:
    """A task uses the key of a question again, or its client answers one that is not asked.

    A key stands for one question as long as the task lives: clients leave out what they have asked
    a person already, and would give the old answer to the new question.  To repeat an unanswered
    question in every state is the rule; of an answered one it is a warning where that goes on for
    more than three seconds, since states may lag behind.

    An answer under a key that was never asked, or was answered before, is ignored by servers: a
    warning.  It is judged only where all states of the task were seen.  Keys of the questions a
    server asked before it made the task do not count.
    """
    if m.event == "request":
        task = m.flow.seen.tasks.get(m.params.get("taskId"))
        answers = m.params.get("inputResponses")
        if task is None or type(answers) is not dict:
            return None
        return _answering(task, answers, whole=m.flow.seen.run.whole)
    state, at = state_of(m)
    task, asked = m.flow.seen.tasks.get(state.get("taskId")), state.get("inputRequests")
    if task is None or type(asked) is not dict or not task.questions:
        return None
    return _asking(m, task, asked, at)


def _asking(m: Message, task: Task, asked: dict[str, Any], at: str) -> Iterator[Hit]:
    looked = m.request.t if m.event == "result" and m.request is not None else m.t
    task_id = str(state_of(m)[0]["taskId"])
    for key, (name, digest) in zip(asked, digests(asked), strict=False):
        known = task.questions.get(name)
        if known is None:
            continue
        where = f"{at}/inputRequests" + pointer(key)
        if digest is not None and known.digest is not None and digest != known.digest:
            yield Hit(f"server asks something else under the key {brief(key, 40)}", where)
        elif known.answered is None:
            continue
        elif known.gone:
            yield Hit(f"server asks again what was answered, under {brief(key, 40)}", where)
        elif looked - known.answered > LAG:
            yield Hit(
                f"server still asks {brief(key, 40)} {took(looked - known.answered)} after it "
                "acknowledged the answer",
                where,
                severity="warning",
                once=("client", short(task_id), name),
            )


def _answering(task: Task, answers: dict[str, Any], *, whole: bool) -> Iterator[Hit]:
    whole = whole and task.created is not None and task.complete and task.unheard <= 0
    for index, key in enumerate(answers):
        if index >= MOST_KEYS:
            return
        where = "/params/inputResponses" + pointer(key)
        known = task.questions.get(short(key))
        if known is None:
            if whole:
                yield Hit(
                    f"client answers {brief(key, 40)}, which the task never asked",
                    where,
                    severity="warning",
                )
        elif known.answered is not None:
            yield Hit(
                f"client answers {brief(key, 40)} again, although that was acknowledged",
                where,
                severity="warning",
            )
