"""What every request and result says of itself in `_meta`: revision, peers, capabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mcp_tap.core.facts.message import NONE
from mcp_tap.core.records import pointer
from mcp_tap.core.spec import (
    CLIENT_CAPABILITIES,
    INVALID_PARAMS,
    META_CLIENT,
    META_SERVER,
    META_VERSION,
)
from mcp_tap.core.text import brief
from mcp_tap.rules.base import Hit, Hits, rule

if TYPE_CHECKING:
    from mcp_tap.core.facts.message import Message

_META: Final = "/params/_meta"
_DECLARED: Final = _META + pointer(CLIENT_CAPABILITIES)
_INNER: Final[dict[str, tuple[str, ...]]] = {
    "elicitation": ("form", "url"),
    "sampling": ("tools", "context"),
    "roots": (),
    "extensions": (),
    "experimental": (),
}
"""Known capability -> members that must be objects, too."""
_MAPS: Final = frozenset({"extensions", "experimental"})
"""Capabilities all of whose members must be objects."""
_MOST_ENTRIES: Final = 1000


@rule(
    "META-001",
    severity="error",
    level="must",
    blames="client",
    spec="specification/2026-07-28/basic#_meta",
    on="request",
    steady=True,
)
def missing_protocol_version(m: Message) -> Hits:
    """A request does not declare its revision in `_meta`.

    Servers keep no state between requests, so each one says which revision it is of; the header
    only repeats it.  Without `io.modelcontextprotocol/protocolVersion` a server must refuse the
    request, or takes it for one of an old client.

    Holds where the header declares revision 2026-07-28 or later, or where the member is there and
    not a string.  A request with neither is of no known era, and notifications declare nothing.
    """
    meta = m.meta
    if type(meta.get(META_VERSION)) is str:
        return None
    if META_VERSION in meta:
        words = "client sent a protocolVersion in _meta that is not a string"
        return Hit(words, _META + pointer(META_VERSION))
    if m.flow.exchange.version is None:
        return None
    if meta is not NONE:
        words = f"client sent {_name(m)} without {META_VERSION} in _meta"
        return Hit(words, _META, spot=META_VERSION)
    if m.params is NONE:
        return Hit(f"client sent {_name(m)} without params, so without _meta", spot=META_VERSION)
    return Hit(f"client sent {_name(m)} without _meta", "/params", spot=META_VERSION)


@rule(
    "META-002",
    severity="error",
    level="must",
    blames="client",
    spec="specification/2026-07-28/basic#_meta",
    on="request",
    steady=True,
)
def missing_client_capabilities(m: Message) -> Hits:
    """A request does not declare the client's capabilities in `_meta`.

    What a client can do is said with every request, also with retries and polls, since servers
    remember nothing: without it they can ask for nothing, and must refuse the request.

    An empty object is a full declaration.  Where `_meta` or the revision is missing altogether,
    that alone is found.
    """
    meta = m.meta
    if CLIENT_CAPABILITIES in meta or meta is NONE or m.flow.exchange.version is None:
        return None
    words = f"client sent {_name(m)} without {CLIENT_CAPABILITIES} in _meta"
    return Hit(words, _META, spot=CLIENT_CAPABILITIES)


@rule(
    "META-003",
    severity="error",
    level="must",
    blames="client",
    spec="specification/2026-07-28/client/elicitation#capabilities",
    on="request",
    steady=True,
)
def malformed_client_capabilities(m: Message) -> Hits:
    """A capability is declared with something that is not an object.

    A capability is declared by its presence, and its value is an object that may say more.  With
    `true` or `null` in its place some servers see it as declared and others do not.

    Looks at the declaration as a whole, at the capabilities the specification names with their own
    members, and at each entry of `extensions` and `experimental`.  Others may be anything.
    """
    declared = m.meta.get(CLIENT_CAPABILITIES, NONE)
    if not declared and type(declared) is dict:
        return None
    if type(declared) is not dict:
        return Hit("client sent clientCapabilities that are not an object", _DECLARED)
    wrong: list[tuple[str, ...]] = []
    for name, value in declared.items():
        members = _INNER.get(name)
        if members is None:
            continue
        if type(value) is not dict:
            wrong.append((name,))
        elif value:
            names = list(value)[:_MOST_ENTRIES] if name in _MAPS else members
            for inner in names:
                if type(value.get(inner, NONE)) is not dict:
                    wrong.append((name, inner))  # noqa: PERF401 (mostly there is none)
    return [_capability(steps) for steps in wrong] if wrong else None


def _capability(steps: tuple[str, ...]) -> Hit:
    said = ".".join(brief(step, 40).strip('"') for step in steps)
    words = f"client declared the capability {said} with something that is not an object"
    return Hit(words, _DECLARED + pointer(*(step[:200] for step in steps)))


@rule(
    "META-004",
    severity="note",
    level="should",
    blames="client",
    spec="specification/2026-07-28/basic#_meta",
    on=("request", "error"),
    steady=True,
)
def missing_client_info(m: Message) -> Hits:
    """A client does not say what software it is.

    `io.modelcontextprotocol/clientInfo` is for logs and displays; without it, operators of a server
    cannot tell one client from another.  Said once for each client.

    Never more than a note: a client may be set up to stay anonymous.  A server must not refuse a
    request for it, and where one does (`-32602` with words about clientInfo), that is said, too.
    """
    if m.event == "error":
        return _refused(m)
    if META_CLIENT in m.meta or m.flow.exchange.version is None:
        return None
    words = f"client does not identify itself: no {META_CLIENT} in _meta"
    return Hit(words, _META, spot=META_CLIENT, once="client")


def _refused(m: Message) -> Hit | None:
    request = m.request
    if request is None or m.code != INVALID_PARAMS:
        return None
    meta, said = request.meta, m.error.get("message")
    if META_CLIENT in meta or type(said) is not str or "clientinfo" not in said[:400].lower():
        return None
    if META_VERSION not in meta or CLIENT_CAPABILITIES not in meta:
        return None
    words = "server refused a request for its missing clientInfo, although that is optional"
    return Hit(words, "/error", spot=META_CLIENT, blame="server", once=("client", "refused"))


@rule(
    "META-005",
    severity="error",
    level="must",
    blames="sender",
    spec="specification/2026-07-28/schema#implementation",
    on=("request", "result"),
    steady=True,
)
def malformed_implementation_info(m: Message) -> Hits:
    """A peer introduces itself without a name or a version.

    Where `clientInfo` or `serverInfo` is given it is an object, and both its name and its version
    are strings; peers that read it into a type refuse the whole message otherwise.  What else is in
    it does not matter here, and leaving it out is another rule's business.
    """
    client = m.sender != "server"
    key = META_CLIENT if client else META_SERVER
    info = m.meta.get(key)
    if type(info) is dict:
        if type(info.get("name")) is str and type(info.get("version")) is str:
            return None
    elif key not in m.meta:
        return None
    path = (_META if client else "/result/_meta") + pointer(key)
    what = f"{m.sender} sent a {key.rpartition('/')[2]} "
    if type(info) is not dict:
        return Hit(what + "that is not an object", path)
    bad = "name" if type(info.get("name")) is not str else "version"
    if bad in info:
        return Hit(f"{what}whose {bad} is not a string", f"{path}/{bad}")
    return Hit(f"{what}without a {bad}", path, spot=bad)


@rule(
    "META-006",
    severity="note",
    level="should",
    blames="server",
    spec="specification/2026-07-28/basic#_meta",
    on="result",
    steady=True,
)
def missing_server_info(m: Message) -> Hits:
    """A server does not say what software it is.

    `io.modelcontextprotocol/serverInfo` belongs into the `_meta` of every result: there is no
    handshake any more in which a server could introduce itself.  Said once for each client, and
    never more than a note, since a server may be set up not to.

    A `serverInfo` beside the other members of a discovery result is where drafts had it.
    """
    if META_SERVER in m.meta or m.result is None:
        return None
    if m.request is None or m.flow.exchange.version is None:
        return None
    words = f"server does not identify itself: no {META_SERVER} in the _meta of its result"
    if "serverInfo" in m.result:
        words += "; serverInfo beside it is where drafts of the revision had it"
    return Hit(words, "/result", spot=META_SERVER, once="client")


def _name(m: Message) -> str:
    return brief(m.method, 50).strip('"')
