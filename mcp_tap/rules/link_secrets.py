"""Links of elicitations that carry secrets or personal data: url mode must not do that.

A link is shown, kept in histories and logs, and sent on.  What it holds should be of no use to
whoever else reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from mcp_tap.core.facts.ask import Ask
from mcp_tap.core.facts.message import Message, is_masked
from mcp_tap.core.redact_names import folded, folded_all
from mcp_tap.core.text import brief
from mcp_tap.rules.base import RECENT, Hit, Hits, rule
from mcp_tap.rules.entries import spend
from mcp_tap.rules.shapes import is_placeholder, secret_in
from mcp_tap.rules.shapes_persons import email_in, phone_in
from mcp_tap.rules.urls import MOST_PAIRS, Pairs, Url, pairs_of, read_url

_ALWAYS: Final = folded_all(("password", "passwd", "pwd", "secret", "client_secret", "passphrase"))
"""Parameters that are a secret whatever their value."""
_LONG: Final = folded_all(
    (
        *("token", "access_token", "id_token", "refresh_token", "auth", "api_key", "session"),
        *("session_id", "sid", "jwt", "otp", "auth_token", "session_token", "api_token"),
        *("bearer", "bearer_token", "jsessionid", "phpsessid"),
    )
)
"""Parameters that are one where the value is long enough."""
_SELECTORS: Final = frozenset({"auth", "session"})
"""Those whose value may be the name of something to choose."""
_LONG_ENOUGH: Final = 8
_CODE_LENGTH: Final = 10
_NO_TOKENS: Final = folded_all(
    ("code_challenge", "request", "x-amz-credential", "awsaccesskeyid", "code_challenge_method")
)
"""Parameters whose value may look like a token and opens nothing."""
_SIGNATURES: Final = frozenset({"signature", "sig", "hmac"})
_EXPIRIES: Final = frozenset(
    {"expires", "exp", "e", "expiry", "expiration", "expires_at", "expiresat"}
)
_PERSONAL: Final = folded_all(
    (
        *("email", "e_mail", "phone", "login_hint", "first_name", "last_name", "full_name"),
        *("birthdate", "ssn", "passport", "email_address", "phone_number", "mobile_number"),
        *("birth_date", "date_of_birth", "birthday", "dob", "given_name", "family_name"),
        *("surname", "user_email", "passport_number", "social_security_number"),
    )
)
_SWITCHES: Final = frozenset({"true", "false", "0", "1", "yes", "no", "on", "off", "required"})
_LOWER: Final = re.compile(r"[a-z]+\Z")
MOST_TEXT: Final = 100_000
"""Characters of the urls of one message that are read."""
MOST_PARTS: Final = 5_000
"""Parts of these urls that are decoded for it."""
_AUTHORITY: Final = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.\-]*:[/\\]{2,}([^/\\?#]*)")


def url_of(ask: Ask) -> Url | None:
    """Read the url of an ask; None where it has none that a browser opens.

    None too where the asks of its message have more of them than anybody opens.
    """
    text = ask.params.get("url")
    if type(text) is not str:
        return None
    memo = ask.flow.memo
    held = memo.get("url")
    if held is None or held[0] is not ask:
        granted = spend(ask.message, "all urls", len(text), MOST_TEXT)
        held = memo["url"] = (ask, granted == len(text))
    return read_url(text) if held[1] else None


@rule(
    "SEC-009",
    severity="error",
    level="heuristic",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#safe-url-handling",
    on="ask url",
    versions=RECENT,
)
def url_userinfo(ask: Ask) -> Hits:
    """The elicitation url embeds user information before the host.

    `https://user:password@host/` gives a credential away, and `https://bank.example@evil.example/`
    hides where a link leads.  An `@` in the path or the query is fine.
    """
    text = ask.params.get("url")
    if type(text) is not str or "@" not in text:
        return None
    url = read_url(text)
    authority = _AUTHORITY.match(text[:10_000])
    inside = authority is not None and "@" in authority[1]
    if not inside and (url is None or not (url.username or url.password)):
        return None
    what = "a user name and password" if url is not None and url.password else "user information"
    return Hit(f"server sends a url with {what} before the host", ask.at("url"))


@rule(
    "SEC-010",
    severity="error",
    level="heuristic",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#safe-url-handling",
    on="ask url",
    versions=RECENT,
)
def url_secret_parameter(ask: Ask) -> Hits:
    """The elicitation url carries a credential in a query or fragment parameter.

    A password or secret always is one; a token, key or session where its value is long enough to
    be one; a `code` likewise, unless the url is an OAuth request.  Placeholders, short selectors
    (`auth=google`), handles (`id`, `ref`, `elicitationId`) and the parameters of an OAuth request
    (`state`, `nonce`, `code_challenge`) are fine.  The value is never shown.
    """
    url = url_of(ask)
    if url is None or not (url.query or url.fragment):
        return None
    pairs = _pairs(url)
    oauth = any(name == "response_type" for name, _ in pairs)
    return [
        Hit(
            f"server sends a url with a credential in its parameter {brief(name, 40)}",
            ask.at("url"),
            spot=name[:60],
        )
        for name, value in pairs
        if _is_credential(folded(name.partition("[")[0]), value, oauth=oauth)
    ]


@rule(
    "SEC-011",
    severity="error",
    level="heuristic",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#safe-url-handling",
    on="ask url",
    versions=RECENT,
)
def url_embedded_token(ask: Ask) -> Hits:
    """A path segment, parameter or fragment of the elicitation url is a recognisable credential.

    Values of well-known make count (as in SEC-007), wherever they stand.  Random handles (a UUID,
    hex digits, Base64 without structure) are what such links should be made of.  Neither OAuth's
    `code_challenge` nor a signed `request` object opens anything.
    """
    url = url_of(ask)
    if url is None:
        return None
    found = []
    for where, name, value in _values(url):
        kind = None if is_masked(value) else secret_in(value)
        if kind is not None:
            words = f"server sends a url with {kind} in its {where}"
            found.append(Hit(words, ask.at("url"), spot=name[:60]))
    return found


@rule(
    "SEC-012",
    severity="error",
    level="heuristic",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#safe-url-handling",
    on="ask url",
    versions=RECENT,
)
def url_presigned(ask: Ask) -> Hits:
    """The elicitation url is pre-signed: it opens a protected resource without logging in.

    Whoever reads such a link can use it, so nobody knows who answered.  Known are the signatures of
    cloud storages, and any signature beside an expiry.  A signature alone may just protect a
    state: that is a note.
    """
    url = url_of(ask)
    if url is None or not url.query:
        return None
    given = {
        name.lower(): value for name, value in url.pairs if value and not is_placeholder(value)
    }
    kind = _presigned(given)
    if kind is not None:
        return Hit(f"server sends a url that is pre-signed: {kind}", ask.at("url"))
    signature = next((name for name in given if name in _SIGNATURES), None)
    if signature is None:
        return None
    words = f"server sends a url with a signature, {signature}, that may open it for anybody"
    return Hit(words, ask.at("url"), spot=signature, severity="note")


@rule(
    "SEC-013",
    severity="warning",
    level="heuristic",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#safe-url-handling",
    on="ask url",
    versions=RECENT,
)
def url_personal_data(ask: Ask) -> Hits:
    """The elicitation url contains personal data of the user.

    Found are e-mail addresses and international phone numbers anywhere behind the host, and
    parameters that are named after personal data and have a value.  Handles (`@team`), package
    scopes and numeric or opaque ids of users are fine.
    """
    url = url_of(ask)
    if url is None:
        return None
    found = []
    for spot, text in (("path", url.path), ("query", url.query), ("fragment", url.fragment)):
        what = _personal(text[: spend(ask.message, "urls", len(text), MOST_TEXT)], ask.message)
        if what is not None:
            found.append(
                Hit(f"server sends a url with {what} in its {spot}", ask.at("url"), spot=spot)
            )
    if found:
        return found
    for name, value in _pairs(url):
        if folded(name) in _PERSONAL and _says(value):
            words = f"server sends a url with personal data in its parameter {brief(name, 40)}"
            found.append(Hit(words, ask.at("url"), spot=name[:60]))
    return found


def _pairs(url: Url) -> Pairs:
    """Give the parameters of query and fragment, also of a route in the fragment."""
    pairs = url.pairs + url.fragment_pairs
    route, mark, query = url.fragment.partition("?")
    return pairs + pairs_of(query) if mark and "=" not in route else pairs


def _is_credential(name: str, value: str, *, oauth: bool) -> bool:
    if not value or is_masked(value) or is_placeholder(value):
        return False
    if name in _ALWAYS:
        return True
    if name in _LONG:
        if name in _SELECTORS and len(value) <= 16 and _LOWER.match(value):
            return False
        return len(value) >= _LONG_ENOUGH
    return name == "code" and not oauth and len(value) >= _CODE_LENGTH


def _values(url: Url) -> Iterator[tuple[str, str, str]]:
    """Give what a link is made of: what it is, its name, its decoded value."""
    for segment in url.segments:
        if len(segment) >= 16:
            yield "path", "path", segment
    for name, value in url.pairs + url.fragment_pairs:
        if len(value) >= 16 and folded(name) not in _NO_TOKENS:
            yield f"parameter {brief(name, 40)}", name, value
        elif len(name) >= 16 and not value:
            yield "query", "query", name
    if len(url.fragment) >= 16 and "=" not in url.fragment:
        yield "fragment", "fragment", unquote(url.fragment)


def _presigned(given: dict[str, str]) -> str | None:
    for name, kind in (
        ("x-amz-signature", "an Amazon S3 signature"),
        ("x-goog-signature", "a Google Cloud signature"),
        ("x-oss-signature", "an Alibaba Cloud signature"),
        ("x-cos-signature", "a Tencent Cloud signature"),
    ):
        if name in given:
            return kind
    if "sig" in given and ("se" in given or "sv" in given):
        return "an Azure shared access signature"
    if "signature" in given and "key-pair-id" in given:
        return "a CloudFront signature"
    if "signature" in given and "ossaccesskeyid" in given:
        return "an Alibaba Cloud signature"
    signed = next((name for name in given if name in _SIGNATURES), None)
    expiry = next((name for name in given if name in _EXPIRIES), None)
    if signed is not None and expiry is not None:
        return f"{signed} and {expiry}"
    return None


def _personal(text: str, message: Message) -> str | None:
    if "@" not in text and "%40" not in text and "+" not in text and "%2" not in text:
        return None
    for piece in re.split(r"[&;/?=]", text, maxsplit=MOST_PAIRS):
        if "@" not in piece and "%" not in piece and "+" not in piece:
            continue
        if not spend(message, "parts of urls", 1, MOST_PARTS):
            return None
        decoded = unquote(piece)
        if is_masked(decoded):
            continue
        if email_in(decoded):
            return "an e-mail address"
        if phone_in(decoded):
            return "a phone number"
    return None


def _says(value: str) -> bool:
    if not value.strip() or is_masked(value) or is_placeholder(value):
        return False
    return value.strip().lower() not in _SWITCHES
