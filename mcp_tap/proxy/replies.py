"""What the tap itself answers, always marked as its own."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from mcp_tap.core.spec import INTERNAL_ERROR
from mcp_tap.core.wire import UNPARSED, dumps, loads
from mcp_tap.net.heads import RawHeaders, StatusLine, lines, response_head

if TYPE_CHECKING:
    from mcp_tap.core.records import How

MARK_HEADER = b"Mcp-Tap-Error"

_REASONS = {
    200: b"OK",
    400: b"Bad Request",
    403: b"Forbidden",
    431: b"Request Header Fields Too Large",
    502: b"Bad Gateway",
    504: b"Gateway Timeout",
}


class Reply(Struct, frozen=True, kw_only=True):
    """A response the tap made up."""

    status: int
    code: str
    """Stable short name of the fault, the value of the marking header."""
    why: str
    headers: RawHeaders
    body: bytes

    @property
    def line(self) -> StatusLine:
        """Its status line."""
        return StatusLine(self.status, _REASONS[self.status], "1.1")

    def head(self, *, close: bool) -> bytes:
        """Write its head."""
        return response_head(self.line, lines(self.headers), close=close)


def make_reply(
    status: int, code: str, why: str, request_body: bytes = b"", *, number: int = INTERNAL_ERROR
) -> Reply:
    """Make a response: a JSON-RPC error where the request had an id, else plain text.

    Args:
        status: of the response.
        code: short name of the fault.
        why: in words.
        request_body: what it answers.
        number: JSON-RPC's code.
    """
    request_id = _request_id(request_body)
    if request_id is UNPARSED:
        content_type, body = b"text/plain; charset=utf-8", f"mcp-tap: {why}\n".encode()
    else:
        content_type = b"application/json"
        body = dumps({"jsonrpc": "2.0", "id": request_id, "error": error_of(code, why, number)})
    headers = [
        (b"Content-Type", content_type),
        (b"Content-Length", b"%d" % len(body)),
        (MARK_HEADER, code.encode()),
    ]
    return Reply(status=status, code=code, why=why, headers=headers, body=body)


def error_of(code: str, why: str, number: int = INTERNAL_ERROR) -> dict[str, Any]:
    """Make the error of a JSON-RPC response that the tap made up; arguments as above."""
    data = {"sender": "mcp-tap", "error": code}
    return {"code": number, "message": f"mcp-tap: {why}", "data": data}


def unconnected(error: OSError, url: str) -> tuple[int, str, str, How]:
    """Say why there is no connection to `url`: status, code, words, how the exchange ended."""
    if isinstance(error, TimeoutError):
        return 504, "upstream-timeout", f"no connection to {url} in time", "timeout"
    words = error.strerror or str(error) or type(error).__name__
    if error.errno in (errno.EMFILE, errno.ENFILE):  # the server has no part in that
        return 502, "tap-failed", f"mcp-tap cannot connect to {url}: {words}", "tap_failed"
    return 502, "upstream-down", f"no answer from {url}: {words}", "upstream_down"


def _request_id(body: bytes) -> Any:
    try:
        value = loads(body)
    except ValueError:
        return UNPARSED
    if not isinstance(value, dict) or "method" not in value:
        return UNPARSED
    found = value.get("id")
    return found if isinstance(found, str | int | float) else UNPARSED
