"""Elicitation in sessions of the session era, by what `initialize` settled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mcp_tap.core import spec
from mcp_tap.core.facts.ask import Answer, Ask
from mcp_tap.core.facts.flow import Flow
from mcp_tap.core.facts.message import Message, is_masked
from mcp_tap.core.facts.session import elicitations_in
from mcp_tap.core.forms import form_of
from mcp_tap.core.records import pointer
from mcp_tap.core.text import brief
from mcp_tap.rules.base import LEGACY, Hit, Hits, rule

OLDEST: Final = "2025-06-18"
NEWEST: Final = "2025-11-25"
PAGE: Final = f"specification/{NEWEST}/client/elicitation"

MOST_ENTRIES: Final = 100
"""Elicitations of one error that are looked at."""


def negotiated(flow: Flow) -> str | None:
    """Give the revision both sides settled on; what the exchange declares where that is unknown."""
    return flow.seen.session.version or flow.version


@rule(
    "LEG-003",
    severity="error",
    level="must",
    blames="server",
    spec=f"{PAGE}#capabilities",
    on=("ask form", "ask url"),
    versions=LEGACY,
)
def legacy_elicitation_undeclared(ask: Ask) -> Hits:
    """In a session, the server pushes an elicitation the client did not declare.

    A client that declares no elicitation, or not this mode, has nothing to show it with, and can
    only refuse. What counts is what it declared when the session was opened; an empty capability
    means forms.
    """
    capabilities = ask.flow.seen.session.capabilities
    if ask.origin != "pushed" or capabilities is None:
        return None
    declared, mode = capabilities.get("elicitation"), ask.params.get("mode", "form")
    if declared is None:
        what = "elicitation"
    elif type(declared) is dict and mode == ask.kind and not spec.has_mode(declared, mode):
        what = f"its {mode} mode"
    else:
        return None
    return Hit(f"server pushed an elicitation, and the client did not declare {what}", "/method")


@rule(
    "LEG-004",
    severity="warning",
    level="should",
    blames="server",
    spec=f"specification/{NEWEST}/basic/lifecycle#initialization",
    on="server_request",
    versions=LEGACY,
)
def legacy_request_before_initialized(m: Message) -> Hits:
    """In a session, the server asks before the client has said that it is ready.

    Between the response to `initialize` and `notifications/initialized` the client may not be able
    to show anything yet. Pings and log messages are allowed, and nothing is said where the
    handshake was not seen.
    """
    session = m.flow.seen.session
    if session.version is None or session.initialized or m.method == "ping":
        return None
    return Hit(f"server sent {brief(m.method, 60)[1:-1]} before the client was ready", "/method")


@rule(
    "LEG-005",
    severity="error",
    level="must",
    blames="server",
    spec=f"{PAGE}#url-mode-elicitation-requests",
    on=("ask url", "error"),
    versions=(NEWEST,),
)
def legacy_url_elicitation_incomplete(subject: Ask | Message) -> Hits:
    """A url elicitation of a session lacks its id or url, or the error that needs one has none.

    The id is what a later notification says is complete, and without a url there is nothing to
    open. The error -32042 tells a client what to go through before it tries again: with an empty
    list, or with a form in it, it does not.
    """
    if isinstance(subject, Ask):
        if subject.origin != "pushed" or negotiated(subject.flow) != NEWEST:
            return None
        return _incomplete(subject.params, "server pushed a url elicitation", "/params")
    if subject.code != spec.URL_REQUIRED:
        return None
    return _entries(subject.error) if negotiated(subject.flow) == NEWEST else None


def _incomplete(params: dict[str, Any], what: str, at: str) -> list[Hit]:
    return [
        Hit(f"{what} without {words}", f"{at}/{name}")
        for name, words in (("elicitationId", "an elicitationId"), ("url", "a url"))
        if type(params.get(name)) is not str
    ]


def _entries(error: dict[str, Any]) -> Iterator[Hit]:
    at = "/error/data/elicitations"
    if is_masked(error.get("data")):
        return
    entries = elicitations_in(error)
    if not entries:
        yield Hit("server needs a url elicitation first, and names none", at)
    for index, entry in enumerate(entries[:MOST_ENTRIES]):
        here = at + pointer(index)
        if is_masked(entry):
            continue
        if type(entry) is not dict or entry.get("mode") != "url":
            yield Hit("server needs something first that is no url elicitation", f"{here}/mode")
        else:
            yield from _incomplete(entry, "server needs a url elicitation first", here)


@rule(
    "LEG-006",
    severity="warning",
    level="must",
    blames="server",
    spec=f"{PAGE}#completion-notifications-for-url-mode-elicitation",
    on=f"server_notification {spec.NOTE_ELICITED}",
    versions=(NEWEST,),
)
def legacy_completion_unknown_id(m: Message) -> Hits:
    """A completed elicitation is one that was never issued to this client, or has no name.

    Clients ignore ids they do not know, so whoever waits for this one goes on waiting; and an id of
    somebody else's elicitation is none of this client's business.

    An id that is said to be complete twice is noted. Of sessions that were not seen from the
    beginning nothing is said.
    """
    if negotiated(m.flow) != NEWEST:
        return None
    name = m.params.get("elicitationId")
    at = "/params/elicitationId"
    if name is None or type(name) is not str:
        return Hit("server says that an elicitation is complete, and not which", at)
    session = m.flow.seen.session
    completed = session.completed(name)
    if completed:
        words = "server says once more that an elicitation is complete"
        return Hit(words, at, severity="note")
    if completed is None and session.whole and not is_masked(name):
        return Hit("server says that an elicitation is complete that it never asked for", at)
    return None


@rule(
    "LEG-007",
    severity="error",
    level="must",
    blames="server",
    spec=f"specification/{OLDEST}/client/elicitation#supported-schema-types",
    on=("ask form", "ask url", "result", "error", f"server_notification {spec.NOTE_ELICITED}"),
    versions=LEGACY,
)
def feature_too_new_for_session(subject: Ask | Message) -> Hits:
    """A session uses elicitation features its revision does not have.

    Both sides settled on a revision, and the client reads by that one. In 2025-06-18 there is no
    url mode, with all that belongs to it, no choice of several, no titled choice but `enumNames`,
    and no default but a boolean's. In any session a result that says `input_required` is taken for
    the result of the operation, and nobody is asked.

    A form that says it is one is let pass in 2025-06-18. What the client's software could do does
    not matter.
    """
    if isinstance(subject, Message) and subject.event == "result":
        return _read_as_result(subject)
    if negotiated(subject.flow) != OLDEST:
        return None
    return _asked(subject) if isinstance(subject, Ask) else _said(subject)


def _asked(ask: Ask) -> Hits:
    if ask.origin != "pushed":
        return None
    if ask.kind == "url":
        return _too_new("a url elicitation", "/params/mode")
    return _fields(ask)


def _said(m: Message) -> Hits:
    if m.event != "error":
        return _too_new(spec.NOTE_ELICITED, "/method")
    if m.code != spec.URL_REQUIRED:
        return None
    return _too_new("the error -32042", "/error/code")


def _read_as_result(m: Message) -> Hits:
    if m.result is None or m.result.get("resultType") != spec.INPUT_REQUIRED:
        return None
    words = "server answered input_required in a session, whose client reads it as a result"
    return Hit(words, "/result/resultType")


def _fields(ask: Ask) -> Iterator[Hit]:
    for name, field in form_of(ask).fields.items():
        schema, shown = field.schema, brief(name, 40)
        if field.kind == "array":
            yield _too_new(f"the choice of several {shown}", ask.at_field(name, "type"), name)
        if "oneOf" in schema:
            yield _too_new(f"oneOf for {shown}", ask.at_field(name, "oneOf"), name)
        if "default" in schema and field.kind != "boolean":
            yield _too_new(f"a default for {shown}", ask.at_field(name, "default"), name)


def _too_new(what: str, at: str, spot: str | None = None) -> Hit:
    return Hit(f"server uses {what} in a session of {OLDEST}, which has no such thing", at, spot)


@rule(
    "LEG-008",
    severity="warning",
    level="must",
    blames="client",
    spec=f"{PAGE}#error-handling",
    on=("answer form", "answer url"),
    versions=(NEWEST,),
    consequence=True,
)
def undeclared_elicitation_answered(answer: Answer) -> Hits:
    """A client answers an elicitation it did not declare, and does not refuse it.

    The error -32602 is what tells the server that it must not ask. Any other answer, to cancel
    included, reads as a user's decision, though no user ever saw the question.

    Silence is not reported.
    """
    fired = answer.ask.message.fired
    if not fired or "LEG-003" not in fired:
        return None
    if answer.error:
        code = answer.value.get("code") if type(answer.value) is dict else None
        if code == spec.INVALID_PARAMS:
            return None
        words = f"client refused an elicitation it did not declare with {brief(code, 20)}"
        return Hit(f"{words} instead of -32602", "/error/code")
    words = "client answered an elicitation it did not declare instead of refusing it with -32602"
    return Hit(words, "/result")
