"""The tables of the specification that linking needs: names, methods, revisions.

One place for words that stand on the wire, so that no other module spells them.
Sources: https://modelcontextprotocol.io/specification/2026-07-28 and 2025-11-25, SEP-2663 (tasks).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from mcp_tap.core.model import AskKind, Era

STATELESS_SINCE: Final = "2026-07-28"
"""First revision without sessions; revisions are dates, so they compare as text."""

REVISIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")

META_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
META_CLIENT: Final = "io.modelcontextprotocol/clientInfo"
META_SERVER: Final = "io.modelcontextprotocol/serverInfo"
CLIENT_CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
META_LOG_LEVEL: Final = "io.modelcontextprotocol/logLevel"
TASKS_EXTENSION: Final = "io.modelcontextprotocol/tasks"
KNOWN_EXTENSIONS: Final = frozenset({TASKS_EXTENSION, "io.modelcontextprotocol/ui"})
"""Extensions of which all result types and error codes are known here: others may have any."""
META_SUBSCRIPTION: Final = "io.modelcontextprotocol/subscriptionId"

HEADER_VERSION: Final = "mcp-protocol-version"
HEADER_SESSION: Final = "mcp-session-id"
HEADER_METHOD: Final = "mcp-method"
HEADER_NAME: Final = "mcp-name"
HEADER_LAST_EVENT: Final = "last-event-id"

INITIALIZE: Final = "initialize"
DISCOVER: Final = "server/discover"
LISTEN: Final = "subscriptions/listen"
TASKS_GET: Final = "tasks/get"
TASKS_UPDATE: Final = "tasks/update"
TASKS_CANCEL: Final = "tasks/cancel"

NOTE_PROGRESS: Final = "notifications/progress"
NOTE_LOG: Final = "notifications/message"
NOTE_INITIALIZED: Final = "notifications/initialized"
NOTE_CANCELLED: Final = "notifications/cancelled"
NOTE_TASK: Final = "notifications/tasks"
NOTE_ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"
NOTE_ELICITED: Final = "notifications/elicitation/complete"
NOTE_UPDATED: Final = "notifications/resources/updated"
NOTE_TOOLS: Final = "notifications/tools/list_changed"
NOTE_PROMPTS: Final = "notifications/prompts/list_changed"
NOTE_RESOURCES: Final = "notifications/resources/list_changed"
LIST_CHANGES: Final[dict[str, str]] = {
    NOTE_TOOLS: "tools",
    NOTE_PROMPTS: "prompts",
    NOTE_RESOURCES: "resources",
}
"""Notification that a list has changed -> the capability it is a list of."""

ELICIT: Final = "elicitation/create"
SAMPLE: Final = "sampling/createMessage"
LIST_ROOTS: Final = "roots/list"
ASKING: Final[dict[str, str]] = {ELICIT: "elicitation", SAMPLE: "sampling", LIST_ROOTS: "roots"}
"""Method of an ask -> the capability of clients that can answer it."""

MAY_ASK: Final = frozenset({"tools/call", "prompts/get", "resources/read"})
"""Requests a server may answer with `input_required`."""

TASK_METHODS: Final = frozenset({TASKS_GET, TASKS_UPDATE, TASKS_CANCEL})
"""Requests about a task that exists; they never open a chain of rounds themselves."""

NAME_PARAM: Final[dict[str, str]] = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "resources/subscribe": "uri",
    "resources/unsubscribe": "uri",
    TASKS_GET: "taskId",
    TASKS_UPDATE: "taskId",
    TASKS_CANCEL: "taskId",
}
"""Method -> the parameter that names its target."""

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
"""Errors of JSON-RPC 2.0 (section 5.1) that the protocol gives a meaning of its own."""

HEADER_MISMATCH: Final = -32020
MISSING_CAPABILITY: Final = -32021
UNSUPPORTED_VERSION: Final = -32022
"""Errors of the stateless era (2026-07-28, basic#error-codes)."""

ERROR_STATUS: Final = {
    METHOD_NOT_FOUND: 404,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_VERSION: 400,
}
"""HTTP status of a response with such an error, in the stateless era; others have 200
(2026-07-28, basic/transports/streamable-http#request-metadata)."""

URL_REQUIRED: Final = -32042
"""Error of a request that needs URL elicitations first (2025-11-25, client/elicitation)."""

REQUEST_CANCELLED: Final = -32800
"""JSON-RPC error of a request that was cancelled (session era)."""

TERMINAL: Final = frozenset({"completed", "failed", "cancelled"})
"""Task statuses nothing follows."""

INPUT_REQUIRED: Final = "input_required"
"""The result type, and the task status, that ask."""

_NOT_ASKING: Final = frozenset({"ping", "tasks/list", "tasks/result"}) | TASK_METHODS


def era_of(version: str) -> Era:
    """Say which era a declared revision belongs to; `unknown` for what is no date."""
    return _era_of(version) if len(version) == len(STATELESS_SINCE) else "unknown"


@lru_cache(maxsize=64)
def _era_of(version: str) -> Era:
    if version[4] == version[7] == "-":
        digits = version[:4] + version[5:7] + version[8:]
        if digits.isascii() and digits.isdigit():
            return "stateless" if version >= STATELESS_SINCE else "session"
    return "unknown"


def asks(method: str) -> bool:
    """Tell whether a request sent by a server waits for the client's side of things."""
    return method not in _NOT_ASKING


def has_mode(elicitation: dict[str, Any], mode: str) -> bool:
    """Tell whether a declared `elicitation` covers a mode; one that names none means forms.

    Source: client/elicitation#capabilities, of both revisions that have modes.
    """
    return mode in elicitation or (mode == "form" and "url" not in elicitation)


def ask_kind(method: Any, params: dict[str, Any]) -> AskKind:
    """Sort a question: a form when an elicitation names no mode, `other` for unknown methods."""
    if method == ELICIT:
        return "url" if params.get("mode") == "url" else "form"
    if method == SAMPLE:
        return "sampling"
    if method == LIST_ROOTS:
        return "roots"
    return "other"
