"""What kind of result a result says it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_tap.core.spec import INPUT_REQUIRED, KNOWN_EXTENSIONS
from mcp_tap.core.text import brief
from mcp_tap.rules.base import Hit, Hits, rule

if TYPE_CHECKING:
    from mcp_tap.core.facts.message import Message

_TASK = "task"
_KNOWN = frozenset({"complete", INPUT_REQUIRED, _TASK})


@rule(
    "RPC-010",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/basic#result-responses",
    on="result",
    steady=True,
)
def missing_result_type(m: Message) -> Hits:
    """A result does not say its type.

    `resultType` tells a client how to read the rest: as the final content, as questions, or as what
    an extension defines.  Clients take a result without it for one of an older server, and for
    complete.

    Holds for results of requests that declared revision 2026-07-28 or later themselves.  A result
    that asks for input without saying so is the business of another rule.
    """
    result = m.result
    if result is None or "resultType" in result:
        return None
    if m.request is None or m.flow.exchange.version is None:
        return None
    return Hit("server sent a result without resultType", "/result", spot="resultType")


@rule(
    "RPC-011",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/basic#resulttype",
    on="result",
    steady=True,
)
def unknown_result_type(m: Message) -> Hits:
    """A result says it is of a type its client cannot know.

    Types are `complete`, `input_required` and those of extensions the client declared with this
    very request.  A client must take any other for an invalid response, so all of it is lost.

    Only a note where the client declared an extension of which nobody here knows the result types.
    The type `task` without its extension is found by a rule of its own.
    """
    result = m.result
    if result is None or m.request is None:
        return None
    kind = result.get("resultType", "complete")
    if type(kind) is str and kind in _KNOWN:
        return None
    path = "/result/resultType"
    if type(kind) is not str:
        return Hit("server sent a result whose resultType is not a string", path)
    words = f"server sent a result of type {brief(kind, 40)}, which "
    if not m.flow.extensions.keys() <= KNOWN_EXTENSIONS:
        more = "may be one of an extension the client declared"
        return Hit(words + more, path, severity="note")
    return Hit(words + "neither the protocol nor a declared extension defines", path)
