"""Multi round-trip requests: what a server may put into a result that asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mcp_tap.core.facts.message import Message
from mcp_tap.core.facts.places import place_of
from mcp_tap.core.facts.states import short_keys
from mcp_tap.core.forms import json_type
from mcp_tap.core.records import pointer
from mcp_tap.core.spec import MAY_ASK, NOTE_TASK, TASKS_GET
from mcp_tap.core.text import brief
from mcp_tap.core.values import same_id, short
from mcp_tap.rules.base import Hit, Hits, rule
from mcp_tap.rules.duplicates import MOST_NAMES, repeated

_RESULTS: Final = tuple(f"result {method}" for method in sorted(MAY_ASK))
_FINAL: Final = ("content", "structuredContent", "isError", "messages", "contents")
_CACHE: Final = ("ttlMs", "cacheScope")
_MEMBERS: Final = ("inputRequests", "requestState")
_DOUBLED: Final = "MRTR-012"
_MRTR: Final = "specification/2026-07-28/basic/patterns/mrtr"


@rule(
    "MRTR-001",
    severity="error",
    level="must",
    blames="server",
    spec=f"{_MRTR}#supported-requests",
    on="input_required",
)
def input_required_on_unsupported_method(m: Message) -> Hits:
    """A server asks for input on a method that does not support it.

    Only `tools/call`, `prompts/get` and `resources/read` can be answered with
    `resultType: "input_required"`.  Clients have no code path to retry anything else, so the call
    is stuck.  A task that needs input says so in its `status`, inside a complete result: that is
    another mechanism and fine.  A response nobody asked for is not judged.
    """
    if m.method is None or m.method in MAY_ASK or m.request is None:
        return None
    if not same_id(m.id, m.request.id):
        return None
    return Hit(
        f"server asks for input on {brief(m.method, 40)}, which cannot be retried with it",
        "/result/resultType",
    )


@rule(
    "MRTR-002",
    severity="error",
    level="must",
    blames="server",
    spec=f"{_MRTR}#server-requirements-basic-workflow",
    on="input_required",
)
def input_required_with_nothing_to_do(m: Message) -> Hits:
    """A result that asks for input has no input request and no state.

    The client learns that something is missing, but not what, and its retry would be the same
    request again.  Without questions there must at least be a `requestState` to come back with; an
    empty string is one.  An empty `inputRequests` beside a state is read as a round without
    questions.
    """
    result = m.result or {}
    if result.get("requestState") is not None or result.get("inputRequests"):
        return None
    return Hit(
        "server asks for input but gives neither inputRequests nor a requestState",
        "/result",
        "inputRequests",
    )


@rule(
    "MRTR-003",
    severity="error",
    level="must",
    blames="server",
    spec=f"{_MRTR}#inputrequests",
    on="input_required",
)
def input_requests_wrong_type(m: Message) -> Hits:
    """`inputRequests` is no JSON object.

    It is a map from keys the server chooses to requests; the answers come back under the same
    keys.  The usual mistake is a list of requests with ids in them.  `null` is no map either: a
    member that is not needed is left out.
    """
    result = m.result or {}
    if "inputRequests" not in result or type(result["inputRequests"]) is dict:
        return None
    what = json_type(result["inputRequests"])
    return Hit(f"server sends {what} as inputRequests instead of a map", "/result/inputRequests")


@rule(
    "MRTR-004",
    severity="error",
    level="must",
    blames="sender",
    spec=f"{_MRTR}#inputrequiredresult",
    on=("input_required", "retrying"),
)
def request_state_wrong_type(m: Message) -> Hits:
    """`requestState` is there but is no string.

    It is an opaque string for server and client alike: a server that wants to keep an object in it
    encodes it first, and a client sends back the very string.  Objects, numbers and `null` are
    found.  Every string is fine, an empty one and one that holds JSON included.
    """
    where: dict[str, Any] = m.params if m.event == "request" else m.result or {}
    if "requestState" not in where or type(where["requestState"]) is str:
        return None
    if m.event == "request":
        if m.method not in MAY_ASK:
            return None
        path, who = "/params/requestState", "client"
    else:
        path, who = "/result/requestState", "server"
    return Hit(
        f"{who} sends {json_type(where['requestState'])} as requestState instead of a string", path
    )


@rule(
    "MRTR-008",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/basic#resulttype",
    on=(*_RESULTS, "retrying"),
    steady=True,
)
def input_required_without_result_type(m: Message) -> Hits:
    """A result asks for input but does not say that it does.

    Without a `resultType` clients have to read a result as complete, so they show an empty answer
    and never look at `inputRequests` or `requestState`.  A client that retries all the same gets a
    note: it should have taken the result as final.
    """
    result = m.result
    if result is None:
        return _retries_untyped(m) if m.event == "request" else None
    if "resultType" in result:
        return None
    for name in _MEMBERS:
        if name in result:
            return Hit(
                f"server sends {name} without resultType, so clients read it as complete",
                f"/result/{name}",
            )
    return None


def _retries_untyped(m: Message) -> Hits:
    flow = m.flow
    if flow.round is None or flow.round.link != "none":
        return None
    asked = flow.seen.run.states.untyped(place_of(m))
    if asked is None:
        return None
    state, answers = m.params.get("requestState"), m.params.get("inputResponses")
    matches = type(state) is str and short(state) == asked.state
    if not matches and type(answers) is dict:
        matches = not short_keys(answers).isdisjoint(asked.keys or ())
    if not matches:
        return None
    return Hit(
        "client retries after a result without resultType, which it should have read as complete",
        "/params",
        severity="note",
        blame="client",
    )


@rule(
    "MRTR-009",
    severity="warning",
    level="heuristic",
    blames="server",
    spec=f"{_MRTR}#inputrequiredresult",
    on=_RESULTS,
    steady=True,
)
def complete_result_with_mrtr_fields(m: Message) -> Hits:
    """A complete result carries `inputRequests` or `requestState`, which clients ignore.

    Often the server meant to ask and set the wrong `resultType`; or it believes that a state
    outlives the call, which nobody sends back.  Results may have members of their own, so this is a
    suspicion.  A task's state, which rightly lists what it asks for, is no such result.
    """
    result = m.result
    if result is None or ("requestState" not in result and "inputRequests" not in result):
        return None
    kind = result.get("resultType")
    if kind not in ("complete", "task"):
        return None
    name = "inputRequests" if "inputRequests" in result else "requestState"
    return Hit(
        f"server sends {name} in a result of type {kind}, where clients ignore it",
        f"/result/{name}",
    )


@rule(
    "MRTR-010",
    severity="warning",
    level="heuristic",
    blames="server",
    spec="specification/2026-07-28/basic#resulttype",
    on="input_required",
)
def input_required_with_final_payload(m: Message) -> Hits:
    """A result that asks for input also carries the payload of a final one.

    Clients throw `content`, `structuredContent`, `isError`, `messages` and `contents` away when a
    result asks, so whatever the author wanted to show there is never seen: a text for people
    belongs into the elicitation's message.  `_meta` and members of a vendor are fine.
    """
    result = m.result or {}
    names = [name for name in _FINAL if name in result]
    if not names:
        return None
    return Hit(
        f"server sends {' and '.join(names)} in a result that asks for input, where clients "
        "ignore it",
        f"/result/{names[0]}",
    )


@rule(
    "MRTR-011",
    severity="warning",
    level="should",
    blames="server",
    spec="specification/2026-07-28/server/utilities/caching#cacheable-results",
    on="input_required",
)
def input_required_with_cache_hints(m: Message) -> Hits:
    """A result that asks for input carries `ttlMs` or `cacheScope`.

    An interim result belongs to one call and must not be cached; hints invite a cache to hand the
    same question, and the same state, to others.  That they are missing there is as it should be.
    """
    result = m.result or {}
    names = [name for name in _CACHE if name in result]
    if not names:
        return None
    return Hit(
        f"server sends {' and '.join(names)} in a result that asks for input, which is never "
        "cached",
        f"/result/{names[0]}",
    )


@rule(
    "MRTR-012",
    severity="error",
    level="must",
    blames="server",
    spec=f"{_MRTR}#server-requirements-basic-workflow",
    on=(
        "input_required",
        "retrying",
        f"result {TASKS_GET}",
        f"server_notification {NOTE_TASK}",
    ),
)
def duplicate_input_request_key(m: Message) -> Hits:
    """A key stands twice in `inputRequests`, or in `inputResponses`.

    Keys are unique within a request.  Parsers keep the last of two equal names without a word, so
    one question is never asked, or one answer is lost: only the raw text shows it.  The same key in
    a later round, or in another call, is another matter and fine.  Questions of a task are judged
    the same way.
    """
    client = m.event == "request"
    name = "inputResponses" if client else "inputRequests"
    within, where = ("result", m.result or {}) if m.event == "result" else ("params", m.params)
    known = where.get(name)
    if type(known) is not dict or len(known) > MOST_NAMES:
        return None
    keys = repeated(m.record, name)
    if keys and m.flow.memo.get(_DOUBLED) is m.record:
        return None  # a task's state with the wrong resultType is both
    m.flow.memo[_DOUBLED] = m.record if keys else None
    return _doubled(keys, f"/{within}/{name}", client=client) if keys else None


def _doubled(keys: list[str], at: str, *, client: bool) -> Iterator[Hit]:
    name = at.rpartition("/")[2]
    for key in keys:
        path = at + pointer(key)
        who = "client" if client else "server"
        yield Hit(
            f"{who} sends the key {brief(key, 40)} more than once in {name}",
            path,
            key,
            blame="client" if client else None,
        )
