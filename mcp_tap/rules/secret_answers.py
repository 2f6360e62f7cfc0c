"""Secrets in what the client's side enters into forms."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from mcp_tap.core.facts.ask import Answer
from mcp_tap.core.facts.message import is_masked
from mcp_tap.core.text import brief
from mcp_tap.rules.base import ALL, Hit, Hits, rule
from mcp_tap.rules.entries import spend
from mcp_tap.rules.payment_forms import asks_for_card
from mcp_tap.rules.secret_forms import asks_for_secret
from mcp_tap.rules.shapes import secret_in
from mcp_tap.rules.shapes_persons import card_in

MOST_VALUES: Final = 1000
"""Values looked at of one answer."""
MOST_LISTED: Final = 20
"""Values looked at of one list of choices."""
MOST_TEXT: Final = 200_000
"""Characters looked at of the answers in one message."""
_SHORTEST: Final = 13


@rule(
    "SEC-007",
    severity="error",
    level="heuristic",
    blames="sender",
    spec="specification/2026-07-28/client/elicitation#user-interaction-model",
    on="answer form",
    versions=ALL,
)
def secret_value_in_content(answer: Answer) -> Hits:
    """The client submits a credential-looking value in form content.

    Only values of well-known make count: JWTs, PEM private keys, and tokens with the prefix of who
    issues them.  UUIDs, digests and plain Base64 may be anything.  Where the form asked for a
    secret the server is to blame, otherwise the client, which let one through.  The value itself is
    never shown.
    """
    if answer.action != "accept":
        return None
    found = []
    for name, value in _texts(answer):
        kind = secret_in(value)
        if kind is not None:
            asked = asks_for_secret(answer.ask, name)
            words = f"client sent {kind} in field {brief(name, 40)} of a form"
            words += " that asked for a secret" if asked else " that did not ask for a secret"
            path = answer.at("content", name)
            found.append(Hit(words, path, spot=name, blame="server" if asked else None))
    return found


@rule(
    "SEC-008",
    severity="error",
    level="heuristic",
    blames="sender",
    spec="specification/2026-07-28/client/elicitation#user-interaction-model",
    on="answer form",
    versions=ALL,
)
def card_number_in_content(answer: Answer) -> Hits:
    """The client submits what looks like a payment card number.

    Three things must be right: an issuer's prefix, the number of digits that issuer uses, and the
    check digit.  So order numbers, IMEIs and phone numbers hardly ever pass; values of number type
    count only in fields that ask for payment data.  Where the form asked for it the server is to
    blame, otherwise the client.  The number itself is never shown.
    """
    if answer.action != "accept":
        return None
    found = []
    for name, value in islice(answer.content.items(), MOST_VALUES):
        issuer = _issuer(value)
        if issuer is None:
            continue
        asked = asks_for_card(answer.ask, name)
        if asked or type(value) is not int:
            words = f"client sent what looks like a {issuer} card number in field "
            path = answer.at("content", name)
            blame: Any = "server" if asked else None
            found.append(Hit(words + brief(name, 40), path, spot=name, blame=blame))
    return found


def _issuer(value: Any) -> str | None:
    """Name the issuer of what looks like a card number, or of one in a list."""
    if type(value) is list:
        return next(filter(None, map(_issuer_of, value[:MOST_LISTED])), None)
    if type(value) is int:
        return card_in(str(value)) if 10**12 <= value < 10**19 else None
    return _issuer_of(value)


def _issuer_of(value: Any) -> str | None:
    return card_in(value) if type(value) is str and _SHORTEST <= len(value) <= 40 else None


def _texts(answer: Answer) -> Iterator[tuple[str, str]]:
    for name, value in islice(answer.content.items(), MOST_VALUES):
        for text in value[:MOST_VALUES] if type(value) is list else (value,):
            if type(text) is not str or len(text) < _SHORTEST or is_masked(text):
                continue
            if spend(answer.message, "entered", len(text), MOST_TEXT) == 0:
                return
            yield name, text
