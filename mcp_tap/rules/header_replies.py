"""What servers do with requests whose headers are wrong, and with those whose headers are right."""

from __future__ import annotations

from typing import Final

from mcp_tap.core.facts.flow import Flow
from mcp_tap.core.facts.message import Message, is_masked
from mcp_tap.core.mirrored import argument
from mcp_tap.core.spec import (
    CLIENT_CAPABILITIES,
    HEADER_MISMATCH,
    HEADER_NAME,
    HEADER_VERSION,
    INVALID_PARAMS,
    META_CLIENT,
    META_VERSION,
    METHOD_NOT_FOUND,
    UNSUPPORTED_VERSION,
)
from mcp_tap.core.text import brief
from mcp_tap.rules.base import Hit, Hits, rule
from mcp_tap.rules.mirrored import NAMED, was_read
from mcp_tap.rules.mirrored_params import can_travel

_NEEDED: Final = (META_VERSION, META_CLIENT, CLIENT_CAPABILITIES)
_ELSEWHERE: Final = frozenset({401, 403, 404, 405, 407, 408, 413, 415, 429})
"""Refusals that have nothing to do with what the headers repeat."""


@rule(
    "HDR-013",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/basic/transports/streamable-http#server-validation",
    on=("after", "error", "closed"),
    transports=("http",),
    consequence=True,
    steady=("closed",),
)
def header_violation_not_rejected(m: Message | Flow) -> Hits:
    """A server does not refuse wrong headers with 400 and -32020, or refuses right ones with it.

    Whoever routes by the headers is deceived where the server goes by the body and takes the
    request all the same: that is an error.  A refusal with another status or code is a warning, and
    so is a result where nothing but MCP-Protocol-Version was missing, since a server of old may
    take that for an older revision.  Where the request can be refused for something else as well
    (its revision, missing members of `_meta`, an unknown method), that code is as good.

    The other way round it is a warning where nothing is wrong with the headers as far as anybody
    can tell: names in lower case, blanks around values and Base64 that was not needed are legal.
    Tool calls are left out there unless the tool's definition was seen.
    """
    if type(m) is Flow:
        return _closed(m)
    if type(m) is not Message or m.request is None or m.flow.responses:
        return None
    demanding = _demanding(m.flow)
    if not demanding:
        return _refused(m) if m.event == "error" else None
    if m.event == "result":
        mild = demanding == ["HDR-001"]
        return Hit(
            f"server answered a request whose headers are wrong ({', '.join(demanding)})",
            spot="headers",
            severity="warning" if mild else None,
        )
    code = m.error.get("code") if type(m.error) is dict else None
    status = m.flow.status
    if (status == 400 and code == HEADER_MISMATCH) or _is_as_good(m, code):
        return None
    return Hit(
        f"server refused a request whose headers are wrong with status {status} and code"
        f" {brief(code, 20)}, not with 400 and {HEADER_MISMATCH}",
        "/error/code",
        "headers",
        severity="warning",
        once=("exchange", m.flow.exchange.number),  # it comes by two ways
    )


def _demanding(flow: Flow) -> list[str]:
    """Give the rules that found something for which the request must be refused."""
    found = was_read(flow.memo)
    return [
        name
        for name in sorted(found)
        if any(hit.severity in (None, "error") for hit in found[name])
    ]


def _is_as_good(m: Message, code: object) -> bool:
    """Tell whether a request was refused for something else that is wrong with it, or may be."""
    request = m.request
    if code == UNSUPPORTED_VERSION or (code == METHOD_NOT_FOUND and m.flow.status == 404):
        return True
    if request is None:
        return True
    return code == INVALID_PARAMS and any(key not in request.meta for key in _NEEDED)


def _closed(flow: Flow) -> Hits:
    """Judge a refusal without a JSON-RPC error."""
    status = flow.status
    if status is None or not 400 <= status < 500 or status in _ELSEWHERE:
        return None
    if flow.request is None or flow.responses or flow.exchange.answered:
        return None
    demanding = _demanding(flow)
    if not demanding or flow.exchange.how != "complete":
        return None
    return Hit(
        f"server refused a request whose headers are wrong with status {status} and no JSON-RPC"
        f" error, not with 400 and {HEADER_MISMATCH}",
        spot="headers",
        severity="warning",
    )


def _refused(m: Message) -> Hits:
    """Judge a refusal of headers in which nothing was found."""
    request = m.request
    if m.code != HEADER_MISMATCH or request is None:
        return None
    if was_read(m.flow.memo) or "TASK-007" in (request.fired or ()) or _is_unknown(request):
        return None
    return Hit(
        f"server refused headers with {HEADER_MISMATCH}, although nothing is wrong with them",
        "/error/code",
        "headers",
        severity="warning",
    )


def _is_unknown(request: Message) -> bool:
    """Tell whether there may be something wrong with the headers that cannot be seen from here."""
    fields, meta, method = request.flow.fields, request.meta, request.method or ""
    if type(meta.get(META_VERSION)) is not str or len(fields.get(HEADER_VERSION, ())) != 1:
        return True
    key = NAMED.get(method)
    name = request.params.get(key) if key is not None else None
    if HEADER_NAME in fields and key is None:
        return True
    if key is not None and type(name) is not str:
        return True
    if any(name.startswith("mcp-") and any(map(is_masked, fields[name])) for name in fields):
        return True
    return method == "tools/call" and _is_call_unknown(request)


def _is_call_unknown(call: Message) -> bool:
    """Tell whether a tool's definition, or how an argument travels, cannot be known."""
    tools = call.flow.seen.tools
    tool = tools.of(call)
    if tool is None or tool.mirrored is None or not tools.is_fresh(tool):
        return True
    given = [argument(call.params.get("arguments"), entry.path) for entry in tool.mirrored]
    return any(not can_travel(v) or (type(v) is float and not v.is_integer()) for v in given)
