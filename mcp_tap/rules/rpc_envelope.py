"""The envelope of JSON-RPC: what is a message at all."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

import msgspec

from mcp_tap.core.facts.flow import Flow
from mcp_tap.core.facts.message import NONE
from mcp_tap.core.forms import json_type
from mcp_tap.core.spec import META_VERSION
from mcp_tap.core.text import brief
from mcp_tap.core.wire import UNPARSED
from mcp_tap.rules.base import ALL, Hit, Hits, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp_tap.core.facts.message import Message
    from mcp_tap.core.records import Payload

_NOTE: Final = "notifications/"
_MOST_ASKED: Final = 16
_BOM: Final = b"\xef\xbb\xbf"
_LARGE: Final = 128 << 10
"""Bytes from which a payload is only skipped through: reading a dense one takes long."""
_PLACE: Final = re.compile(r"\(byte (\d+)\)")
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_skipper: Final = msgspec.json.Decoder(msgspec.Raw)


def _constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


_lenient = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_constant)
"""Takes all that the grammar allows: numbers of any size, halves of surrogate pairs."""


def json_fault(record: Payload) -> str | None:
    """Say in a few words why a payload is no JSON; None where it is, or where that is not known."""
    payload = record.payload()
    if payload.startswith(_BOM):
        return "it begins with a byte order mark"
    try:
        text = payload.decode()
    except UnicodeDecodeError as error:
        return f"it is not UTF-8 at byte {error.start}"
    return _fault_of_much(text) if len(payload) > _LARGE else _fault_of(text)


def _fault_of(text: str) -> str | None:
    try:
        _lenient.decode(text)
    except json.JSONDecodeError as error:
        words = error.msg.removesuffix(" at")
        return f"{words[:1].lower()}{words[1:]} at character {error.pos}"
    except ValueError as error:
        return str(error)
    except RecursionError:
        return None
    return None


def _fault_of_much(text: str) -> str | None:
    """Look for it without reading what there is; what this parser alone refuses is not known."""
    try:
        _skipper.decode(text)
    except msgspec.DecodeError as error:
        at = _PLACE.search(str(error))
        if _SURROGATE.search(text) is not None:
            return None
        return f"it is malformed at byte {at[1]}" if at is not None else "it ends in its middle"
    except RecursionError:
        pass
    return None


@rule(
    "RPC-001",
    severity="error",
    level="must",
    blames="sender",
    spec="specification/2026-07-28/basic/transports#messages",
    on=("malformed", "closed"),
    versions=(*ALL, "ambiguous"),
    transports=("http",),
    steady=True,
)
def unparseable_message(m: Message | Flow) -> Hits:
    """A message is not JSON in UTF-8.

    Looks at the body of a POST to the endpoint, at a response that says it is JSON, and at the data
    of each event of a stream.  Who receives it can neither act on it nor answer it, since not even
    its id can be read.

    Silent about what only a particular parser refuses (very large numbers, lone surrogates, deep
    nesting), about error pages that do not claim to be JSON, empty responses, comments, events
    without data, and events of another type than `message`.
    """
    if isinstance(m, Flow):
        return _empty(m)
    record = m.record
    if m.value is not UNPARSED or _is_other_event(record):
        return None
    fault = json_fault(record)
    if fault is None:
        return None
    what = "an event whose data" if record.sse is not None else "a body that"
    return Hit(f"{m.sender} sent {what} is no JSON: {fault}", spot="body")


def _empty(flow: Flow) -> Hit | None:
    """Find a POST that was sent with no body at all."""
    if flow.sent is not None or flow.exchange.verb != "POST" or not flow.is_endpoint:
        return None
    if flow.exchange.how != "complete" or flow.head is None or "transfer-encoding" in flow.fields:
        return None
    if flow.header("content-length") not in (None, "0"):
        return None
    return Hit("client sent a POST without a body", spot="body", blame="client")


def _is_other_event(record: Payload) -> bool:
    """Tell an event that is no message by its type."""
    event = record.sse.event if record.sse is not None else None
    return event is not None and event not in {"", "message"}


@rule(
    "RPC-002",
    severity="error",
    level="must",
    blames="sender",
    spec="specification/2026-07-28/basic#requests",
    on="message",
    versions=(*ALL, "ambiguous"),
    steady=True,
)
def malformed_envelope(m: Message) -> Hits:
    """A message is neither a request, nor a notification, nor a response of JSON-RPC 2.0.

    Either `jsonrpc` is not `"2.0"`, or there is no `method`, `result` or `error`, or both of the
    last two, or `method` is no string, or `params` or `result` no object.  Peers drop such
    messages, mostly in silence, and whoever waits for the answer waits forever.

    Further members at the top are fine.  Arrays and the insides of errors have rules of their own,
    and JSON that a gateway sends with an error status need not be a message at all.
    """
    value = m.value
    if type(value) is not dict:
        return _no_object(m)
    get = value.get
    if get("jsonrpc") == "2.0":
        if type(get("method")) is str:
            if type(get("params", NONE)) is dict:
                return None
        elif type(get("result")) is dict:
            if "error" not in value and "method" not in value:
                return None
        elif "error" in value and "result" not in value and "method" not in value:
            return None
    if not m.flow.http and m.flow.seen.lines.joins(m):
        return None
    return list(_envelope(m, value)) if _is_meant(m, value) else None


def _no_object(m: Message) -> Hit | None:
    value = m.value
    if value is UNPARSED or type(value) is list or not m.flow.http:
        return None
    if _is_other_event(m.record):
        return None
    return Hit(f"{m.sender} sent {json_type(value)} where a message must be", spot="body")


def _is_meant(m: Message, value: dict[str, Any]) -> bool:
    """Tell a message from other JSON that came with an error status."""
    status = m.flow.status
    if m.sender != "server" or status is None or status < 400 or "jsonrpc" in value:
        return True
    return "id" in value and ("result" in value or type(value.get("error")) is dict)


def _envelope(m: Message, value: dict[str, Any]) -> Iterator[Hit]:
    party = m.sender
    if value.get("jsonrpc") != "2.0":
        said = (
            f'has jsonrpc {brief(value["jsonrpc"], 20)}, not "2.0"'
            if "jsonrpc" in value
            else "lacks jsonrpc"
        )
        yield Hit(f"{party} sent a message that {said}", "/jsonrpc")
    if "method" in value:
        if type(value["method"]) is not str:
            kind = json_type(value["method"])
            words = f"{party} sent a message whose method is {kind}, not a string"
            yield Hit(words, "/method")
    elif "result" not in value and "error" not in value:
        yield Hit(f"{party} sent a message with neither method nor result nor error", spot="method")
    if "params" in value and type(value["params"]) is not dict:
        kind = json_type(value["params"])
        words = f"{party} sent a message whose params are {kind}, not an object"
        yield Hit(words, "/params")
    if "method" in value and type(value["method"]) is str:
        return
    if "result" in value and "error" in value:
        yield Hit(f"{party} sent a response with both result and error", spot="error")
    if "result" in value and type(value["result"]) is not dict:
        kind = json_type(value["result"])
        words = f"{party} sent a response whose result is {kind}, not an object"
        yield Hit(words, "/result")


@rule(
    "RPC-003",
    severity="error",
    level="must",
    blames="sender",
    spec="specification/2026-07-28/basic#requests",
    on=("request", "server_request"),
    versions=(*ALL, "ambiguous"),
    steady=True,
)
def bad_request_id(m: Message) -> Hits:
    """The id of a request is null, a fraction, a boolean, an array or an object.

    Ids pair responses with requests, and null is what errors carry whose request could not be read:
    a response to such an id can go astray.  `1.0` and `1e3` are whole numbers and fine.  A message
    without an id is a notification, whatever its method.
    """
    kind = type(m.id)
    if kind is int or kind is str or (kind is float and m.id.is_integer()):
        return None
    what = "a fraction" if kind is float else json_type(m.id)
    return Hit(f"{m.sender} sent a request whose id is {what}, not a string or an integer", "/id")


@rule(
    "RPC-006",
    severity="error",
    level="must",
    blames="sender",
    spec="specification/2026-07-28/basic#notifications",
    on=("request", "server_request"),
    versions=(*ALL, "ambiguous"),
    steady=True,
)
def notification_with_id(m: Message) -> Hits:
    """A notification carries an id.

    The id turns it into a request, so its sender would have to wait for a response nobody gives,
    and its receiver looks for a request method of that name.  Only methods that begin with
    `notifications/` are notifications by name; any other method with an id is a request.
    """
    method = m.method
    if method is None or not method.startswith(_NOTE):
        return None
    return Hit(f"{m.sender} sent {brief(method, 50)} with an id", "/id")


@rule(
    "RPC-007",
    severity="error",
    level="must",
    blames="sender",
    spec="specification/2026-07-28/basic/transports/streamable-http#sending-messages",
    on="malformed",
    versions=(*ALL, "ambiguous"),
)
def batch_array(m: Message) -> Hits:
    """An array of messages stands where there must be one message.

    Batches existed in revision 2025-03-26 only; peers of other revisions refuse the whole array.
    What is in it is not judged.  Silent in sessions of that revision, and over HTTP also where
    nothing says which revision holds, since clients of that one did not declare it.
    """
    if type(m.value) is not list:
        return None
    flow = m.flow
    if flow.seen.pending.batches or (not flow.http and flow.seen.lines.joins(m)):
        return None
    if flow.band == "ambiguous" and flow.http and not _declares(m.value):
        return None
    if _is_other_event(m.record):
        return None
    return Hit(f"{m.sender} sent an array (a batch) where one message must be", spot="body")


def _declares(batch: list[Any]) -> bool:
    """Tell whether one of the first messages of a batch says which revision it is of."""
    for message in batch[:_MOST_ASKED]:
        params = message.get("params") if type(message) is dict else None
        meta = params.get("_meta") if type(params) is dict else None
        if type(meta) is dict and META_VERSION in meta:
            return True
    return False
