"""A requestState that anybody can read: what is in there, and whether anything protects it."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import unquote

from mcp_tap.core.facts.message import Message, is_masked
from mcp_tap.core.redact_names import folded
from mcp_tap.core.text import brief, fingerprint
from mcp_tap.core.wire import loads
from mcp_tap.rules.base import Hit, Hits, rule
from mcp_tap.rules.keys import is_secret
from mcp_tap.rules.shapes import decode, is_harmless, jwt_payload, secret_in
from mcp_tap.rules.shapes_persons import email_in
from mcp_tap.rules.walk import texts_in

LONGEST: Final = 100_000
"""Characters of a state that is read."""
MOST_PARTS: Final = 8
"""Parts between dots that are read."""

_PROTECTION: Final = frozenset(
    {"sig", "signature", "mac", "hmac", "tag", "seal", "checksum", "digest"}
)
"""Members that protect the others."""


@rule(
    "SEC-023",
    severity="note",
    level="heuristic",
    blames="server",
    spec="specification/2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow",
    on="input_required",
)
def request_state_plaintext(m: Message) -> Hits:
    """A requestState is readable JSON without any visible integrity protection.

    Whoever holds it can change it, so a server must treat it as input from a stranger, or protect
    it.  Found is JSON as it is, and in Base64, Base64url or percent-encoding, with no signature
    beside it or in it.  It is a note: where tampering does no harm, no protection is needed.  Said
    once a method.
    """
    state = _state(m)
    if state is None:
        return None
    value = _readable(state)
    if value is None or _is_protected(value):
        return None
    words = f"server sends a requestState ({fingerprint(state)}) that is readable JSON "
    return Hit(words + "without visible protection", "/result/requestState", once=m.method)


@rule(
    "SEC-024",
    severity="warning",
    level="heuristic",
    blames="server",
    spec="specification/2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow",
    on="input_required",
)
def request_state_leaks_data(m: Message) -> Hits:
    """A readable requestState contains credentials or personal data.

    It passes the client, which may keep it anywhere, and a signature hides nothing.  Looked at are
    members with the name of a secret and a value, values of well-known make (as in SEC-007), and
    e-mail addresses; of a JWT only its payload.  Ids, times, nonces and digests are fine.
    """
    state = _state(m)
    if state is None:
        return None
    found = []
    for value in _all_readable(state):
        for _, name, text in texts_in(value):
            what = _leak(name, text)
            if what is not None:
                words = f"server sends a readable requestState ({fingerprint(state)}) with {what}"
                found.append(Hit(words, "/result/requestState", spot=name and name[:60]))
    return found


def _state(m: Message) -> str | None:
    state = m.result.get("requestState") if m.result is not None else None
    if type(state) is not str or not 2 <= len(state) <= LONGEST or is_masked(state):
        return None
    return state


def _readable(text: str) -> Any:
    """Read JSON, plain or encoded; None where it is none, or no object or array."""
    text = text.strip()
    if "%" in text:
        text = unquote(text).strip()
    if text[:1] in ("{", "["):
        return _json(text.encode("utf-8", "surrogatepass"))
    if text[:1] not in ("e", "W", "I", "C", "D"):  # Base64 of a brace, a bracket, a blank
        return None
    decoded = decode(text)
    if decoded is None or decoded.lstrip()[:1] not in (b"{", b"["):
        return None
    return _json(decoded)


def _all_readable(state: str) -> list[Any]:
    """Read a state as a whole, or else what is readable of its parts."""
    value = _readable(state)
    if value is not None:
        return [value]
    payload = jwt_payload(state)
    if payload is not None:
        value = _json(payload)
        return [value] if value is not None else []
    text = state.strip()
    if text[:1] == "{" and (end := text.rfind("}")) > 0:
        value = _json(text[: end + 1].encode("utf-8", "surrogatepass"))
        return [value] if value is not None else []
    parts = [_readable(part) for part in text.split(".", MOST_PARTS)[:MOST_PARTS]]
    return [value for value in parts if value is not None]


def _json(data: bytes) -> Any:
    try:
        value = loads(data)
    except ValueError:
        return None
    return value if type(value) in (dict, list) else None


def _is_protected(value: Any) -> bool:
    """Tell whether a member of the state protects the others."""
    return type(value) is dict and any(
        type(text) is str and len(text) >= 16 and folded(name) in _PROTECTION
        for name, text in value.items()
    )


def _leak(name: str | None, text: str) -> str | None:
    if not text or is_masked(text):
        return None
    kind = secret_in(text)
    if kind is not None:
        return kind
    if name is not None and is_secret(name):
        return None if is_harmless(text) else f"a value for {brief(name, 40)}"
    return "an e-mail address" if email_in(text) else None
