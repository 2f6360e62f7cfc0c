"""Which of a client's requests it still waits for."""

from __future__ import annotations

from typing import Any, Final

from mcp_tap.core.spec import NOTE_CANCELLED
from mcp_tap.core.values import id_key

MOST: Final = 10_000
"""Requests that are remembered; of more, the newest."""


class Unanswered:
    """The ids of requests without an answer, as far as lines could be read."""

    def __init__(self) -> None:
        """Begin with none."""
        self._ids: dict[tuple[bool, str], None] = {}

    def __bool__(self) -> bool:
        return bool(self._ids)

    def sent(self, value: Any) -> None:
        """Take what the client sent: a message, or several."""
        for message in value if type(value) is list else (value,):
            if type(message) is not dict or "method" not in message:
                continue
            if "id" in message:
                self._ids[id_key(message["id"])] = None
                if len(self._ids) > MOST:
                    del self._ids[next(iter(self._ids))]
            elif message["method"] == NOTE_CANCELLED and type(message.get("params")) is dict:
                self._ids.pop(id_key(message["params"].get("requestId")), None)

    def came(self, value: Any) -> None:
        """Take what the client got: a message, or several."""
        for message in value if type(value) is list else (value,):
            if type(message) is dict and "method" not in message:
                self._ids.pop(id_key(message.get("id")), None)
