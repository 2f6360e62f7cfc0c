"""`requestState` of the demo server: signed, short-lived, bound to the request it was issued for.

The client carries the state, so on its way back it is input of an attacker.  What the signature
covers, and what is checked: method, target and arguments of the request, an expiry.  A principal is
missing only because the demo has no authentication.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Any

LIFETIME = 600.0
"""Seconds a state is good for."""


class BadStateError(Exception):
    """A state that was not issued by this server, for this request, in time."""


class Sealer:
    """Issues states and opens them again; one key for each life of the server."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def seal(self, params: dict[str, Any], facts: dict[str, Any]) -> str:
        """Sign `facts` for a retry of the `tools/call` request with these `params`."""
        payload = {**facts, "for": _target(params), "exp": round(time.time() + LIFETIME)}
        text = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
        return f"{_pack(text)}.{_pack(self._sign(text))}"

    def open(self, params: dict[str, Any], state: object) -> dict[str, Any]:
        """Give back the facts of a state, or raise `BadStateError`."""
        if not isinstance(state, str):
            raise BadStateError("requestState is not a string")
        payload, _, signature = state.partition(".")
        try:
            text = _unpack(payload)
            genuine = hmac.compare_digest(_unpack(signature), self._sign(text))
        except ValueError:
            genuine, text = False, b""
        if not genuine:
            raise BadStateError("requestState was not issued here, or was changed")
        facts: dict[str, Any] = json.loads(text)
        if facts.pop("for") != _target(params):
            raise BadStateError("requestState belongs to another request")
        if facts.pop("exp") < time.time():
            raise BadStateError("requestState has expired")
        return facts

    def _sign(self, text: bytes) -> bytes:
        return hmac.digest(self._key, text, "sha256")


def _target(params: dict[str, Any]) -> str:
    """Digest what has to be equal in a retry: the tool and its arguments."""
    salient = ["tools/call", params.get("name"), params.get("arguments")]
    return hashlib.sha256(json.dumps(salient, sort_keys=True).encode()).hexdigest()[:16]


def _pack(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _unpack(text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None
