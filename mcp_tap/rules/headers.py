"""Headers that repeat what a request says, so that what lies between can route by them."""

from __future__ import annotations

from typing import Final

from mcp_tap.core.facts.flow import MODERN
from mcp_tap.core.facts.message import Message, is_masked
from mcp_tap.core.spec import HEADER_SESSION, HEADER_VERSION, INITIALIZE, META_VERSION
from mcp_tap.core.text import brief
from mcp_tap.rules.base import ALL, Hits, rule
from mcp_tap.rules.mirrored import other, reading, version_hit

_PAGE: Final = "specification/2026-07-28/basic/transports/streamable-http"


@rule(
    "HDR-001",
    severity="error",
    level="must",
    blames="client",
    spec=f"{_PAGE}#protocol-version-header",
    on="request",
    transports=("http",),
    steady=True,
)
def missing_version_header(m: Message) -> Hits:
    """A request declares its revision in `_meta`, but not in the MCP-Protocol-Version header.

    What lies between client and server reads the revision in the header alone, and some servers
    take a request without it for one of 2025-03-26.  Notifications need no such header in this
    revision, and a request that declares no revision anywhere is judged by other rules.
    """
    return reading(m).get("HDR-001")


@rule(
    "HDR-002",
    severity="error",
    level="must",
    blames="client",
    spec=f"{_PAGE}#protocol-version-header",
    on="request",
    versions=(*ALL, "other"),
    transports=("http",),
    steady=True,
)
def version_header_mismatch(m: Message) -> Hits:
    """The MCP-Protocol-Version header is not the revision of the request.

    In `_meta` stands which revision the request follows; a server has to refuse it where the header
    says something else.  The header may come several times only with one and the same value.  In
    sessions of older revisions, whose requests declare nothing in `_meta`, it is compared with what
    `initialize` settled, and then this is a warning.  Blanks around the value mean nothing.
    """
    band = m.flow.band
    if band == MODERN or META_VERSION in m.meta:
        return reading(m).get("HDR-002")
    return _in_session(m) if band != "other" else None


def _in_session(m: Message) -> Hits:
    settled = m.flow.seen.session.version
    if settled is None or is_masked(settled) or m.method == INITIALIZE:
        return None
    values = m.flow.fields.get(HEADER_VERSION)
    wrong = other(values, settled) if values is not None else None
    if wrong is None:
        return None
    if HEADER_SESSION not in m.flow.fields and any(
        seen.session.version == wrong for seen in m.flow.seen.run.clients.values()
    ):
        return None  # without a session id it may be of another client that looks the same
    return version_hit(wrong, f"initialize settled on {brief(settled, 40)}", "", "warning")


@rule(
    "HDR-003",
    severity="error",
    level="must",
    blames="client",
    spec=f"{_PAGE}#standard-request-headers",
    on="request",
    transports=("http",),
    steady=True,
)
def missing_method_header(m: Message) -> Hits:
    """A request comes without the Mcp-Method header.

    Gateways route and limit by it without reading the body; a server has to refuse the request.
    Notifications are not judged, and neither are requests of older revisions.
    """
    return reading(m).get("HDR-003")


@rule(
    "HDR-004",
    severity="error",
    level="must",
    blames="client",
    spec=f"{_PAGE}#server-validation",
    on="request",
    transports=("http",),
    steady=True,
)
def method_header_mismatch(m: Message) -> Hits:
    """The Mcp-Method header is not the method in the body.

    One of the two decides what a gateway lets through, the other what the server does.  Letter case
    counts in the value, not in the header's name; blanks around the value mean nothing; there is no
    Base64 form of it.
    """
    return reading(m).get("HDR-004")


@rule(
    "HDR-005",
    severity="error",
    level="must",
    blames="client",
    spec=f"{_PAGE}#standard-request-headers",
    on=("request tools/call", "request prompts/get", "request resources/read"),
    transports=("http",),
    steady=True,
)
def missing_name_header(m: Message) -> Hits:
    """A tool call, prompt or resource is asked for without the Mcp-Name header.

    This holds for every round of a call.  Other methods need no Mcp-Name, and where the request
    itself names nothing there is nothing to repeat.
    """
    return reading(m).get("HDR-005")


@rule(
    "HDR-006",
    severity="error",
    level="must",
    blames="client",
    spec=f"{_PAGE}#server-validation",
    on=("request tools/call", "request prompts/get", "request resources/read"),
    transports=("http",),
    steady=True,
)
def name_header_mismatch(m: Message) -> Hits:
    """The Mcp-Name header is not the tool, prompt or resource the request names.

    Who is allowed one tool by its header could call another by the body.  The Base64 form is undone
    first, also where it was not needed; a damaged one is HDR-008, a value that should have been
    encoded HDR-007.
    """
    return reading(m).get("HDR-006")


@rule(
    "HDR-007",
    severity="error",
    level="must",
    blames="client",
    spec=f"{_PAGE}#value-encoding",
    on=("request tools/call", "request prompts/get", "request resources/read"),
    transports=("http",),
    steady=True,
)
def unsafe_header_value_not_encoded(m: Message) -> Hits:
    """A value that cannot travel in a header as it is was not put into the Base64 form.

    That is so for letters beyond ASCII, control characters, blanks at either end, and for text that
    itself looks like the Base64 form: such values are changed on the way, or read as something
    else.  Blanks within are safe, and so is an empty value.  A tab within is a control character,
    but also named among those a header may have: nothing is said where it arrives as it was.
    `Mcp-Param-*` headers are judged where the tool's definition was seen.
    """
    return reading(m).get("HDR-007")


@rule(
    "HDR-008",
    severity="error",
    level="must",
    blames="client",
    spec=f"{_PAGE}#value-encoding",
    on="request",
    transports=("http",),
    steady=True,
)
def bad_base64_sentinel(m: Message) -> Hits:
    """A header value in Base64 form is damaged.

    It starts like `=?base64?...?=`, but a mark is in capitals or missing, or what stands between is
    no Base64 of UTF-8 text.  A name that merely looks so, and travels plainly, is none.
    """
    return reading(m).get("HDR-008")
