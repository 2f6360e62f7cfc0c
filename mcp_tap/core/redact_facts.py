"""What stays known of a masked value: its look, its type, and whom it names; and what is RPC."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any, Final

from mcp_tap.core.wire import loads

_SHAPES: Final = (
    ("jwt", re.compile(r"[\w-]{4,}\.[\w-]{4,}\.[\w-]*")),
    ("uuid", re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")),
    ("digits", re.compile(r"\d+")),
    ("hex", re.compile(r"[0-9a-fA-F]{16,}")),
    ("base64url", re.compile(r"[\w-]{16,}={0,2}")),
)


def shape(value: str) -> str:
    """Class a secret by its look, which says nothing of its content."""
    if not value:
        return "empty"
    return next((name for name, pattern in _SHAPES if pattern.fullmatch(value)), "opaque")


def json_type(value: Any) -> str:
    """Name the JSON type of what is masked, which is never null or a boolean."""
    if isinstance(value, str):
        return "string"
    if isinstance(value, (int, float)):
        return "number"
    return "array" if isinstance(value, list) else "object"


def principal(value: str, scheme: str | None) -> str | None:
    """Name the person or service of a credential, so that rules can tell principals apart."""
    try:
        if scheme and scheme.lower() == "basic":
            user = base64.b64decode(value, validate=True).partition(b":")[0]
            return user.decode("utf-8", "surrogateescape")
        if shape(value) == "jwt":
            part = value.split(".")[1]
            claims = loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
            if isinstance(claims, dict) and isinstance(claims.get("sub"), str):
                return f"{claims.get('iss', '')}\n{claims['sub']}"
    except (ValueError, binascii.Error):
        pass
    return None


def is_rpc(value: Any) -> bool:
    """Tell whether this is JSON-RPC beyond doubt, and not the answer of a token endpoint."""
    return isinstance(value, dict) and (
        "jsonrpc" in value or ("id" in value and ("method" in value or "result" in value))
    )
