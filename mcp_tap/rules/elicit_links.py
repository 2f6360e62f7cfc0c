"""Links of elicitations: the url of url mode, and links that have no business in a form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from mcp_tap.core.facts.ask import Ask
from mcp_tap.core.facts.message import Message, is_masked
from mcp_tap.core.forms import MOST_FIELDS, form_of, is_form
from mcp_tap.core.text import brief
from mcp_tap.rules.base import RECENT, Hit, Hits, rule
from mcp_tap.rules.elicit_options import titles_in
from mcp_tap.rules.entries import spend
from mcp_tap.rules.urls import fault, read_url

DANGEROUS: Final = frozenset(
    {"javascript", "data", "vbscript", "file", "blob", "about", "view-source", "intent"}
)
"""Schemes that run code or open local content: they are SEC-017."""
_CONTROLS: Final = {**dict.fromkeys(range(0x21)), **dict.fromkeys(range(0x7F, 0xA0))}
MOST_LINKS: Final = 50
"""Links looked at in one text."""
MOST_TITLES: Final = 1000
"""Titles of options looked at in one form."""
MOST_TEXT: Final = 200_000
"""Characters looked at in the forms of one message."""
MOST_BEFORE: Final = 500
"""Characters before a link in which it may be introduced as a sample."""
MOST_SAMPLES: Final = 100
"""Texts of one message in which that is looked for."""

_RESERVED: Final = ("example", "invalid", "localhost", "example.com", "example.net", "example.org")
"""Domains that stand for any other, with all below them."""
_SAMPLE: Final = re.compile(
    r"\be\.? ?g\b|\bfor (?:example|instance)\b|\bsuch as\b|\blike\b"
    r"|\b(?:format|examples?|samples?)\b ?:"
    r"|\bz\. ?b\.|\bzum beispiel\b|\bpar exemple\b|\bpor ejemplo\b"
    r"|\bнапример\b|例えば|例如|例\uff1a",  # noqa: RUF001 (Cyrillic)
    re.IGNORECASE,
)
"""What introduces a sample."""
_LINK: Final = re.compile(r"://(?=/?[^\W_]|\[)|(?<![\w.\-/@])www\.(?=[^\W_])", re.IGNORECASE)
_AUTHORITY: Final = re.compile(r"""[^\s/?#\\()<>\[\]"'`,;|]+""")
_ANCHOR: Final = re.compile(r"<a\s", re.IGNORECASE)
_LONGEST_TARGET: Final = 2000


@rule(
    "ELIC-049",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#url-mode-elicitation-requests",
    on="ask url",
    versions=RECENT,
)
def url_invalid(ask: Ask) -> Hits:
    """The url of a url-mode elicitation is not a valid absolute URL.

    A browser must be able to open it as it stands: there is no page it could be relative to.  Hosts
    in any script, ports, queries and fragments are fine.  Which scheme it has is ELIC-050 and
    SEC-017; one that runs code is told there alone, whatever else is wrong with the url.
    """
    url = ask.params.get("url")
    if type(url) is not str or is_masked(url):
        return None
    why = fault(url)
    if why is None or dangerous_scheme(url) is not None:
        return None
    return Hit(f"server sends an elicitation with a url that {why}", ask.at("url"))


@rule(
    "ELIC-050",
    severity="warning",
    level="should",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#safe-url-handling",
    on="ask url",
    versions=RECENT,
)
def url_not_https(ask: Ask) -> Hits:
    """The url of a url-mode elicitation does not use https.

    What a person enters there is meant to be kept from others.  http to the own machine is
    development, and fine.  A url that is none is ELIC-049, one that runs code SEC-017.
    """
    text = ask.params.get("url")
    if type(text) is not str or text.startswith("https://") or is_masked(text):
        return None
    url = read_url(text)
    if url is None or url.scheme == "https" or url.scheme in DANGEROUS or fault(text) is not None:
        return None
    if url.scheme == "http" and url.is_loopback:
        return None
    words = f"server sends an elicitation with a url of scheme {brief(url.scheme, 40)}, not https"
    return Hit(words, ask.at("url"))


@rule(
    "ELIC-051",
    severity="warning",
    level="should",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#safe-url-handling",
    on="ask form",
    versions=RECENT,
)
def link_in_form_text(ask: Ask) -> Hits:
    """A form-mode elicitation contains a clickable link in its texts.

    A link in a form leads away without the care url mode takes: no host is shown, nobody is asked.
    Searched are the message and the titles and descriptions of the form, its fields and options.
    Bare host names are no links, and data (default, const, enum, examples) is no text.  A field
    that asks for a URL may speak of URLs, and any text may give a sample of a reserved domain, such
    as example.com.
    """
    if not is_form(ask):
        return None
    found = []
    for text, path, of in _texts(ask):
        what = _link(text[: spend(ask.message, "form links", len(text), MOST_TEXT)], ask.message)
        if what is not None:
            found.append(Hit(f"server's form has {what} in {of}", path))
    return found


def dangerous_scheme(url: str) -> str | None:
    """Name the scheme of a url that runs code or opens local content; None for any other.

    Blanks and control characters before or in it do not hide it, as they do not for browsers.
    """
    scheme, colon, _ = url[:1000].translate(_CONTROLS).partition(":")
    return scheme.lower() if colon and scheme.lower() in DANGEROUS else None


def _texts(ask: Ask) -> Iterator[tuple[str, str, str]]:
    message = ask.params.get("message")
    if type(message) is str:
        yield message, ask.at("message"), "its message"
    schema = ask.schema
    if schema is None:
        return
    for word in ("title", "description"):
        text = schema.get(word)
        if type(text) is str:
            yield text, ask.at("requestedSchema", word), f"its {word}"
    left = MOST_TITLES
    for name, field in islice(form_of(ask).fields.items(), MOST_FIELDS):
        if field.format == "uri":
            continue
        of = f"of field {brief(name, 40)}"
        for word in ("title", "description"):
            text = field.schema.get(word)
            if type(text) is str:
                yield text, ask.at_field(name, word), f"the {word} {of}"
        for text, steps in islice(titles_in(field), left):
            left -= 1
            yield text, ask.at_field(name, *steps), f"the title of an option {of}"


def _link(text: str, message: Message) -> str | None:
    """Say what kind of link a text has; None where it has none, or only samples."""
    if "://" not in text and "www." not in text.lower():
        return _markup(text)
    first = None
    for link in islice(_LINK.finditer(text), MOST_LINKS):
        scheme = text[link.start()] == ":"
        before = text[link.start() - 1 : link.start()]
        if scheme and not (before.isascii() and before.isalnum()):
            continue
        if first is None:
            first = link.start()
        host = _AUTHORITY.match(text, link.end() if scheme else link.start())
        if host is None or not _is_sample(host[0]):
            return "a link"
    if first is None:
        return _markup(text)
    if not spend(message, "form samples", 1, MOST_SAMPLES):
        return None
    return "a link" if _SAMPLE.search(text, max(first - MOST_BEFORE, 0), first) is None else None


def _is_sample(authority: str) -> bool:
    name = authority[:_LONGEST_TARGET].rpartition("@")[2].partition(":")[0].rstrip(".").lower()
    return any(name == known or name.endswith("." + known) for known in _RESERVED)


def _markup(text: str) -> str | None:
    """Find links of Markdown or HTML that need no scheme."""
    at = text.find("](")
    for _ in range(MOST_LINKS):
        if at < 0:
            break
        end = text.find(")", at + 2, at + _LONGEST_TARGET)
        target = text[at + 2 : end] if end > 0 else ""
        if "[" in text[max(at - 300, 0) : at] and _leads(target):
            return "a Markdown link"
        at = text.find("](", at + 2)
    found = _ANCHOR.search(text)
    if found is not None and "href" in text[found.end() :].lower():
        return "an HTML link"
    return None


def _leads(target: str) -> bool:
    words = target.split(None, 1)
    return bool(words) and any(ch in words[0] for ch in "./:#?")
