"""Values that give themselves away: keys and tokens of well-known make, cards, addresses.

Only what is made to be recognised counts (`ghp_..`, a JWT, a PEM block): a UUID, a digest or plain
Base64 may be anything.  What stands for a secret without being one (`****`, `<token>`, a masked
value) never counts.  Nobody shows what was found, only what kind it is.

The values are a stranger's: time is linear in them.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable
from typing import Final, NamedTuple

from mcp_tap.core.redact_text import MARK
from mcp_tap.core.wire import loads

LONGEST: Final = 200_000
"""Characters of one value that are read."""
MOST_TRIES: Final = 200
"""Places looked at in one value for one shape."""

_B64URL: Final = r"[A-Za-z0-9_-]"
_EDGE: Final = r"(?<![A-Za-z0-9_])"
_AFTER: Final = r"(?![A-Za-z0-9])"


class _Shape(NamedTuple):
    kind: str
    marks: tuple[str, ...]
    """One of them is in every value of this shape."""
    pattern: re.Pattern[str]
    """Its group is the part that is random."""
    check: Callable[[str], bool] | None
    """What that part must be, too."""


def _shape(
    kind: str, marks: str, pattern: str, check: Callable[[str], bool] | None = None
) -> _Shape:
    return _Shape(kind, tuple(marks.split()), re.compile(pattern), check)


def _has_digit(part: str) -> bool:
    return _DIGIT.search(part) is not None


def _is_key(part: str) -> bool:
    """Tell a key from words with hyphens: `learn-pipeline` is none."""
    if part.startswith(_KEY_KINDS):
        return len(part) >= 20 and _has_digit(part)
    return any(
        len(run) >= 16 and _has_digit(run) and not run.isdigit() for run in _RUNS.split(part)
    )


_DIGIT: Final = re.compile(r"\d")
_RUNS: Final = re.compile(r"[_-]")
_KEY_KINDS: Final = ("ant-", "proj-", "svcacct-", "admin-", "or-")


_SHAPES: Final = (
    _shape(
        "a GitHub token",
        "ghp_ gho_ ghu_ ghs_ ghr_",
        rf"{_EDGE}gh[pousr]_([A-Za-z0-9]{{30,255}}){_AFTER}",
    ),
    _shape("a GitHub token", "github_pat_", rf"{_EDGE}github_pat_([A-Za-z0-9_]{{22,255}}){_AFTER}"),
    _shape("an API key", "sk-", rf"{_EDGE}sk-({_B64URL}{{16,300}}+)(?!\.{{3}}|\u2026)", _is_key),
    _shape(
        "a Stripe key",
        "sk_live_ sk_test_ rk_live_ rk_test_",
        rf"{_EDGE}[sr]k_(?:live|test)_([A-Za-z0-9]{{16,255}}){_AFTER}",
    ),
    _shape("a webhook secret", "whsec_", rf"{_EDGE}whsec_([A-Za-z0-9+/=]{{24,128}})"),
    _shape("an AWS key id", "AKIA ASIA", rf"(?<![A-Za-z0-9])(?:AKIA|ASIA)([A-Z0-9]{{16}}){_AFTER}"),
    _shape("a Google API key", "AIza", rf"(?<![A-Za-z0-9])AIza({_B64URL}{{35}})(?![A-Za-z0-9_-])"),
    _shape("a Google token", "ya29.", rf"{_EDGE}ya29\.({_B64URL}{{20,2000}})"),
    _shape("a Google client secret", "GOCSPX-", rf"{_EDGE}GOCSPX-({_B64URL}{{20,64}})"),
    _shape("a Slack token", "xox", rf"{_EDGE}xox[abeoprs]-([A-Za-z0-9-]{{10,255}}+)", _has_digit),
    _shape("a Slack token", "xapp-", rf"{_EDGE}xapp-([A-Za-z0-9-]{{20,255}}+)", _has_digit),
    _shape(
        "a GitLab token",
        "glpat- gldt- glrt- glptt-",
        rf"{_EDGE}gl(?:pat|dt|rt|ptt)-({_B64URL}{{20,255}})",
    ),
    _shape("an npm token", "npm_", rf"{_EDGE}npm_([A-Za-z0-9]{{30,64}}){_AFTER}"),
    _shape("a Hugging Face token", "hf_", rf"{_EDGE}hf_([A-Za-z0-9]{{30,64}}){_AFTER}"),
    _shape("a PyPI token", "pypi-AgE", rf"{_EDGE}pypi-(AgE{_B64URL}{{40,1000}})"),
    _shape("a Docker token", "dckr_pat_", rf"{_EDGE}dckr_pat_({_B64URL}{{20,64}})"),
    _shape("a DigitalOcean token", "dop_v1_", rf"{_EDGE}dop_v1_([a-f0-9]{{64}}){_AFTER}"),
    _shape(
        "a Shopify token",
        "shpat_ shpss_ shpca_ shppa_",
        rf"{_EDGE}shp(?:at|ss|ca|pa)_([a-fA-F0-9]{{32}}){_AFTER}",
    ),
    _shape(
        "a SendGrid key", "SG.", rf"(?<![A-Za-z0-9_.])SG\.({_B64URL}{{20,24}}\.{_B64URL}{{39,50}})"
    ),
    _shape("a Groq key", "gsk_", rf"{_EDGE}gsk_([A-Za-z0-9]{{40,64}}){_AFTER}"),
    _shape("a Databricks token", "dapi", rf"{_EDGE}dapi([a-f0-9]{{32}}){_AFTER}"),
    _shape("a Linear key", "lin_api_", rf"{_EDGE}lin_api_([A-Za-z0-9]{{30,64}}){_AFTER}"),
    _shape("a Notion token", "ntn_", rf"{_EDGE}ntn_([A-Za-z0-9]{{40,64}}){_AFTER}"),
    _shape(
        "a Telegram token", ":AA", rf"(?<![0-9])[0-9]{{8,10}}:(AA{_B64URL}{{33}})(?![A-Za-z0-9_-])"
    ),
    _shape("an Atlassian token", "ATATT3", rf"{_EDGE}(ATATT3[A-Za-z0-9_=-]{{50,255}})"),
    _shape("a Vault token", "hvs.", rf"{_EDGE}hvs\.({_B64URL}{{24,255}})"),
    _shape(
        "a private key",
        "PRIVATE",
        r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:\s|\\[rn]|[A-Za-z-]{1,20}: [^\r\n]{0,80}){0,12}([A-Za-z0-9+/=]{12}"
        r"|(?:(?<=[\r\n])|(?<=\\[rn]))[A-Za-z0-9+/=]{6,11}+(?=[\r\n]|\\[rn]|-----))",
    ),
    _shape("an age key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1([A-Z0-9]{50,64})"),
    _shape(
        "an AWS secret",
        "ecret ECRET",
        r"(?:ecret|ECRET)(?i:[_.\- ]?(?:access)?[_.\- ]?key)[\"']?\s{0,4}[=:]\s{0,4}[\"']?"
        r"([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
    ),
    _shape(
        "an Authorization header",
        "Bearer bearer Basic basic",
        r"(?i:authorization)[\"']?\s{0,4}[=:]\s{0,4}[\"']?(?i:bearer|basic)\s{1,4}([A-Za-z0-9._~+/=-]{16,2000})",
    ),
)
_JWT: Final = re.compile(
    r"(?<![A-Za-z0-9_.-])(e[wy][A-Za-z0-9_-]{8,4000})\.([A-Za-z0-9_-]{2,}+)\.([A-Za-z0-9_-]*+)"
)
_STANDS_IN: Final = re.compile(
    r"(?i)your|placeholder|redacted|changeme|change-me|insert|replace|x{6}|\*{3}|\u2022{3}|\.{3}|"
    r"\u2026|dummy|censored|masked|hidden|<|>|\{\{|0{10}|1234567890123456"
)
_MASKED: Final = re.compile(
    r"(?i)\*{2,}|\u2022{2,}|\u25cf{2,}|x{4,}|redacted|masked|filtered|censored|"
    r"hidden|removed|scrubbed|sanitized|(?:\.{3}|\u2026)(?!$)|^.{0,9}(?:\.{3}|\u2026)$|"
    r"^<[^>]*>$|^\[[^\]]*\]$|^\{.*\}$|^\$\{?\w+\}?$|^%[sdr]$|^-+$|^_+$"
)
_BLANK: Final = re.compile(r"\$\{?[A-Z_][A-Z0-9_]*\}?|:[a-z_]+|[*xX.\u2022_-]{3,}|\*+")
_STATEMENTS: Final = frozenset(
    {
        *(
            "",
            "null",
            "none",
            "nil",
            "undefined",
            "true",
            "false",
            "yes",
            "no",
            "ok",
            "set",
            "unset",
        ),
        *("missing", "present", "absent", "empty", "invalid", "valid", "expired", "required"),
        *(
            "optional",
            "unknown",
            "not set",
            "configured",
            "not configured",
            "provided",
            "n/a",
            "na",
        ),
        *("not provided", "rotated", "revoked", "refreshed", "stored", "string", "secret", "token"),
        *("password", "default", "changed", "updated", "failed", "wrong", "bearer", "basic", "env"),
        *("encrypted", "hashed", "loaded", "found", "not found", "denied", "accepted", "rejected"),
    }
)
"""Words that say something of a secret and are none."""


def secret_in(value: str) -> str | None:
    """Name what a value holds where that is a credential of well-known make; None otherwise."""
    if len(value) < 16:
        return None
    value = value[:LONGEST]
    if _holds_jwt(value):
        return "a JWT"
    for kind, marks, pattern, check in _SHAPES:
        for mark in marks:
            if mark in value:
                break
        else:
            continue
        for tries, found in enumerate(pattern.finditer(value)):
            if tries >= MOST_TRIES:
                break
            if (check is None or check(found[1])) and not _stands_in(found[1]):
                return kind
    return None


def jwt_payload(value: str) -> bytes | None:
    """Decode the payload of a value that is a JWT; None for anything else."""
    found = _JWT.fullmatch(value)
    return decode(found[2]) if found is not None and _is_header(found[1]) else None


def decode(text: str) -> bytes | None:
    """Decode Base64 or Base64url, with or without padding; None for what is neither."""
    body = text.rstrip("=")
    if len(text) - len(body) > 2 or len(body) % 4 == 1 or not body.isascii():
        return None
    standard = body.replace("-", "+").replace("_", "/")
    try:
        return binascii.a2b_base64(standard + "=" * (-len(body) % 4), strict_mode=True)
    except ValueError:
        return None


def is_masked_text(value: str) -> bool:
    """Tell whether a value was made unreadable by whoever wrote it, or stands for one."""
    return MARK in value or len(value.strip()) == 0 or _MASKED.search(value[:1000]) is not None


def is_statement(value: str) -> bool:
    """Tell whether a value says something of a secret instead of being one."""
    return value.strip().lower() in _STATEMENTS


def is_harmless(value: str) -> bool:
    """Tell whether a value gives nothing away, although its name is that of a secret."""
    return is_masked_text(value) or is_placeholder(value) or is_statement(value)


def is_placeholder(value: str) -> bool:
    """Tell whether somebody is to put something in the place of a value: `{token}`, `<id>`."""
    if MARK in value:
        return True
    text = value.strip()
    edges = text[:1] + text[-1:]
    return (len(text) > 1 and edges in ("{}", "<>", "[]", "%%")) or _BLANK.fullmatch(
        text
    ) is not None


def _holds_jwt(value: str) -> bool:
    if "ey" not in value and "ew" not in value:
        return False
    for tries, found in enumerate(_JWT.finditer(value)):
        if tries >= MOST_TRIES:
            return False
        if _is_header(found[1]):
            return True
    return False


def _is_header(part: str) -> bool:
    decoded = decode(part)
    if decoded is None:
        return False
    try:
        header = loads(decoded)
    except ValueError:
        return False
    return type(header) is dict and type(header.get("alg")) is str


def _stands_in(part: str) -> bool:
    return len(set(part)) <= 3 or _STANDS_IN.search(part) is not None
