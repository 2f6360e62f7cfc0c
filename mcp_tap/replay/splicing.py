"""The few tokens of a recorded message that are somebody else's, replaced by this client's.

Everything else stays as it was recorded, byte for byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

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
"""Where in a message a token stands."""


def respliced(data: bytes, tokens: Mapping[tuple[str, ...], bytes]) -> bytes:
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


def _rewritten(data: bytes, tokens: Mapping[tuple[str, ...], bytes]) -> bytes:
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
