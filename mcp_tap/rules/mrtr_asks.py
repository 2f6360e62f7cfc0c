"""Multi round-trip requests: the entries of `inputRequests`."""

from __future__ import annotations

from typing import Final

from mcp_tap.core.facts.ask import Ask
from mcp_tap.core.forms import json_type
from mcp_tap.core.spec import ASKING, ELICIT, SAMPLE
from mcp_tap.core.text import brief
from mcp_tap.rules.base import Hit, Hits, rule

_MRTR: Final = "specification/2026-07-28/basic/patterns/mrtr"


@rule(
    "MRTR-005",
    severity="error",
    level="must",
    blames="server",
    spec=f"{_MRTR}#server-requirements-basic-workflow",
    on="ask other",
)
def input_request_unknown_method(ask: Ask) -> Hits:
    """An input request names a method a client cannot be asked for.

    A server may ask for `elicitation/create`, `sampling/createMessage` and `roots/list`, and for
    nothing else: no `ping`, no `tools/call`, no method of a vendor.  An entry without a method, or
    with one that is no string, is malformed instead (MRTR-006).
    """
    if ask.method is None or ask.origin == "pushed":
        return None
    return Hit(
        f"server asks for {brief(ask.method, 40)} under {brief(ask.key, 40)}, "
        "which is no input request",
        ask.path + "/method",
        ask.key,
    )


@rule(
    "MRTR-006",
    severity="error",
    level="must",
    blames="server",
    spec=f"{_MRTR}#inputrequests",
    on="ask",
)
def input_request_entry_malformed(ask: Ask) -> Hits:
    """An input request is no object with a method, or lacks the params it needs.

    An entry of `inputRequests` is a request without its envelope: `method`, and `params` as an
    object.  Elicitation and sampling mean nothing without params; `roots/list` needs none.  A whole
    JSON-RPC request in place of an entry (`jsonrpc`, `id`) can be understood, so that is a note
    only.
    """
    if ask.origin == "pushed":
        return None
    found = _malformed(ask)
    if found is not None:
        what, where = found
        return Hit(f"server sends {what}", ask.path + where, ask.key)
    if "jsonrpc" in ask.entry or "id" in ask.entry:
        what = f"input request {brief(ask.key, 40)} in the envelope of a JSON-RPC request"
        return Hit(f"server sends {what}", ask.path, severity="note")
    return None


def _malformed(ask: Ask) -> tuple[str, str] | None:
    """Say what is wrong with an entry, and where in it."""
    entry, what = ask.entry, f"input request {brief(ask.key, 40)}"
    if type(entry) is not dict:
        return f"{json_type(entry)} as {what} instead of an object", ""
    if ask.method is None:
        return f"{what} without a method", ""
    if "params" in entry and type(entry["params"]) is not dict:
        return f"{json_type(entry['params'])} as params of {what} instead of an object", "/params"
    if "params" not in entry and ask.method in (ELICIT, SAMPLE):
        return f"{what} without params, which {ask.method} needs", ""
    return None


@rule(
    "MRTR-007",
    severity="error",
    level="must",
    blames="server",
    spec=f"{_MRTR}#server-requirements-basic-workflow",
    on="ask",
)
def input_request_undeclared_capability(ask: Ask) -> Hits:
    """A server asks for something this very request did not declare.

    What a client can do is said anew in every request, and only that counts: what an earlier
    request declared is no licence.  A client without the capability has nobody to ask.  Modes of
    elicitation and tools of sampling have rules of their own, and a request that says nothing at
    all of its capabilities is at fault itself.
    """
    needed = ASKING.get(ask.method or "")
    if needed is None or ask.origin == "pushed" or ask.message.event != "result":
        return None
    declared = ask.flow.capabilities
    if declared is None or needed in declared:
        return None
    return Hit(
        f"server asks for {ask.method} under {brief(ask.key, 40)} though the request did not "
        f"declare {needed}",
        ask.path,
        ask.key,
    )
