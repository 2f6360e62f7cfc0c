"""What tells one request from another: method, target and arguments, and nothing else."""

from __future__ import annotations

from typing import Any, Final

from mcp_tap.core import spec
from mcp_tap.core.values import digest

NEVER_MATCHED: Final = ("_meta", "requestState", "inputResponses")
"""Parameters that take no part in telling calls apart."""
ALL_EQUAL: Final = frozenset({spec.INITIALIZE, spec.DISCOVER})
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
    if method in ALL_EQUAL:
        return {"method": method}
    params = params_of(request).copy()
    for name in NEVER_MATCHED:
        params.pop(name, None)
    if "arguments" in params and not params["arguments"] and params["arguments"] in ({}, None):
        del params["arguments"]  # leaving them out is the same
    return {"method": method, "params": params}


def target_of(request: Any) -> str | None:
    """Name the tool, prompt, resource or task a request is about."""
    method = request.get("method") if type(request) is dict else None
    param = spec.NAME_PARAM.get(method) if type(method) is str else None
    name = None if param is None else params_of(request).get(param)
    return name if type(name) is str else None


def params_of(request: dict[str, Any]) -> dict[str, Any]:
    """Give the parameters of a request; empty where there are none."""
    params = request.get("params")
    return params if type(params) is dict else {}
