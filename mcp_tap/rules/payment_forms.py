"""Forms that ask for what moves money or lets somebody in: cards, accounts, one-time codes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp_tap.core.facts.ask import Ask
from mcp_tap.core.text import brief
from mcp_tap.rules.base import ALL, Hit, Hits, rule
from mcp_tap.rules.entries import Entry, Reading, entry_named, read, word_of
from mcp_tap.rules.keys import is_code, is_payment, is_pin, tokens
from mcp_tap.rules.words import Word, asks, speaks_of_delivery

_ACCOUNT = (("account", "number"), ("accountnumber",))
_ROUTING = (("routing", "number"), ("routingnumber",), ("sort", "code"), ("aba", "number"))
_IBAN = (("iban",),)


@rule(
    "SEC-004",
    severity="error",
    level="heuristic",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#user-interaction-model",
    on="ask form",
    versions=ALL,
)
def form_payment_data(ask: Ask) -> Hits:
    """A form asks for payment credentials such as card number, security code or bank login data.

    Found by keys (`card_number`, `cvv`; an account number beside a routing number; an IBAN beside a
    PIN), by the titles and descriptions of fields, and by a message that requests them.  What only
    describes a payment (amount, currency, card type, the last four digits, an IBAN alone) is no
    credential, and neither are cards nobody pays with, such as a library card.
    """
    reading = read(ask)
    if reading is None:
        return None
    pairs = _pairs(reading)
    found = []
    for entry in reading.entries:
        why = "is named like them" if entry.name in pairs else _payment(entry)
        if why is not None:
            words = f"server asks for payment data in a form: field {brief(entry.name, 40)} {why}"
            found.append(Hit(words, ask.at_field(entry.name), spot=entry.name))
    if not found and (word := asks("payment", "message", reading.message)) is not None:
        words = "server asks for payment data in a form: its message requests "
        return Hit(words + brief(word.term, 40), ask.at("message"))
    return found


@rule(
    "SEC-005",
    severity="error",
    level="heuristic",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#user-interaction-model",
    on="ask form",
    versions=ALL,
)
def form_one_time_code(ask: Ask) -> Hits:
    """A form asks for a one-time, two-factor or recovery code.

    Such a code lets whoever has it in, so it is as secret as a password, and asking for one is how
    people are tricked out of theirs.  Postal, country, promotion and error codes are no such codes,
    nor is a captcha: the Chinese word for both counts only beside a phone or a mail box.
    """
    reading = read(ask)
    if reading is None:
        return None
    found = []
    for entry in reading.entries:
        why = _code(entry, reading)
        if why is not None:
            words = f"server asks for a one-time code in a form: field {brief(entry.name, 40)} "
            found.append(Hit(words + why, ask.at_field(entry.name), spot=entry.name))
    if not found and (word := _code_in(reading.message)) is not None:
        words = "server asks for a one-time code in a form: its message requests "
        return Hit(words + brief(word.term, 40), ask.at("message"))
    return found


def asks_for_card(ask: Ask, name: str) -> bool:
    """Tell whether a form asked for payment data in a field."""
    entry = entry_named(ask, name)
    return entry is not None and is_marked_payment(entry)


def is_marked_payment(entry: Entry) -> bool:
    """Tell whether a field's key or texts ask for payment data."""
    return _payment(entry) is not None


def _payment(entry: Entry) -> str | None:
    return _said(entry, is_payment, "payment")


def _code(entry: Entry, reading: Reading) -> str | None:
    why = _said(entry, is_code, "codes")
    if why is None:
        around = (entry.name, entry.title, entry.description, reading.message[:1000])
        if word_of(entry, "perhaps_codes") is not None and speaks_of_delivery(" ".join(around)):
            return "speaks of one"
    return why


def _code_in(message: str) -> Word | None:
    word = asks("codes", "message", message)
    if word is None and speaks_of_delivery(message[:1000]):
        word = asks("perhaps_codes", "message", message)
    return word


def _said(entry: Entry, named: Callable[[str], bool], kind: Any) -> str | None:
    if named(entry.name):
        return "is named like them" if kind == "payment" else "is named like one"
    said = word_of(entry, kind)
    if said is None:
        return None
    place, word = said
    return f"says {brief(word.term, 40)} in its {place}"


def _pairs(reading: Reading) -> set[str]:
    """Give the fields that are payment data only together."""
    names = [entry.name for entry in reading.entries]
    accounts, routings = _ending(names, _ACCOUNT), _ending(names, _ROUTING)
    ibans, pins = _ending(names, _IBAN), [name for name in names if is_pin(name)]
    found: set[str] = set()
    if accounts and routings:
        found.update((*accounts, *routings))
    if ibans and pins:
        found.update((*ibans, *pins))
    return found


def _ending(names: list[str], ends: tuple[tuple[str, ...], ...]) -> list[str]:
    return [name for name in names if any(tokens(name)[-len(end) :] == end for end in ends)]
