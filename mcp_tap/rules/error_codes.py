"""Errors: their codes, the statuses they travel with, and the data they owe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mcp_tap.core.spec import (
    CLIENT_CAPABILITIES,
    HEADER_MISMATCH,
    HEADER_VERSION,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    KNOWN_EXTENSIONS,
    META_VERSION,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    UNSUPPORTED_VERSION,
    URL_REQUIRED,
)
from mcp_tap.rules.base import ALL, Hit, Hits, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp_tap.core.facts.message import Message

_TYPED: Final = frozenset({MISSING_CAPABILITY, UNSUPPORTED_VERSION})
_DEFINED: Final = frozenset({HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION})
_NO_RESOURCE: Final = -32002
_NO_REQUEST: Final = frozenset({"RPC-002", "RPC-003", "RPC-006"})
"""Rules that find what JSON-RPC itself refuses, with -32600."""
_JSON_RPC: Final = frozenset(
    {-32700, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR}
)
_DRAFTS: Final = {
    -32001: HEADER_MISMATCH,
    -32003: MISSING_CAPABILITY,
    -32004: UNSUPPORTED_VERSION,
}
_DEEPEST: Final = 4
_MOST_NAMES: Final = 100
_CODE: Final = "/error/code"
_DATA: Final = "/error/data"


@rule(
    "ERR-001",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/basic#error-codes",
    on="error",
)
def undefined_reserved_code(m: Message) -> Hits:
    """An error has a code from the range that only the specification may give out.

    From -32020 to -32099 the specification defines -32020, -32021 and -32022 so far.  What a server
    makes up there will mean something else to clients of a later revision; codes of an application
    belong outside of -32768 to -32000.

    Silent where the client declared an extension that may define the code.  The code -32042 of the
    revision before has a rule of its own.
    """
    code = m.code
    if code is None or not -32099 <= code <= -32020 or m.request is None:
        return None
    if code in _DEFINED or code == URL_REQUIRED:
        return None
    if not m.flow.extensions.keys() <= KNOWN_EXTENSIONS:
        return None
    return Hit(f"server sent error {code}, which this revision does not define", _CODE)


@rule(
    "ERR-002",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/basic#error-codes",
    on="error",
)
def retired_resource_code(m: Message) -> Hits:
    """An error says "resource not found" with the code of older revisions.

    Revision 2026-07-28 replaced -32002 by -32602 and forbids the old code: a client may take the
    server for one of the session era by it.  In sessions of older revisions it is the right one.
    """
    if m.code != _NO_RESOURCE or m.request is None:
        return None
    return Hit("server sent error -32002, which -32602 replaced in this revision", _CODE)


@rule(
    "ERR-003",
    severity="note",
    level="should",
    blames="server",
    spec="specification/2026-07-28/basic#error-codes",
    on="error",
)
def legacy_range_code(m: Message) -> Hits:
    """An error has a code that JSON-RPC reserves and nobody has defined.

    Codes from -32000 to -32019 were given out before there were rules for it: clients must not read
    any meaning into them, and new servers should not use them.  Neither should they use the rest of
    -32768 to -32100, apart from the five codes of JSON-RPC.

    Drafts of the revision had -32001, -32003 and -32004 for what became -32020, -32021 and -32022.
    Codes outside of the reserved block are free.
    """
    code = m.code
    if code is None or m.request is None or code == _NO_RESOURCE:
        return None
    if -32019 <= code <= -32000:
        words = f"server sent error {code} from the legacy range, which means nothing to clients"
        if code in _DRAFTS:
            words += f"; drafts of the revision used it for today's {_DRAFTS[code]}"
        return Hit(words, _CODE)
    if -32768 <= code <= -32100 and code not in _JSON_RPC:
        return Hit(f"server sent error {code}, which JSON-RPC reserves and nobody defined", _CODE)
    return None


@rule(
    "ERR-004",
    severity="error",
    level="must",
    blames="sender",
    spec="specification/2026-07-28/basic#error-responses",
    on=("error", "client_response"),
    versions=ALL,
)
def error_object_malformed(m: Message) -> Hits:
    """An error has no integer for a code, or no string for a message.

    Programs decide by the code, people read the message.  An error a client cannot read into its
    type is often lost together with the response, and the call hangs.  `data` may be anything.
    """
    error = m.error
    if type(error) is dict:
        code = error.get("code")
        if type(code) is int and type(error.get("message")) is str:
            return None
        return list(_members(m, error))
    if "error" not in m.value or ("result" in m.value and error is None):
        return None
    return Hit(f"{m.sender} sent an error that is not an object", "/error")


def _members(m: Message, error: dict[str, Any]) -> Iterator[Hit]:
    if "code" not in error:
        yield Hit(f"{m.sender} sent an error without a code", "/error", spot="code")
    elif m.code is None:
        yield Hit(f"{m.sender} sent an error whose code is not an integer", _CODE)
    if "message" not in error:
        yield Hit(f"{m.sender} sent an error without a message", "/error", spot="message")
    elif type(error["message"]) is not str:
        yield Hit(f"{m.sender} sent an error whose message is not a string", "/error/message")


@rule(
    "ERR-005",
    severity="warning",
    level="must",
    blames="server",
    spec="specification/2026-07-28/basic/transports/streamable-http#protocol-version-header",
    on="error",
    transports=("http",),
)
def error_http_status_mismatch(m: Message) -> Hits:
    """An error of the protocol travels with the wrong HTTP status.

    An unknown method is answered with 404; a wrong header, a missing capability, an unsupported
    revision and a request without its required `_meta` with 400.  Gateways and clients that look
    for the era of a server go by the status.

    All other errors may have any.  Silent where the error ends a stream that had delivered
    something: its status was long sent.
    """
    code, status = m.code, m.flow.status
    if code is None or status is None or m.request is None:
        return None
    if code == METHOD_NOT_FOUND:
        needed = 404
    elif code in _DEFINED or (code == INVALID_PARAMS and _lacks_meta(m.request)):
        needed = 400
    else:
        return None
    if status == needed or (m.flow.streams and m.flow.exchange.messages > 1):
        return None
    words = f"server sent error {code} with HTTP status {status}, which goes with {needed}"
    return Hit(words, _CODE, spot="status")


def _lacks_meta(request: Message) -> bool:
    fired = request.fired
    return fired is not None and ("META-001" in fired or "META-002" in fired)


@rule(
    "ERR-006",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/schema#missingrequiredclientcapabilityerror",
    on="error",
)
def typed_error_data_malformed(m: Message) -> Hits:
    """An error lacks the data by which a client could do better, or they contradict the request.

    Error -32021 lists the capabilities that are missing, as an object like the one clients declare;
    -32022 lists the revisions a server supports and repeats the one requested.  Clients try again
    by them, without a person.

    A warning where the data are well-formed and cannot be true: all required capabilities were
    declared, another revision was requested, or the requested one is among the supported ones.
    """
    code = m.code
    if code not in _TYPED or m.request is None:
        return None
    data = m.error.get("data")
    if type(data) is not dict:
        what = "whose data are not an object" if "data" in m.error else "without data"
        path = _DATA if "data" in m.error else "/error"
        return Hit(f"server sent error {code} {what}", path, spot="data")
    if code == MISSING_CAPABILITY:
        return _capabilities(m.request, data)
    return list(_versions(m, m.request, data))


def _capabilities(request: Message, data: dict[str, Any]) -> Hit | None:
    required = data.get("requiredCapabilities")
    path = _DATA + "/requiredCapabilities"
    start = f"server sent error {MISSING_CAPABILITY} "
    if "requiredCapabilities" not in data:
        return Hit(start + "without requiredCapabilities", _DATA, spot="requiredCapabilities")
    if type(required) is not dict:
        return Hit(start + "whose requiredCapabilities are not an object", path)
    if not required:
        return Hit(start + "whose requiredCapabilities name none", path)
    declared = request.meta.get(CLIENT_CAPABILITIES)
    if type(declared) is not dict or _asks_more(required, declared):
        return None
    words = start + "although the client declared all it requires"
    return Hit(words, path, severity="warning")


def _asks_more(required: dict[str, Any], declared: dict[str, Any], depth: int = _DEEPEST) -> bool:
    """Tell whether something is required that was not declared, as far as one can see."""
    if depth == 0:
        return True
    for name, needed in list(required.items())[:_MOST_NAMES]:
        wanted, has = needed, declared.get(name)
        if name == "elicitation" and depth == _DEEPEST:
            # Without a mode it stands for forms.
            wanted = wanted or {"form": {}}
            has = {"form": {}} if has == {} else has
        if type(wanted) is not dict or type(has) is not dict:
            return True
        if wanted and _asks_more(wanted, has, depth - 1):
            return True
    return False


def _versions(m: Message, request: Message, data: dict[str, Any]) -> Iterator[Hit]:
    start = f"server sent error {UNSUPPORTED_VERSION} "
    supported, requested = data.get("supported"), data.get("requested")
    names = supported if type(supported) is list else None
    listed = names is not None and all(type(name) is str for name in names)
    if "supported" not in data:
        yield Hit(start + "without the supported revisions", _DATA, spot="supported")
    elif not listed:
        words = "whose supported revisions are not an array of strings"
        yield Hit(start + words, _DATA + "/supported")
    if "requested" not in data:
        yield Hit(start + "without the requested revision", _DATA, spot="requested")
        return
    if type(requested) is not str:
        words = "whose requested revision is not a string"
        yield Hit(start + words, _DATA + "/requested")
        return
    asked = (request.meta.get(META_VERSION), m.flow.header(HEADER_VERSION))
    if requested not in asked:
        words = "that names another revision than the requested one"
        yield Hit(start + words, _DATA + "/requested", severity="warning")
    elif listed and names is not None and requested in names:
        words = "although it lists the requested revision as supported"
        yield Hit(start + words, _DATA + "/supported", severity="warning")


@rule(
    "ERR-007",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/basic#_meta",
    on=("result", "error"),
    consequence=True,
    steady=True,
)
def malformed_request_accepted(m: Message) -> Hits:
    """A server serves a request that lacks required members of `_meta`.

    Such a request must be refused with -32602.  A server that guesses a revision or capabilities
    instead hides the client's mistake, until the client meets a stricter server.

    Found in addition to the client's own fault; only a warning where the server refused, but with
    another code.  Fine are -32020 where the headers were wrong, too, -32601 for the method, -32022
    for the revision and -32600 where the message was none: nothing says what a server looks at
    first.
    """
    request = m.request
    fired = request.fired if request is not None else None
    if request is None or fired is None or not _lacks_meta(request):
        return None
    missing = META_VERSION if "META-001" in fired else CLIENT_CAPABILITIES
    if missing in request.meta:
        return None
    if m.event == "result":
        words = f"server served a request without {missing} instead of refusing it with -32602"
        return Hit(words, "/result")
    code = m.code
    if code is None or _may_refuse(code, fired):
        return None
    words = f"server refused a request without {missing} with {code} instead of -32602"
    return Hit(words, _CODE, severity="warning")


def _may_refuse(code: int, fired: set[str]) -> bool:
    """Tell whether a code fits a request that lacks `_meta`, among what else is wrong with it."""
    if code == HEADER_MISMATCH:
        return "META-001" in fired or any(rule.startswith("HDR-") for rule in fired)
    if code == INVALID_REQUEST:
        return not fired.isdisjoint(_NO_REQUEST)
    return code in (INVALID_PARAMS, METHOD_NOT_FOUND, UNSUPPORTED_VERSION)
