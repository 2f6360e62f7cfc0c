"""Payload bytes: which carrier keeps them, and what they mean as JSON.

What a fast parser refuses although a peer can send it (lone surrogates, `1e400`, a byte order mark)
is kept as `text` or `b64` and has no value: it is evidence, not an error of ours.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias, TypedDict

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from mcp_tap.core.records import Payload, deep


class _Unparsed(Struct, frozen=True):
    def __repr__(self) -> str:
        return "UNPARSED"

    def __bool__(self) -> bool:
        return False


UNPARSED: Final = _Unparsed()
"""Stands for the value of a payload that is no strict JSON, or is not whole."""

Json: TypeAlias = Any

_OPEN, _CLOSE = b"{}"
_LF, _CR = b"\n\r"
LARGE: Final = 1 << 20
"""Bytes from which a payload is not parsed whole: a dense one could hold up everything else."""
_SMALL: Final = 64 << 10
"""Bytes up to which a member of a large payload is still parsed."""


class Carrier(TypedDict, total=False):
    """The one of three fields that holds a payload in a record."""

    body: Raw
    text: str
    b64: bytes


def loads(data: bytes | str | Raw) -> Json:
    """Parse strict JSON; raise `ValueError` for anything else.

    Integers stay exact whatever their size, which is why msgspec does this and not orjson: the two
    are equally fast on real messages, but orjson turns what passes 64 bits into a float in silence.
    """
    try:
        return _json.decode(data)
    except RecursionError:
        return deep(_json.decode, data)


def carrier(payload: bytes) -> tuple[Carrier, Json]:
    """Choose the carrier of a payload, and give its value where it is strict JSON.

    `body` only for JSON that can stand in a line as it is: no raw line break, and nothing around
    it that splicing would lose.  What is large travels as `text`, and has an `outline()` for value.
    """
    if len(payload) > LARGE:
        try:
            return {"text": payload.decode()}, outline(payload)
        except UnicodeDecodeError:
            return {"b64": payload}, UNPARSED
    try:
        value = loads(payload)
    except ValueError:
        value = UNPARSED
    else:
        if (
            b"\n" not in payload
            and b"\r" not in payload
            and payload[0] not in b" \t"
            and payload[-1] not in b" \t"
        ):
            return {"body": Raw(payload)}, value
    try:
        return {"text": payload.decode()}, value
    except UnicodeDecodeError:
        return {"b64": payload}, UNPARSED


def spliced(payload: bytes) -> Json:
    """Parse a payload that `carrier()` would put into `body`; `UNPARSED` for any other."""
    if _LF in payload or _CR in payload:  # numbers: bytes take five times as long
        return UNPARSED
    return spliced_line(payload)


def spliced_line(payload: bytes) -> Json:
    """Parse like `spliced()` what is known to have no line break."""
    if not payload or len(payload) > LARGE or payload[0] != _OPEN or payload[-1] != _CLOSE:
        return UNPARSED
    try:
        return _json.decode(payload)
    except (ValueError, RecursionError):
        return UNPARSED  # `carrier()` looks again


def outline(payload: bytes) -> Json:
    """Give the members of a large message that linking looks at; `UNPARSED` for no JSON object.

    It costs a scan, and no object for anything else, however many there are.  A member that is
    itself large is taken apart once more, or None: its presence can still be seen.
    """
    try:
        return _known(_envelope.decode(payload), deeper=True)
    except (ValueError, RecursionError):
        return UNPARSED


def _known(members: Struct, *, deeper: bool) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for name, wire_name in zip(
        members.__struct_fields__, members.__struct_encode_fields__, strict=True
    ):
        raw = getattr(members, name)
        if raw is UNSET:
            continue
        data = memoryview(raw)
        if len(data) <= _SMALL:
            found[wire_name] = _json.decode(data)
        elif deeper and data[0] == _OPEN:
            found[wire_name] = _known(_content.decode(data), deeper=False)
        else:
            found[wire_name] = None
    return found


def value_of(record: Payload) -> Json:
    """Parse what a record carries; `UNPARSED` when it is no JSON, or only a prefix of it."""
    if record.truncated:
        return UNPARSED
    data: str | Raw | UnsetType = record.body
    if data is UNSET:
        if record.text is None:
            return UNPARSED
        data = record.text
        if len(data) > LARGE // 4:
            payload = data.encode()
            if len(payload) > LARGE:
                return outline(payload)
    try:
        return _json.decode(data)
    except RecursionError:
        return whole_value(data)
    except ValueError:
        return UNPARSED


def whole_value(payload: bytes | str | Raw) -> Json:
    """Parse all of a payload, however large; `UNPARSED` for what is no strict JSON."""
    try:
        return loads(payload)
    except ValueError:
        return UNPARSED


def dumps(value: Json) -> bytes:
    """Render JSON on one line, keys in the order given, integers of any size."""
    return msgspec.json.encode(value)


_json = msgspec.json.Decoder()


def _looked_at(*names: str) -> msgspec.json.Decoder[Struct]:
    """Make a decoder that skips all members but these."""
    fields = [(name.lstrip("_"), Raw | UnsetType, UNSET) for name in names]
    kind = msgspec.defstruct("Members", fields, rename={n.lstrip("_"): n for n in names})
    return msgspec.json.Decoder(kind)


_envelope = _looked_at("jsonrpc", "id", "method", "params", "result", "error")
_content = _looked_at(
    # of params
    "_meta", "name", "uri", "arguments", "requestState", "inputResponses", "taskId", "requestId",
    "progressToken", "protocolVersion", "clientInfo", "capabilities", "elicitationId", "message",
    "mode", "url", "requestedSchema",
    # of result and error
    "resultType", "isError", "inputRequests", "content", "structuredContent", "status", "task",
    "statusMessage", "serverInfo", "action", "result", "error", "code", "data", "tools",
)  # fmt: skip
