"""What a task looks like on the wire."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from mcp_tap.core import spec
from mcp_tap.core.facts.message import is_masked
from mcp_tap.core.forms import is_count, is_whole
from mcp_tap.core.text import brief
from mcp_tap.rules.base import Hit, Hits, rule
from mcp_tap.rules.tasks import STATES, state_of

if TYPE_CHECKING:
    from mcp_tap.core.facts.message import Message

_STATUSES: Final = frozenset({"working", spec.INPUT_REQUIRED}) | spec.TERMINAL
_OLDER: Final = ("ttl", "pollInterval", "task", "requestState")
"""Members of the experimental design, and of results that are no task."""
_DATE: Final = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)", re.ASCII)
_TIME: Final = re.compile(
    r"[Tt ](\d\d)(:?\d\d)?(:?\d\d)?([.,]\d{1,30})?([Zz]|[+-]\d\d(:?\d\d)?)?",
    re.ASCII,
)


@rule(
    "TASK-003",
    severity="error",
    level="must",
    blames="server",
    spec="seps/2663-tasks-extension#tasks",
    on=("result tools/call", *STATES),
    steady=("result tools/call",),
)
def task_shape_invalid(m: Message) -> Hits:
    """A task lacks what it must have, or is written as in the older, experimental design.

    It has an id, one of five statuses, the times it was made and last changed, and how long it is
    kept (`ttlMs`, null for ever); how often to poll is free to say.  They stand in the result
    itself, not in a `task` of their own, and are not called `ttl` or `pollInterval`.  Nor is there
    a `requestState`: nothing is retried.

    Further members are fine.  Only a handle, a polled state and a notification are judged.
    """
    if m.method == "tools/call" and (m.result is None or m.result.get("resultType") != "task"):
        return None
    state, at = state_of(m)
    older = [
        name for name in _OLDER if name in state and (name != "task" or type(state[name]) is dict)
    ]
    if older:
        return Hit(
            f"server gives a task with {', '.join(older)}, which tasks do not have",
            f"{at}/{older[0]}",
        )
    return [
        Hit(
            f"server gives a task with {brief(state[name], 40)} as {name}, which must be {wanted}"
            if name in state
            else f"server gives a task without {name}, which must be {wanted}",
            f"{at}/{name}" if name in state else at,
            spot=name,
        )
        for name, wanted, fits in _MEMBERS
        if not fits(state.get(name, _ABSENT))
    ] or None


_ABSENT: Final = object()


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_status(value: Any) -> bool:
    return type(value) is str and (value in _STATUSES or is_masked(value))


def _is_time(value: Any) -> bool:
    if type(value) is not str:
        return False
    if is_masked(value):
        return True
    date = _DATE.match(value)
    if date is None or not 1 <= int(date[2]) <= 12 or not 1 <= int(date[3]) <= 31:
        return False
    rest = value[date.end() :]
    if not rest:
        return True
    time = _TIME.fullmatch(rest)
    return time is not None and int(time[1]) <= 24 and int((time[2] or "0").lstrip(":")) < 60


def _is_ttl(value: Any) -> bool:
    return value is None or is_whole(value)


def _is_interval(value: Any) -> bool:
    return value is _ABSENT or is_count(value)


_MEMBERS: Final = (
    ("taskId", "a string", _is_text),
    ("status", "one of the five statuses", _is_status),
    ("createdAt", "a timestamp", _is_time),
    ("lastUpdatedAt", "a timestamp", _is_time),
    ("ttlMs", "a whole number of milliseconds or null", _is_ttl),
    ("pollIntervalMs", "a whole number of milliseconds", _is_interval),
)


@rule(
    "TASK-004",
    severity="error",
    level="must",
    blames="server",
    spec="seps/2663-tasks-extension#task-status",
    on=("result tools/call", *STATES),
    steady=("result tools/call",),
)
def task_status_payload_mismatch(m: Message) -> Hits:
    """What a task carries does not fit its status.

    `completed` comes with a `result`, `failed` with an `error`, `input_required` with questions;
    `working` with none of them.  A client that polls looks for exactly these.

    A tool that fails (`isError`) has completed: `failed` is for JSON-RPC errors, which have a
    code.  The handle that makes a task carries no such member, and need not: all it is judged for
    is a task at work that brings one.
    """
    if m.method == "tools/call" and (
        m.result is None
        or m.result.get("resultType") != "task"
        or m.result.get("status") != "working"
    ):
        return None
    state, at = state_of(m)
    status = state.get("status")
    wrong = _FITS[status](state) if type(status) is str and status in _FITS else None
    if wrong is None:
        return None
    member, words = wrong
    where = f"{at}/{member}" if member in state else at
    return Hit(f"server reports a task as {status} {words}", where, member)


def _completed(state: dict[str, Any]) -> tuple[str, str] | None:
    return None if type(state.get("result")) is dict else ("result", "without its result")


def _failed(state: dict[str, Any]) -> tuple[str, str] | None:
    error = state.get("error")
    if type(error) is not dict:
        return "error", "without its error"
    if type(error.get("code")) is int:
        return None
    return "error", "with an error that has no JSON-RPC code: a tool that fails has completed"


def _needs_input(state: dict[str, Any]) -> tuple[str, str] | None:
    asked = state.get("inputRequests")
    return None if type(asked) is dict and asked else ("inputRequests", "without asking anything")


def _working(state: dict[str, Any]) -> tuple[str, str] | None:
    extra = [name for name in ("result", "error") if state.get(name) is not None]
    return (extra[0], f"and gives it a member {extra[0]}") if extra else None


_FITS: Final = {
    "completed": _completed,
    "failed": _failed,
    spec.INPUT_REQUIRED: _needs_input,
    "working": _working,
}
