"""Messages as far as a bridge looks at them, and the tokens it changes in them.

Bytes pass as they are.  Only what the other transport cannot carry is changed: line breaks between
tokens become blanks, and single tokens (an id, a progress token) are put in the place of others.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from mcp_tap.core.spec import INTERNAL_ERROR
from mcp_tap.core.splice import Edit, find, spliced
from mcp_tap.core.wire import LARGE, UNPARSED, dumps, outline, whole_value

Path: TypeAlias = tuple[str, ...]
_BREAKS = bytes.maketrans(b"\r\n", b"  ")
SENDER = "mcp-tap bridge"


class Said(Struct, frozen=True):
    """A message, and what is known of it."""

    kind: Literal["request", "notification", "response"]
    data: bytes
    """Its bytes, on one line."""
    value: dict[str, Any]
    """Its members; of a large one those that matter here."""

    @property
    def id(self) -> Any:
        """Its id; None without one."""
        return self.value.get("id")

    @property
    def method(self) -> str:
        """Its method; empty for a response."""
        method = self.value.get("method")
        return method if type(method) is str else ""

    @property
    def params(self) -> dict[str, Any]:
        """Its parameters."""
        return _object(self.value.get("params"))

    @property
    def meta(self) -> dict[str, Any]:
        """`_meta` of its parameters."""
        return _object(self.params.get("_meta"))

    @property
    def result(self) -> dict[str, Any]:
        """Its result."""
        return _object(self.value.get("result"))

    @property
    def code(self) -> int | None:
        """Code of its error; None where it is none."""
        code = _object(self.value.get("error")).get("code")
        return code if type(code) is int else None

    def answers(self, request: Said) -> bool:
        """Tell whether it is the response to a request."""
        return self.kind == "response" and is_id(self.id) and bool(self.id == request.id)

    def token(self, *path: str) -> bytes | None:
        """Give the bytes of a member; None where there is none.

        Raises:
            SpliceError: a member on the way is named twice.
        """
        span = find(self.data, *path)
        return None if span is None else self.data[span.start : span.end]

    def with_tokens(self, tokens: dict[Path, bytes]) -> bytes:
        """Give the message with other tokens in the place of members that it has.

        Raises:
            SpliceError: a member on the way is named twice.
        """
        edits = []
        for path, token in tokens.items():
            span = find(self.data, *path)
            if span is not None:
                edits.append(Edit(span.start, span.end, token))
        return spliced(self.data, edits)


def read(data: bytes) -> Said | None:
    """Read a message; None for what is none."""
    line = data.strip(b" \t\r\n").translate(_BREAKS)
    value = outline(line) if len(line) > LARGE else whole_value(line)
    if value is UNPARSED or type(value) is not dict:
        return None
    if type(value.get("method")) is str:
        return Said("request" if "id" in value else "notification", line, value)
    if "result" in value or "error" in value:
        return Said("response", line, value)
    return None


def is_id(value: Any) -> bool:
    """Tell whether a request may have this for its id."""
    return type(value) in (str, int, float)


def own_error(token: bytes | None, name: str, why: str, *, code: int = INTERNAL_ERROR) -> bytes:
    """Write an error response of the bridge's own.

    Args:
        token: the request's id as it is written; None: there is none to name.
        name: stable short name of the fault.
        why: in words.
        code: JSON-RPC's code.
    """
    data = {"sender": SENDER, "error": name}
    error = dumps({"code": code, "message": f"{SENDER}: {why}", "data": data})
    return error_with(token, error)


def error_with(token: bytes | None, error: bytes) -> bytes:
    """Write an error response with this id, where there is one, and this error."""
    shown = b"" if token is None else b'"id":%b,' % token
    return b'{"jsonrpc":"2.0",%b"error":%b}' % (shown, error)


def _object(value: Any) -> dict[str, Any]:
    return value if type(value) is dict else {}
