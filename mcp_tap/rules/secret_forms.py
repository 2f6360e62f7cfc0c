"""Forms that ask for passwords, keys and tokens: what form mode must never be used for."""

from __future__ import annotations

from mcp_tap.core.facts.ask import Ask
from mcp_tap.core.facts.message import is_masked
from mcp_tap.core.forms import Field, form_of, is_form
from mcp_tap.core.text import brief
from mcp_tap.rules.base import ALL, RECENT, Hit, Hits, rule
from mcp_tap.rules.entries import Entry, entry_named, read, spend, text_of, word_of
from mcp_tap.rules.keys import is_pin, is_secret
from mcp_tap.rules.shapes import secret_in
from mcp_tap.rules.words import asks

MOST_VALUES = 1000
"""Values a form offers that are looked at, of the forms of one message together."""
MOST_OFFERED = 200_000
"""Characters of them."""


@rule(
    "SEC-001",
    severity="error",
    level="heuristic",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#user-interaction-model",
    on="ask form",
    versions=ALL,
)
def form_secret_field_name(ask: Ask) -> Hits:
    """A form field's key, or its `format: password`, marks it as a secret.

    What is entered into a form passes the client, its logs and perhaps the model; a secret must
    take the way of url mode, where only the server sees it.

    The end of the key decides: `userPassword` and `api_key` are secrets, `password_policy` and
    `api_key_name` are not, and neither are `public_key` and `next_page_token`.  Fields in which
    nothing can be typed (yes or no, fixed choices) never count; fields for numbers only as a PIN.
    """
    reading = read(ask)
    if reading is None:
        return None
    return [
        Hit(
            f"server asks for a secret in a form: {_why(entry)}",
            ask.at_field(entry.name),
            spot=entry.name,
        )
        for entry in reading.entries
        if _is_named_secret(entry)
    ]


@rule(
    "SEC-002",
    severity="error",
    level="heuristic",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#user-interaction-model",
    on="ask form",
    versions=ALL,
)
def form_secret_field_text(ask: Ask) -> Hits:
    """The title or description of a form field asks for a secret, in any supported language.

    Whatever the key is called, the person reads the title.  A title asks by naming the secret.  A
    description does so too, unless its clause says the opposite ("never enter your password"), or
    that somebody will be sent one.  What only has to do with a secret (a password policy, the name
    of an API key) is not asked for, and user names and e-mail addresses are no secrets.

    Languages: those of the word lists in `rules/data/words.toml`.
    """
    reading = read(ask)
    if reading is None:
        return None
    found = []
    for entry in reading.entries:
        said = word_of(entry, "secrets")
        if said is not None:
            place, word = said
            words = f"server asks for a secret in a form: the {place} of field "
            words += f"{brief(entry.name, 40)} says {brief(word.term, 40)}"
            found.append(Hit(words, ask.at_field(entry.name, place), spot=entry.name))
    return found


@rule(
    "SEC-003",
    severity="error",
    level="heuristic",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#user-interaction-model",
    on="ask form",
    versions=ALL,
)
def form_secret_message(ask: Ask) -> Hits:
    """The message of a form asks the user to type a secret although the fields look neutral.

    One clause must hold both a request and the secret, and no negation; a message that only
    mentions a secret ("a password will be e-mailed to you", "a name for the API key") is fine.  So
    is any message of url mode, and of a form without a field to type text in.
    """
    reading = read(ask)
    if reading is None or not reading.has_text or not reading.message:
        return None
    word = asks("secrets", "message", reading.message)
    if word is None:
        return None
    words = f"server asks for a secret in a form: its message requests {brief(word.term, 40)}"
    return Hit(words, ask.at("message"))


@rule(
    "SEC-006",
    severity="error",
    level="heuristic",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#url-mode-elicitation-for-oauth-flows",
    on="ask form",
    versions=RECENT,
)
def form_secret_default(ask: Ask) -> Hits:
    """A form field is pre-filled with something that looks like a credential.

    A server must never hand a credential to the client, and a default, an option or an option's
    title does just that.  Only values of well-known make count (as in SEC-007); what stands for one
    (`xxxx`, `<token>`, `your-key-here`) does not.
    """
    if not is_form(ask):
        return None
    found = []
    for name, field in form_of(ask).fields.items():
        if len(field.schema) < 2:
            continue
        for key, value in _offered(ask, field):
            kind = None if is_masked(value) else secret_in(value)
            if kind is not None:
                words = f"server's form offers {kind} in {key} of field {brief(name, 40)}"
                found.append(Hit(words, ask.at_field(name, key), spot=name))
                break
    return found


def asks_for_secret(ask: Ask, name: str) -> bool:
    """Tell whether a form asked for a secret in a field, by its key, its texts or its message."""
    entry = entry_named(ask, name)
    if entry is not None and is_marked_secret(entry):
        return True
    message = text_of(ask.params.get("message"))
    return bool(message) and asks("secrets", "message", message) is not None


def is_marked_secret(entry: Entry) -> bool:
    """Tell whether a field's key, format or texts mark it as a secret."""
    return _is_named_secret(entry) or word_of(entry, "secrets") is not None


def _is_named_secret(entry: Entry) -> bool:
    if entry.numeric:
        return is_pin(entry.name) and is_secret(entry.name)
    return entry.schema.get("format") == "password" or is_secret(entry.name)


def _why(entry: Entry) -> str:
    name = brief(entry.name, 40)
    return (
        f"field {name} is named like one"
        if is_secret(entry.name)
        else (f"field {name} has the format password")
    )


def _offered(ask: Ask, field: Field) -> list[tuple[str, str]]:
    """Give the values a field offers, and the titles of its options, with where they stand."""
    found: list[tuple[str, object]] = []
    for key in ("default", "const", "enum", "enumNames", "examples"):
        value = field.schema.get(key)
        found += [(key, one) for one in (value[:MOST_VALUES] if type(value) is list else (value,))]
    for key, place in (("enum", field.items), ("oneOf", field.schema), ("anyOf", field.schema)):
        found += _options(key, place.get(key))
    found += [("items", value) for _, value in _options("anyOf", field.items.get("anyOf"))]
    texts = [(key, value) for key, value in found if type(value) is str and len(value) >= 16]
    granted = spend(ask.message, "offered", len(texts), MOST_VALUES)
    size = sum(len(value) for _, value in texts[:granted])
    if spend(ask.message, "offered text", size, MOST_OFFERED) < size:
        return []
    return texts[:granted]


def _options(key: str, listed: object) -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for option in listed[:MOST_VALUES] if type(listed) is list else ():
        if type(option) is dict:
            found += [(key, option.get("const")), (key, option.get("title"))]
        else:
            found.append((key, option))
    return found
