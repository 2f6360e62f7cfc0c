"""Answers to elicitations: what the user decided, and what servers make of it."""

from __future__ import annotations

from typing import Any, Final

from mcp_tap.core.contents import accepts_form, faults_of
from mcp_tap.core.facts.ask import Answer, Ask
from mcp_tap.core.facts.message import Message, is_masked
from mcp_tap.core.forms import json_type
from mcp_tap.core.spec import MAY_ASK
from mcp_tap.core.text import brief
from mcp_tap.core.values import same_json
from mcp_tap.rules.base import ALL, RECENT, Hit, Hits, rule
from mcp_tap.rules.shown import succeeds

ACTIONS: Final = frozenset({"accept", "decline", "cancel"})

BREAKING: Final = frozenset({"missing", "type", "length", "range", "option", "count", "nested"})
"""Flaws a server cannot overlook."""

_UNSEEN: Final = frozenset({"_meta", "task", "elicitationId"})

PAGE: Final = "specification/2026-07-28/client/elicitation"


@rule(
    "ELIC-031",
    severity="error",
    level="must",
    blames="client",
    spec=f"{PAGE}#response-actions",
    on=("answer form", "answer url"),
    versions=ALL,
)
def action_invalid(answer: Answer) -> Hits:
    """The answer to an elicitation has no action, or one that is none of the three.

    Servers tell consent from refusal by this one word: `accept`, `decline` or `cancel`, spelled
    exactly so. Whatever else stands there, or nothing, is no decision, and a server that guesses
    may guess consent.

    An answer without anything of an elicitation in it is of another kind altogether, and reported
    as that.
    """
    value = answer.value
    if type(value) is not dict or answer.error:
        return None
    action = value.get("action")
    if type(action) is str:
        if action in ACTIONS or is_masked(action):
            return None
        what = f"with the action {brief(action, 40)} instead of accept, decline or cancel"
    elif "action" in value:
        what = f"with {json_type(action)} for an action instead of accept, decline or cancel"
    else:
        what = "without an action"
    return Hit(f"client answered the elicitation {what}", answer.at("action"))


@rule(
    "ELIC-032",
    severity="error",
    level="must",
    blames="client",
    spec=f"{PAGE}#response-actions",
    on="answer form",
    versions=ALL,
)
def accept_form_without_content(answer: Answer) -> Hits:
    """A form is accepted without its content.

    Accepting a form means submitting it, so the server has nothing to go on with. A form without
    any field is only a question for consent: its content may be left out.
    """
    value = answer.value
    if answer.error or not accepts_form(answer.ask, value) or value.get("content") is not None:
        return None
    if not answer.ask.fields:
        return None
    return Hit("client accepted the form without any content", answer.at("content"))


@rule(
    "ELIC-033",
    severity="error",
    level="must",
    blames="client",
    spec=f"{PAGE}#response-actions",
    on="answer url",
    versions=RECENT,
)
def accept_url_with_content(answer: Answer) -> Hits:
    """An accepted url elicitation carries content.

    What a user enters on the page goes to the server directly: that it never passes through the
    client is the reason for this mode. An empty object or null says nothing and is let pass.
    """
    if answer.action != "accept" or not answer.content:
        return None
    return Hit("client sent content with its consent to open a url", answer.at("content"))


@rule(
    "ELIC-034",
    severity="warning",
    level="should",
    blames="client",
    spec=f"{PAGE}#response-actions",
    on=("answer form", "answer url"),
    versions=ALL,
)
def decline_or_cancel_with_content(answer: Answer) -> Hits:
    """A declined or cancelled elicitation still delivers what was entered.

    The user chose not to send it, and now the server has it. An empty object or null says nothing
    and is let pass.
    """
    if answer.action not in ("decline", "cancel") or not answer.content:
        return None
    words = "declined" if answer.action == "decline" else "cancelled"
    return Hit(
        f"client {words} the elicitation and sent content all the same", answer.at("content")
    )


@rule(
    "ELIC-035",
    severity="error",
    level="must",
    blames="client",
    spec="specification/2026-07-28/schema#elicitresult",
    on=("answer form", "answer url"),
    versions=ALL,
)
def content_not_object(answer: Answer) -> Hits:
    """The content of an answer is no JSON object.

    Content maps the names of fields to what was entered. A list of pairs, or an object that was
    written into a string, is something no server can look a field up in.
    """
    value = answer.value
    if type(value) is not dict or answer.error:
        return None
    content = value.get("content")
    if content is None or type(content) is dict or is_masked(content):
        return None
    what = f"client answered with {json_type(content)} for content instead of an object"
    return Hit(what, answer.at("content"))


@rule(
    "ELIC-047",
    severity="warning",
    level="should",
    blames="server",
    spec=f"{PAGE}#form-mode-security",
    on="result",
    versions=RECENT,
    consequence=True,
    steady=True,
)
def invalid_content_accepted(m: Message) -> Hits:
    """The server completes the operation with form data that breaks its own schema.

    A form's schema is enforced by clients, and clients have bugs: a server that does not check
    acts on a count above its maximum or without a field it cannot do without. An error, a result
    that says `isError`, or asking again are all fine.

    Values in a wrong format, null values, fields the form does not have and defaults left out are
    no reason for this.  Neither is an answer to a task, which is only acknowledged.
    """
    answers = m.flow.answers
    if not answers or m.method not in MAY_ASK or not succeeds(m, "complete", "task"):
        return None
    for answer in answers:
        if answer.message.fired and _is_broken(answer):
            what = "server completed the operation although what was entered breaks its form"
            return Hit(what, "/result", spot=answer.ask.key if answer.ask.path else "")
    return None


def _is_broken(answer: Answer) -> bool:
    """Tell whether an accepted form has no content, or content that breaks its schema."""
    if answer.error or not accepts_form(answer.ask, answer.value):
        return False
    content = answer.value.get("content")
    if content is None:
        return bool(answer.ask.fields)
    if type(content) is not dict:
        return not is_masked(content)
    return not BREAKING.isdisjoint(faults_of(answer))


@rule(
    "ELIC-048",
    severity="note",
    level="heuristic",
    blames="server",
    spec=f"{PAGE}#response-actions",
    on=("ask form", "ask url"),
    versions=RECENT,
)
def asked_again_after_decline(ask: Ask) -> Hits:
    """The server repeats exactly the question the user has just declined.

    A decline is a decision. Asked the same again, users tend to give in or to give up on the
    server; an alternative, or an error, respects it.

    A question that was cancelled may be asked again: its user decided nothing. Any change of
    message, schema or url makes it another question.
    """
    for answer in ask.before:
        if answer.action == "decline" and _same(answer.ask, ask):
            return Hit("server asks again what the user has just declined", ask.path)
    return None


def _same(one: Ask, other: Ask) -> bool:
    if one.method != other.method:
        return False
    return same_json(_question(one), _question(other))


def _question(ask: Ask) -> dict[str, Any]:
    """Give what a user is asked: all but what clients keep to themselves."""
    known = {"mode": "form", **ask.params}
    return {name: value for name, value in known.items() if name not in _UNSEEN}
