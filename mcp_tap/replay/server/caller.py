"""Who is being answered."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from mcp_tap.core.wire import dumps
from mcp_tap.replay.keys import params_of


class Caller(Struct):
    """What a client's request has that others' have not."""

    value: dict[str, Any]
    id: bytes | None
    """Its JSON-RPC id, as JSON."""
    progress: bytes | None
    """Its progress token, as JSON."""
    tasks: dict[str, str]
    """Recorded ids of tasks it asks about -> those it knows."""

    @classmethod
    def of(cls, value: dict[str, Any], tasks: dict[str, str] | None = None) -> Caller:
        """Read it from a request."""
        meta = params_of(value).get("_meta")
        token = meta.get("progressToken") if type(meta) is dict else None
        return cls(
            value,
            dumps(value["id"]) if "id" in value else None,
            None if token is None else dumps(token),
            tasks or {},
        )
