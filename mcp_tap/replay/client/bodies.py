"""Messages made of recorded ones: what is another run's in them is replaced by this run's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from msgspec import Struct

from mcp_tap.core import spec
from mcp_tap.core.records import AnyRecord, Message
from mcp_tap.core.wire import dumps
from mcp_tap.replay.compare.reading import value_said
from mcp_tap.replay.keys import params_of
from mcp_tap.replay.recorded import RecordedExchange
from mcp_tap.replay.splicing import ID, META_TOKEN, respliced

INITIALIZED: Final = "notifications/initialized"
KEEP: Final = object()
"""Stands for what stays as it was recorded."""


class Push(Struct, kw_only=True, eq=False):
    """Something a server asked in a request of its own."""

    exchange: int
    """On whose stream it came."""
    id: Any
    method: str
    params: Any
    answer: dict[str, Any] | None = None
    """The response it got."""
    used: bool = False


def pushes_of(exchange: RecordedExchange, records: Iterable[AnyRecord]) -> list[Push]:
    """Find what a server asked on an exchange."""
    found = []
    for record in records:
        value = value_said(record) if type(record) is Message and record.sender == "server" else 0
        if type(value) is dict and "id" in value and type(value.get("method")) is str:
            found.append(
                Push(
                    exchange=exchange.number,
                    id=value["id"],
                    method=value["method"],
                    params=value.get("params"),
                )
            )
    return found


def again(recorded: bytes, number: int) -> bytes:
    """Give a request under a new id, with a progress token that is new as well."""
    token = dumps(number)
    return respliced(recorded, {ID: token, META_TOKEN: token})


def retry(
    recorded: dict[str, Any], number: int, *, answers: Any = KEEP, state: Any = KEEP
) -> bytes:
    """Give a request that answers a round.

    Args:
        recorded: the request it is like.
        number: its id.
        answers: its `inputResponses`; None: it has none.
        state: its `requestState`; None: it has none.
    """
    params = dict(params_of(recorded))
    for name, value in (("inputResponses", answers), ("requestState", state)):
        if value is None:
            params.pop(name, None)
        elif value is not KEEP:
            params[name] = value
    meta = params.get("_meta")
    if type(meta) is dict and "progressToken" in meta:
        params["_meta"] = {**meta, "progressToken": number}
    return dumps({**recorded, "id": number, "params": params})


def request(number: int, method: str, params: dict[str, Any]) -> bytes:
    """Write a request of our own."""
    return dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def notification(method: str, params: dict[str, Any] | None = None) -> bytes:
    """Write a notification of our own."""
    said = {"jsonrpc": "2.0", "method": method}
    return dumps(said if params is None else {**said, "params": params})


def response(to: Any, recorded: dict[str, Any]) -> bytes:
    """Give a recorded response under the id of another request."""
    return dumps({**recorded, "id": to})


def answered(to: Any, result: Any) -> bytes:
    """Write a result of our own."""
    return dumps({"jsonrpc": "2.0", "id": to, "result": result})


def refused(to: Any, words: str) -> bytes:
    """Write an error of our own in the place of an answer."""
    error = {"code": spec.INTERNAL_ERROR, "message": f"mcp-tap: {words}"}
    return dumps({"jsonrpc": "2.0", "id": to, "error": error})
