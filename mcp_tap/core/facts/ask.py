"""Asks and answers as rules see them, wherever they stand on the wire.

An ask is an entry of `inputRequests` (of an `input_required` result, or of a task that needs
input), or a request a server pushed in the session era.  Its answer is the entry of the same key in
`inputResponses` of the retry or of `tasks/update`, or the client's JSON-RPC response.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from mcp_tap.core.facts.message import NONE
from mcp_tap.core.records import pointer
from mcp_tap.core.spec import ask_kind

if TYPE_CHECKING:
    from mcp_tap.core.facts.flow import Flow
    from mcp_tap.core.facts.message import Message
    from mcp_tap.core.model import AskKind

Origin: TypeAlias = Literal["input_required", "task", "pushed"]
"""Where an ask stands: in a result, in a task's state, or in a request of its own."""
MOST_READ: Final = 1000
"""Asks of one message that are read: one that has ten thousands is there to cost time."""


class Ask:
    """One thing a server asks of the client's side."""

    __slots__ = (
        "before",
        "entry",
        "form",
        "home",
        "key",
        "kind",
        "message",
        "method",
        "origin",
        "params",
        "path",
    )

    def __init__(self, message: Message, key: str, entry: Any, origin: Origin, path: str) -> None:
        """Read one.

        Args:
            message: that carries it.
            key: its key; of a pushed one the JSON-RPC id, as text.
            entry: what stands under the key, whatever it is; of a pushed one the whole message.
            origin: where it stands.
            path: JSON pointer to the entry; empty for a pushed one.
        """
        self.message = message
        self.key = key
        self.entry = entry
        self.origin = origin
        self.path = path
        known = entry if type(entry) is dict else NONE
        method = known.get("method")
        self.method: str | None = method if type(method) is str else None
        params = known.get("params")
        self.params: dict[str, Any] = params if type(params) is dict else NONE
        """Its `params`; empty where there are none, or where they are no object."""
        self.kind: AskKind = ask_kind(method, self.params)
        """`form` also where an elicitation names no mode, or an unknown one; `other` for methods
        that are no ask."""
        self.form: Any = None
        """For `core.forms`: its reading of the form, once there is one."""
        self.home: Flow | None = None
        """The exchange of the request it is asked for; None where that is not known."""
        self.before: Sequence[Answer] = ()
        """The answers that request has got since it asked last: this is what they led to."""

    @property
    def flow(self) -> Flow:
        """The exchange it came in."""
        return self.message.flow

    @property
    def schema(self) -> dict[str, Any] | None:
        """`requestedSchema` of a form, where it is an object."""
        found = self.params.get("requestedSchema")
        return found if type(found) is dict else None

    @property
    def fields(self) -> dict[str, Any]:
        """`properties` of a form's schema: name -> schema, whatever it is; empty without any."""
        schema = self.schema
        found = schema.get("properties") if schema is not None else None
        return found if type(found) is dict else NONE

    @property
    def required(self) -> list[str]:
        """Names a form's schema requires."""
        schema = self.schema
        found = schema.get("required") if schema is not None else None
        return [name for name in found if type(name) is str] if type(found) is list else []

    def at(self, *steps: Any) -> str:
        """Point into its `params`."""
        return self.path + "/params" + pointer(*steps)

    def at_field(self, name: str, *steps: Any) -> str:
        """Point to a field of its form."""
        return self.at("requestedSchema", "properties", name, *steps)


class Answer:
    """What the client's side said to an ask."""

    __slots__ = ("ask", "error", "faults", "message", "path", "value")

    def __init__(self, message: Message, ask: Ask, value: Any, path: str, *, error: bool) -> None:
        """Pair one.

        Args:
            message: that carries it.
            ask: what it answers.
            value: what stands under the key; of a pushed ask the `result`, or the `error`.
            path: JSON pointer to it.
            error: it is a JSON-RPC error in place of an answer (session era).
        """
        self.message = message
        self.ask = ask
        self.value = value
        self.path = path
        self.error = error
        self.faults: Any = None
        """For `core.contents`: what is wrong with its content, once that was worked out."""

    @property
    def flow(self) -> Flow:
        """The exchange it came in."""
        return self.message.flow

    @property
    def action(self) -> str | None:
        """Its `action`, where that is a string."""
        found = self.value.get("action") if type(self.value) is dict else None
        return found if type(found) is str else None

    @property
    def content(self) -> dict[str, Any]:
        """Its `content`; empty where there is none, or where it is no object."""
        found = self.value.get("content") if type(self.value) is dict else None
        return found if type(found) is dict else NONE

    @property
    def elapsed(self) -> float:
        """Seconds from the record that asked to the one that answered."""
        return self.message.t - self.ask.message.t

    def at(self, *steps: Any) -> str:
        """Point into it."""
        return self.path + pointer(*steps)


def asks_in(message: Message, requests: Any, origin: Origin, path: str) -> list[Ask]:
    """Read a map of asks, the first `MOST_READ` of it; empty where it is none.

    Args:
        message: that carries it.
        requests: `inputRequests`, whatever it is.
        origin: where it stands.
        path: JSON pointer to the map.
    """
    if type(requests) is not dict:
        return []
    return [
        Ask(message, key, entry, origin, path + pointer(key))
        for key, entry in islice(requests.items(), MOST_READ)
    ]
