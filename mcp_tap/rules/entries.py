"""What a form lets a person enter freely, as the rules on secrets read it.

A secret can only be typed: fields with fixed choices and yes-or-no fields are left out.  The texts
of one message's forms are read up to `MOST_TEXT` characters together.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from mcp_tap.core.facts.ask import Ask
from mcp_tap.core.facts.message import Message, is_masked
from mcp_tap.core.forms import Field, form_of, is_form
from mcp_tap.rules.words import Place, Word, asks
from mcp_tap.rules.words_terms import LONGEST

MOST_TEXT: Final = 32_000
"""Characters of titles, descriptions and messages read of the forms of one message."""

_NUMBERS: Final = ("number", "integer")


class Entry(NamedTuple):
    """A field in which something can be entered freely."""

    name: str
    schema: dict[str, Any]
    numeric: bool
    """It takes numbers only."""
    title: str
    description: str

    def texts(self) -> tuple[tuple[Place, str], ...]:
        """Give what people are shown, with what it is."""
        return ("title", self.title), ("description", self.description)


class Reading(NamedTuple):
    """A form, as far as something can be entered freely."""

    entries: list[Entry]
    message: str

    @property
    def has_text(self) -> bool:
        """It has a field for text."""
        return any(not entry.numeric for entry in self.entries)


def read(ask: Ask) -> Reading | None:
    """Read a form; None for what is none, or has no field to enter something in freely."""
    held = ask.flow.memo.get("entries")
    if held is not None and held[0] is ask:
        reading: Reading | None = held[1]
        return reading
    reading = None
    if is_form(ask) and ask.fields:
        found = [entry for field in form_of(ask).fields.values() if (entry := entry_of(field))]
        if found:
            reading = _within(ask, found)
    ask.flow.memo["entries"] = (ask, reading)
    return reading


def entry_of(field: Field) -> Entry | None:
    """Read a field; None where nothing can be entered in it freely."""
    schema = field.schema
    if field.styles or "const" in schema:
        return None
    kind = schema.get("type", "string")
    if kind == "array":
        kind = field.items.get("type", "string")
    if type(kind) is list:
        kind = next((one for one in kind if one != "null"), None)
    if kind != "string" and kind not in _NUMBERS:
        return None
    title, description = schema.get("title"), schema.get("description")
    return Entry(field.name, schema, kind in _NUMBERS, text_of(title), text_of(description))


def entry_named(ask: Ask, name: str) -> Entry | None:
    """Read the field of an ask that has a name; None where there is none to enter in freely."""
    schema = ask.fields.get(name)
    return entry_of(Field(name, schema)) if type(schema) is dict else None


def text_of(value: Any) -> str:
    """Take a text to be read; empty for what is none, or was masked."""
    return value if type(value) is str and not is_masked(value) else ""


def word_of(entry: Entry, kind: Any) -> tuple[Place, Word] | None:
    """Find the text of a field that asks for something of a kind, and the word it uses."""
    for place, text in entry.texts():
        word = asks(kind, place, text) if text else None
        if word is not None and (word.numeric or not entry.numeric):
            return place, word
    return None


def spend(message: Message, what: str, amount: int, most: int) -> int:
    """Take from what may be read of one message; give how much of it there was.

    Args:
        message: whose reading it is.
        what: name of the allowance.
        amount: wanted.
        most: the allowance of a message.
    """
    seq, spent = message.flow.memo.get(what, (message.seq, 0))
    spent = spent if seq == message.seq else 0
    granted = max(min(amount, most - spent), 0)
    message.flow.memo[what] = (message.seq, spent + granted)
    return granted


def _within(ask: Ask, entries: list[Entry]) -> Reading:
    """Cut the texts of a form to what may be read of its message."""
    message = text_of(ask.params.get("message"))
    wanted = min(len(message), LONGEST) + sum(
        min(len(text), LONGEST) for entry in entries for _, text in entry.texts()
    )
    if spend(ask.message, "texts", wanted, MOST_TEXT) == wanted:
        return Reading(entries, message)
    nothing = [entry._replace(title="", description="") for entry in entries]
    if len(message) >= MOST_TEXT // 8:
        return Reading(nothing, "")
    granted = spend(ask.message, "messages", len(message), MOST_TEXT // 2)
    return Reading(nothing, message if granted == len(message) else "")
