"""What tells one request from another: method, target and arguments, and nothing else."""

from __future__ import annotations

from typing import Any, Final

from mcp_tap.core import spec
from mcp_tap.core.values import digest, text_of

NEVER_MATCHED: Final = frozenset({"_meta", "requestState", "inputResponses"})
"""Parameters that take no part in telling calls apart."""
_ALL_EQUAL: Final = frozenset({spec.INITIALIZE, spec.DISCOVER})
"""Methods of which any two requests are equal: what they carry is who the client is."""


def key_of(request: Any) -> bytes | None:
    """Sum up what tells a request from others: method, target, arguments; None: it has no sum.

    Ids, `_meta`, states and answers take no part, nor does anything `initialize` and
    `server/discover` say.
    """
    return digest(matched(request))


def matched(request: Any) -> dict[str, Any]:
    """Give what takes part in matching: the method, and those of the parameters that do."""
    if type(request) is not dict:
        return {}
    method = request.get("method")
    if method in _ALL_EQUAL:
        return {"method": method}
    params = {k: v for k, v in params_of(request).items() if k not in NEVER_MATCHED}
    if params.get("arguments", "") in ({}, None):
        del params["arguments"]  # leaving them out is the same
    return {"method": method, "params": params}


def target_of(request: Any) -> str | None:
    """Name the tool, prompt, resource or task a request is about."""
    if type(request) is not dict:
        return None
    name = params_of(request).get(spec.NAME_PARAM.get(text_of(request.get("method")), ""))
    return name if type(name) is str else None


def params_of(request: dict[str, Any]) -> dict[str, Any]:
    """Give the parameters of a request; empty where there are none."""
    params = request.get("params")
    return params if type(params) is dict else {}
