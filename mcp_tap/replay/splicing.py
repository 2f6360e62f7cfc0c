"""The few tokens of a recorded message that are somebody else's, replaced by this client's.

Everything else stays as it was recorded, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from mcp_tap.core import spec
from mcp_tap.core.splice import Edit, SpliceError, find, spliced
from mcp_tap.core.wire import UNPARSED, dumps, whole_value

ID: Final = ("id",)
STATE: Final = ("result", "requestState")
TOKEN: Final = ("params", "progressToken")
SUBSCRIPTION: Final = ("params", "_meta", spec.META_SUBSCRIPTION)
CANCELLED: Final = ("params", "requestId")
PARAMS_STATE: Final = ("params", "requestState")
META_TOKEN: Final = ("params", "_meta", "progressToken")
TASK: Final = ("result", "taskId")
NEWS_OF: Final = ("params", "taskId")
TASK_IDS: Final = ("params", "notifications", "taskIds")
"""Where in a message a token stands."""
Tokens: TypeAlias = Mapping[tuple[str, ...], bytes]
"""The new token of each place, in JSON."""
_FRONT: Final = re.compile(rb'\{"jsonrpc":"2\.0","id":("[^"\\]*"|-?\d+),')
_BACK: Final = re.compile(rb',"jsonrpc":"2\.0","id":("[^"\\]*"|-?\d+)\}\Z')
_LONGEST_BACK: Final = 300


def respliced(data: bytes, tokens: Tokens) -> bytes:
    """Give values of a message other tokens; those that are not there stay away.

    Args:
        data: the message.
        tokens: the new token of each place, in JSON.
    """
    edits = []
    try:
        for path, token in tokens.items():
            span = find(data, *path)
            if span is not None:
                edits.append(Edit(span.start, span.end, token))
    except SpliceError:
        return _rewritten(data, tokens)
    return spliced(data, edits) if edits else data


def answering(data: bytes, tokens: Tokens) -> bytes:
    """Give a response another id, and perhaps another state; most have their id at one end."""
    token = tokens.get(ID)
    if len(tokens) == 1 and token is not None and data.count(b'"id"') == 1:
        found = _FRONT.match(data) or _BACK.search(data, max(0, len(data) - _LONGEST_BACK))
        if found is not None:
            return data[: found.start(1)] + token + data[found.end(1) :]
    return respliced(data, tokens)


def news(params: dict[str, Any], names: dict[str, str]) -> Tokens:
    """Give the ids of tasks as this client knows them, where a notification names them."""
    tokens: dict[tuple[str, ...], bytes] = {}
    task, notes = params.get("taskId"), params.get("notifications")
    if type(task) is str and task in names:
        tokens[NEWS_OF] = dumps(names[task])
    given = notes.get("taskIds") if type(notes) is dict else None
    if type(given) is list:
        tokens[TASK_IDS] = dumps([names.get(n, n) if type(n) is str else n for n in given])
    return tokens


def _rewritten(data: bytes, tokens: Tokens) -> bytes:
    """Write anew a message that names a member twice: its last one counts, as for most readers."""
    value = whole_value(data)
    if value is UNPARSED:
        return data
    for path, token in tokens.items():
        at: Any = value
        for step in path[:-1]:
            at = at.get(step) if type(at) is dict else None
        if type(at) is dict and path[-1] in at:
            at[path[-1]] = whole_value(token)
    return dumps(value)
