"""Names under which credentials travel: header fields, parameters, members."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

CREDENTIAL_HEADERS: Final = frozenset(
    {"authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key"}
)
SECRET_PARAMETERS: Final = frozenset(
    {
        "access_token",
        "actor_token",
        "api_key",
        "apikey",
        "assertion",
        "auth_req_id",
        "client_assertion",
        "client_secret",
        "code",
        "code_verifier",
        "device_code",
        "id_token",
        "id_token_hint",
        "initial_access_token",
        "key",
        "login_hint_token",
        "logout_token",
        "password",
        "refresh_token",
        "registration_access_token",
        "samlresponse",
        "secret",
        "software_statement",
        "subject_token",
        "token",
        "user_code",
    }
)
"""Query parameters that are masked."""
OAUTH_FIELDS: Final = SECRET_PARAMETERS - {"key", "password"} | {"verification_uri_complete"}
"""Fields of form posts and JSON payloads other than JSON-RPC that are masked."""
URL_HEADERS: Final = frozenset(
    {"content-location", "link", "location", "origin", "referer", "refresh"}
)
"""Header fields that hold a URL, whose secrets are masked like those of the request's own."""


def folded(name: str) -> str:
    """Spell a name as all its spellings are compared: `accessToken`, `Access-Token` alike."""
    return name.lower().replace("_", "").replace("-", "")


def folded_all(names: Iterable[str]) -> frozenset[str]:
    """Fold names to look others up in."""
    return frozenset(map(folded, names))
