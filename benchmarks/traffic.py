"""The bytes of the benchmark: what clients send, what the stub upstream answers.

Request and JSON answer have the sizes of real `tools/call` traffic: 700 B and 1 KB.
"""

from __future__ import annotations

JSON = "/mcp"
SSE = "/mcp/sse"
PACED = "/mcp/paced"
"""`?n=EVENTS&ms=GAP`: one event at a time, each stamped with the monotonic clock (ns)."""
BIG = "/mcp/big"
"""`?mb=SIZE`: a body of that size; `?type=` its content type."""

_META = (
    b'"_meta":{"progressToken":%d,"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
    b'"io.modelcontextprotocol/clientInfo":{"name":"load","version":"1.0"},'
    b'"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}}}}'
)
_BODY = (
    b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"search","arguments":'
    b'{"query":"seats by the window, two together, not over the wing, on the morning flight",'
    b'"limit":10,"offset":0,"currency":"SEK"},' + _META + b"}}"
)
_HEAD = (
    "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    "Accept: application/json, text/event-stream\r\nUser-Agent: load/1.0\r\n"
    "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: search\r\n"
)
_FORMS = 'version = 1\n[[answer]]\nmatch = { key = "day" }\ncontent = { day = "tue" }\n'
_ROOTS = '[[answer]]\nmatch = { ask = "roots" }\nroots = [{ uri = "file:///srv" }]\n'
SCRIPTS = {"tap --answers": _FORMS, "tap --answers, declaring": _FORMS + _ROOTS}
"""Answers to what is never asked; the client declares the first itself."""
FIRST_ID = 1_000_000_000
"""Ids have ten digits throughout, so that all requests have the same length."""

_LENGTH = len(_BODY % (FIRST_ID, FIRST_ID))
_TEXT = b"The quick brown fox books a window seat. " * 18
RESULT = (
    b'"result":{"resultType":"complete","content":[{"type":"text","text":"' + _TEXT + b'"}],'
    b'"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"stub","version":"1.0"}}}}'
)


def request_head(path: str, port: int) -> bytes:
    """Write the head of a request whose body is `request_body`."""
    return (_HEAD.format(path=path, port=port) + f"Content-Length: {_LENGTH}\r\n\r\n").encode()


def request_body(request_id: int) -> bytes:
    """Write the body of one request."""
    return _BODY % (request_id, request_id)


def upload_head(path: str, port: int, size: int) -> bytes:
    """Write the head of a request with a body of any size."""
    return (_HEAD.format(path=path, port=port) + f"Content-Length: {size}\r\n\r\n").encode()


def json_answer(request_id: bytes) -> bytes:
    """Write a whole JSON answer."""
    body = b'{"jsonrpc":"2.0","id":' + request_id + b"," + RESULT
    return (
        b"HTTP/1.1 200 OK\r\nDate: Tue, 28 Jul 2026 12:00:00 GMT\r\nServer: stub\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    ) + body


SSE_HEAD = (
    b"HTTP/1.1 200 OK\r\nDate: Tue, 28 Jul 2026 12:00:00 GMT\r\nServer: stub\r\n"
    b"Content-Type: text/event-stream\r\nCache-Control: no-cache\r\nX-Accel-Buffering: no\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)
LAST_CHUNK = b"0\r\n\r\n"


def chunk(data: bytes) -> bytes:
    """Frame data as one chunk."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def event(data: bytes) -> bytes:
    """Frame a message as one server-sent event in one chunk."""
    return chunk(b"event: message\ndata: " + data + b"\n\n")


def progress(request_id: bytes, number: int, message: bytes = b"working") -> bytes:
    """Write one progress notification as an event; a request's token is its id."""
    return event(
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%b,'
        b'"progress":%d,"total":3,"message":"%b"}}' % (request_id, number, message)
    )


def last_event(request_id: bytes) -> bytes:
    """Write the event with the result."""
    return event(b'{"jsonrpc":"2.0","id":' + request_id + b"," + RESULT)
