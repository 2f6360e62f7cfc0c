"""Discovery: what a server says of itself, and whether it is so."""

from __future__ import annotations

from typing import Any, Final

from mcp_tap.core.facts.flow import MODERN, band_of
from mcp_tap.core.facts.message import Message, is_masked
from mcp_tap.core.spec import INITIALIZE, INPUT_REQUIRED, LIST_CHANGES, METHOD_NOT_FOUND, NOTE_LOG
from mcp_tap.core.text import brief
from mcp_tap.rules.base import LEGACY, Hit, Hits, rule

_SERVED: Final = {
    "tools/list": "tools",
    "tools/call": "tools",
    "prompts/list": "prompts",
    "prompts/get": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resources",
    "resources/read": "resources",
    "completion/complete": "completions",
}
"""Method -> the capability it belongs to."""
_LISTS: Final = ("tools/list", "prompts/list", "resources/list")
_VERSIONS: Final = "specification/2026-07-28/basic/versioning#protocol-version-negotiation"


@rule(
    "DISC-001",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/server/discover",
    on=("error server/discover", "result"),
)
def discover_not_implemented(m: Message) -> Hits:
    """A server of revision 2026-07-28 does not know `server/discover`.

    That it is of this revision is told by a result with a `resultType`, before or after.  A server
    of an older revision refuses the same way, and that is how clients find out; so the refusal
    alone says nothing.
    """
    server = m.flow.seen.server
    refused: Message | None
    if m.event == "error":
        refused = m if m.code == METHOD_NOT_FOUND and server.is_modern else None
    else:
        refused = server.refused
        if refused is None or m.result is None or type(m.result.get("resultType")) is not str:
            return None
    if refused is None:
        return None
    return Hit(
        "server answers requests of 2026-07-28, but does not know server/discover",
        "/error/code",
        "server/discover",
        about=refused,
        once="client",
    )


@rule(
    "DISC-002",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/server/discover#discoverresult",
    on="result server/discover",
)
def discover_result_incomplete(m: Message) -> Hits:
    """A `DiscoverResult` lacks `supportedVersions` or `capabilities`.

    The first is a list of revisions with at least one in it, the second an object, be it empty.  It
    is a warning where the very revision the request was answered in is not among them.  A result
    of another type, which does not belong here, is no `DiscoverResult` either, and not judged.
    """
    result = m.result
    if result is None or result.get("resultType") in (INPUT_REQUIRED, "task"):
        return None
    hits = []
    versions = result.get("supportedVersions")
    if type(versions) is not list or not versions or any(type(v) is not str for v in versions):
        words = "server sent a DiscoverResult whose supportedVersions is no list of revisions"
        hits.append(Hit(words, "/result/supportedVersions"))
    else:
        asked = m.flow.version
        if asked is not None and asked not in versions and not any(map(is_masked, versions)):
            words = f"server answered in revision {brief(asked, 20)}, but does not list it"
            hits.append(Hit(words, "/result/supportedVersions", severity="warning"))
    if type(result.get("capabilities")) is not dict:
        words = "server sent a DiscoverResult whose capabilities is no object"
        hits.append(Hit(words, "/result/capabilities"))
    return hits or None


@rule(
    "DISC-003",
    severity="warning",
    level="must",
    blames="server",
    spec="specification/2026-07-28/server/tools#capabilities",
    on=(
        *(f"result {method}" for method in _SERVED),
        *(f"error {method}" for method in _LISTS),
        *(f"server_notification {method}" for method in (NOTE_LOG, *LIST_CHANGES)),
    ),
)
def capability_handler_mismatch(m: Message) -> Hits:
    """What a server does is not what it declared in its `DiscoverResult`.

    It serves tools, prompts, resources or completions, or sends log messages, without the
    capability; or it declares one and does not know its list method.  A note where it says that a
    list changed without having declared that it would.  Without a `DiscoverResult` in this run
    nothing is said, and what authorization hides is no matter here: it hides entries, not methods.
    """
    declared = m.flow.seen.server.capabilities
    if declared is None:
        return None
    method = m.method or ""
    if m.event == "server_notification":
        return _told(method, declared)
    capability = _SERVED[method]
    if m.event == "result":
        if capability in declared:
            return None
        words = f"server serves {method}, but does not declare the {capability} capability"
        return Hit(words, "/result", capability, once=("client", "served", method))
    if m.code != METHOD_NOT_FOUND or capability not in declared:
        return None
    words = f"server declares the {capability} capability, but does not know {method}"
    return Hit(words, "/error/code", capability, once=("client", "unknown", method))


def _told(method: str, declared: dict[str, Any]) -> Hits:
    if method == NOTE_LOG:
        if "logging" in declared:
            return None
        words = "server sends log messages, but does not declare the logging capability"
        return Hit(words, "/method", "logging", once=("client", "logging"))
    capability = LIST_CHANGES[method]
    found = declared.get(capability)
    if type(found) is dict and found.get("listChanged") is True:
        return None
    words = f"server sent {method}, but does not declare {capability}.listChanged"
    once = ("client", "changed", method)
    return Hit(words, "/method", "listChanged", severity="note", once=once)


@rule(
    "DISC-004",
    severity="warning",
    level="should",
    blames="client",
    spec=_VERSIONS,
    on="request",
    versions=(MODERN, *LEGACY, "other"),
)
def supported_versions_ignored(m: Message) -> Hits:
    """A client was told which revisions the server has, and uses another one.

    It goes on with a revision that is not in the list, or falls back to `initialize` although the
    list has one that needs no session.  To give up is fine, to fall back too where only older
    revisions are listed, and so is what was on its way already.
    """
    told = m.flow.seen.server.unsupported
    if told is None:
        return None
    if type(m.id) is int and type(told.id) is int and m.id <= told.id:
        return None  # ids start again: so did the client, and has not been told
    if m.method == INITIALIZE:
        if not any(band_of(version) == MODERN for version in told.supported):
            return None
        words = "client fell back to initialize, although the server listed a modern revision"
        return Hit(words, "/method", "initialize", once=("client", INITIALIZE))
    version = m.flow.version
    if version is None or version in told.supported or is_masked(version):
        return None
    words = f"client went on with revision {brief(version, 20)}, which the server did not list"
    return Hit(words, "", "protocolVersion", once=("client", version))
