"""A message with its context: the subject most rules judge.

Built once a message and never changed after its rules have run.  Everything a rule may read is a
plain attribute: they are read far more often than they are worked out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from mcp_tap.core.records import Body, Noise
from mcp_tap.core.records import Message as MessageRecord
from mcp_tap.core.redact_text import MARK

if TYPE_CHECKING:
    from mcp_tap.core.facts.flow import Flow

Event: TypeAlias = Literal[
    "request",
    "notification",
    "client_response",
    "result",
    "error",
    "server_request",
    "server_notification",
    "malformed",
]
"""What a message is, by who sent it.

`request`, `notification`: of a client.  `client_response`: a client's JSON-RPC response (session
era).  `result`, `error`: a server's response.  `server_request`, `server_notification`: of a
server.  `malformed`: no JSON, an array, or an object that is none of these.
"""

NONE: Final[dict[str, Any]] = {}
"""Stands for an object that is absent, or is no object.  Never written to."""


class Message:
    """One JSON-RPC message, or what stands where one must be."""

    __slots__ = (
        "error",
        "event",
        "fired",
        "flow",
        "id",
        "meta",
        "method",
        "params",
        "record",
        "request",
        "result",
        "sender",
        "seq",
        "t",
        "value",
    )

    def __init__(self, record: MessageRecord | Body | Noise, value: Any, flow: Flow) -> None:
        """Sort a message.

        Args:
            record: that carried it.
            value: its JSON value; `UNPARSED` where it has none.
            flow: the exchange it passed in.
        """
        self.record = record
        self.seq: int = record.seq
        self.t: float = record.t
        self.sender = record.sender
        """`tap`, where the tap wrote what a client would have written."""
        self.value: Any = value
        self.flow = flow
        self.fired: set[str] | None = None
        """Ids of the rules that fired on it, once its rules have run; None where none did."""
        self.method: str | None = None
        """Method of a request or notification; of a response, that of the request it answers."""
        self.id: Any = None
        """Its `id`; None also where it has none: `"id" in m.value` tells."""
        self.params: dict[str, Any] = NONE
        """Its `params`; empty where there are none, or where they are no object."""
        self.result: dict[str, Any] | None = None
        """Its `result`, where that is an object."""
        self.error: Any = None
        self.meta: dict[str, Any] = NONE
        """`_meta` of its params or result; empty where there is none, or it is no object."""
        self.request: Message | None = None
        """Of what a server sends: the request it answers, or whose stream carries it."""
        self.event: Event = "malformed"
        client = record.sender != "server"
        if not client:
            self.request = flow.request
        if type(value) is not dict:
            return
        method = value.get("method")
        if type(method) is str:
            self.method = method
            params = value.get("params")
            if type(params) is dict:
                self.params = params
                meta = params.get("_meta")
                if type(meta) is dict:
                    self.meta = meta
            if "id" in value:
                self.id = value["id"]
                self.event = "request" if client else "server_request"
            else:
                self.event = "notification" if client else "server_notification"
        elif "result" in value or "error" in value:
            self._replies(value, client=client)

    @property
    def code(self) -> int | None:
        """The code of its error; None where that is no integer: -32602.0 is one."""
        code = self.error.get("code") if type(self.error) is dict else None
        if type(code) is float and code.is_integer():
            return int(code)
        return code if type(code) is int else None

    def _replies(self, value: dict[str, Any], *, client: bool) -> None:
        """Read a response."""
        self.id = value.get("id")
        result = value.get("result")
        if type(result) is dict:
            self.result = result
            meta = result.get("_meta")
            if type(meta) is dict:
                self.meta = meta
        if client:
            self.event = "client_response"
            self.error = value.get("error")
            return
        if "error" in value:
            self.error = value["error"]
            self.event = "error"
        else:
            self.event = "result"
        if self.request is not None:
            self.method = self.request.method


def speaks(value: Any) -> bool:
    """Tell whether a value says of itself that it is a JSON-RPC message."""
    return type(value) is dict and "jsonrpc" in value


def is_masked(value: Any) -> bool:
    """Tell whether a value was masked before it was recorded: rules on values must skip it."""
    return type(value) is str and MARK in value
