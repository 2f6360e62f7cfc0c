"""What a server asks a person: message, mode, and what this revision took away."""

from __future__ import annotations

from mcp_tap.core.facts.ask import Ask
from mcp_tap.core.facts.message import NONE, Message, is_masked
from mcp_tap.core.forms import is_form, json_type
from mcp_tap.core.records import pointer
from mcp_tap.core.spec import CLIENT_CAPABILITIES, INITIALIZE, URL_REQUIRED, has_mode
from mcp_tap.core.text import brief
from mcp_tap.rules.base import ALL, RECENT, Hit, Hits, rule

_MODES = ("form", "url")
_IN_META = "/params/_meta" + pointer(CLIENT_CAPABILITIES)
_ELICITING = ("ask form", "ask url")


@rule(
    "ELIC-001",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#elicitation-requests",
    on=_ELICITING,
    versions=ALL,
)
def message_missing(ask: Ask) -> Hits:
    """An elicitation has no human-readable message.

    The message is all that tells a person why something is asked; without one a client has nothing
    to put above the form or beside the link.  A message of nothing but blanks is a warning: it is
    there, and says nothing.  An elicitation without any params is MRTR-006.
    """
    if ask.params is NONE:
        return None
    found = ask.params.get("message")
    if type(found) is not str:
        what = "no message" if "message" not in ask.params else f"{json_type(found)} for a message"
        return Hit(f"server sends an elicitation with {what}", ask.at("message"))
    if not found.strip():
        words = "server sends an elicitation whose message is blank"
        return Hit(words, ask.at("message"), severity="warning")
    return None


@rule(
    "ELIC-002",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#elicitation-requests",
    on=_ELICITING,
    versions=RECENT,
)
def mode_unknown(ask: Ask) -> Hits:
    """The mode of an elicitation is something other than form or url.

    There are two modes, spelled in lower case; a client that meets another cannot know what to
    show.  An elicitation that names no mode asks for a form.
    """
    mode = ask.params.get("mode", "form")
    if (type(mode) is str and mode in _MODES) or is_masked(mode):
        return None
    words = f"server sends an elicitation of mode {brief(mode, 40)}, which is neither form nor url"
    return Hit(words, ask.at("mode"))


@rule(
    "ELIC-003",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#form-mode-elicitation-requests",
    on="ask form",
    versions=ALL,
)
def form_without_schema(ask: Ask) -> Hits:
    """A form-mode elicitation has no requestedSchema object.

    Without it there is nothing to fill in.  A form that only wants a yes or no still has a schema,
    one whose properties are empty.  A url without a mode is ELIC-005, an elicitation without any
    params MRTR-006.
    """
    if ask.params is NONE or not is_form(ask):
        return None
    found = ask.params.get("requestedSchema")
    if type(found) is dict:
        return None
    known = "requestedSchema" in ask.params
    what = f"{json_type(found)} for a requestedSchema" if known else "no requestedSchema"
    return Hit(f"server asks for a form with {what}", ask.at("requestedSchema"))


@rule(
    "ELIC-004",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#url-mode-elicitation-requests",
    on="ask url",
    versions=RECENT,
)
def url_mode_without_url(ask: Ask) -> Hits:
    """A url-mode elicitation has no url string.

    There is nothing to open then.  A string that is no URL is ELIC-049.
    """
    found = ask.params.get("url")
    if type(found) is str:
        return None
    what = f"{json_type(found)} for a url" if "url" in ask.params else "no url"
    return Hit(f"server sends an elicitation of mode url with {what}", ask.at("url"))


@rule(
    "ELIC-005",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#url-mode-elicitation-requests",
    on="ask form",
    versions=RECENT,
)
def url_without_mode(ask: Ask) -> Hits:
    """An elicitation carries a url but no mode, so clients will treat it as a broken form.

    Only `mode: "url"` makes a link of it; where the mode is left out, clients must read a form.
    A form that has a url besides is ELIC-006.
    """
    params = ask.params
    if "mode" in params or params.get("url") is None or params.get("requestedSchema") is not None:
        return None
    return Hit("server sends an elicitation that has a url but no mode", ask.at("url"), spot="mode")


@rule(
    "ELIC-006",
    severity="warning",
    level="heuristic",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#url-mode-elicitation-requests",
    on=_ELICITING,
    versions=RECENT,
)
def mode_fields_mixed(ask: Ask) -> Hits:
    """An elicitation mixes form and url fields.

    Nothing forbids a foreign field, but clients ignore it, so one half of what the server wanted is
    never shown.  Members nobody defined, and fields of the form that are called url, are fine.
    """
    params = ask.params
    if params.get("url") is None or params.get("requestedSchema") is None:
        return None
    if ask.kind == "url":
        words = "server sends an elicitation of mode url that has a requestedSchema too"
        return Hit(words, ask.at("requestedSchema"))
    if not is_form(ask):
        return None
    return Hit("server asks for a form that has a url too", ask.at("url"))


@rule(
    "ELIC-007",
    severity="warning",
    level="should",
    blames="server",
    spec="specification/2026-07-28/changelog#minor-changes",
    on=_ELICITING,
)
def elicitation_id_removed(ask: Ask) -> Hits:
    """A modern elicitation still carries elicitationId, which this revision removed.

    The retry, with its requestState, now says what was asked; a server that waits for the id is
    written for 2025-11-25, where the field is mandatory (LEG-005).  A parameter of that name inside
    the url belongs to the url.
    """
    if ask.origin == "pushed" or ask.params.get("elicitationId") is None:
        return None
    words = "server sends an elicitation with an elicitationId, which 2026-07-28 does not have"
    return Hit(words, ask.at("elicitationId"))


@rule(
    "ELIC-008",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/changelog#minor-changes",
    on="server_notification notifications/elicitation/complete",
)
def completion_notification_removed(m: Message) -> Hits:
    """A completion notification of an elicitation is sent in modern traffic, where there is none.

    A client retries when the person says so, or when the person comes back; the server tells from
    the state whether the page was completed.  In a 2025-11-25 session the notification is legal
    (LEG-006 looks at its id), and so nothing is said of a process that was ever initialized.
    """
    if not m.flow.http and m.flow.seen.session.begun:
        return None
    return Hit(
        "server sends notifications/elicitation/complete, which 2026-07-28 does not have", "/method"
    )


@rule(
    "ELIC-009",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/basic#error-codes",
    on="error",
)
def url_required_error_removed(m: Message) -> Hits:
    """Error -32042 (URL elicitation required) is returned to a modern request.

    Its place was taken by an `input_required` result that holds an elicitation of mode url; clients
    of this revision show the code as a plain failure.  For a request of a 2025-11-25 session the
    code is legal.
    """
    if m.request is None or m.code != URL_REQUIRED:
        return None
    words = (
        "server answers with error -32042, which 2026-07-28 does not have: it is an input_required"
        " result with an elicitation of mode url"
    )
    return Hit(words, "/error/code")


@rule(
    "ELIC-010",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#capabilities",
    on="ask url",
)
def url_mode_undeclared(ask: Ask) -> Hits:
    """The server uses url mode although the client only declared form mode.

    Counted is what the request itself declares, not an earlier one: `{}` and `{"form": {}}` both
    mean forms only.  A client that declares no elicitation at all is MRTR-007.  An ask that arrives
    in a task's notification answers no request, and is not judged.
    """
    declared = _declared(ask)
    if declared is None or has_mode(declared, "url"):
        return None
    words = "server sends an elicitation of mode url to a client that declared forms only"
    return Hit(words, ask.at("mode"))


@rule(
    "ELIC-011",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#capabilities",
    on="ask form",
)
def form_mode_undeclared(ask: Ask) -> Hits:
    """The server uses form mode although the client declared url mode only.

    Counted is what the request itself declares, not an earlier one.  `{}` means forms, for the sake
    of clients from before there were modes.  An ask that arrives in a task's notification answers
    no request, and is not judged.
    """
    declared = _declared(ask)
    if declared is None or has_mode(declared, "form") or not is_form(ask):
        return None
    words = "server asks for a form of a client that declared elicitation of mode url only"
    return Hit(words, ask.at("mode"))


@rule(
    "ELIC-012",
    severity="warning",
    level="must",
    blames="client",
    spec="specification/2026-07-28/client/elicitation#capabilities",
    on="request",
    versions=RECENT,
    steady=True,
)
def capability_without_known_mode(m: Message) -> Hits:
    """The client declares elicitation with neither form nor url.

    Such a client supports no mode, so that a server may not ask it anything; most often a mode is
    misspelt.  `{}` means forms and is fine, and so are unknown modes beside a known one.  Said once
    a client.
    """
    found, path = m.meta.get(CLIENT_CAPABILITIES), _IN_META
    if found is None:
        if m.method != INITIALIZE:
            return None
        found, path = m.params.get("capabilities"), "/params/capabilities"
    declared = found.get("elicitation") if type(found) is dict else None
    if type(declared) is not dict or not declared or "form" in declared or "url" in declared:
        return None
    words = f"client declares elicitation with {brief(min(declared), 40)}: neither form nor url"
    return Hit(words, path + "/elicitation", once="client")


def _declared(ask: Ask) -> dict[str, object] | None:
    """Give what the request declared about elicitation; None where that is nothing usable."""
    request = ask.message.request
    if ask.origin == "pushed" or request is None or ask.message.event != "result":
        return None
    found = (ask.flow.capabilities or {}).get("elicitation")
    return found if type(found) is dict else None
