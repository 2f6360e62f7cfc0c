"""What clients declare that they can answer, and declaring more for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcp_tap.core import spec
from mcp_tap.core.model import AskKind
from mcp_tap.core.splice import find, put, spliced
from mcp_tap.core.wire import dumps

MODES: Final[tuple[AskKind, ...]] = ("form", "url")


def declared_in(capabilities: Any) -> frozenset[AskKind]:
    """Say which kinds of asks a client's capabilities cover; a bare `elicitation` means forms."""
    kinds: set[AskKind] = set()
    if type(capabilities) is not dict:
        return frozenset()
    elicitation = capabilities.get("elicitation")
    if type(elicitation) is dict:
        kinds.update(mode for mode in MODES if spec.has_mode(elicitation, mode))
    if type(capabilities.get("sampling")) is dict:
        kinds.add("sampling")
    if type(capabilities.get("roots")) is dict:
        kinds.add("roots")
    return frozenset(kinds)


def declaring(body: bytes, declared: Any, more: Mapping[str, Any], *path: str) -> bytes | None:
    """Write a JSON text in which a client declares more; None where it declares all of it.

    Args:
        body: the text.
        declared: the capabilities in it, parsed.
        more: capabilities to add.
        path: names that lead to the capabilities.

    Raises:
        SpliceError: an object on the way names a member twice.
    """
    if type(declared) is not dict:
        holder = find(body, *path[:-1]) if path[1:] else None
        return spliced(body, put(body, {path[-1]: dumps(dict(more))}, holder))
    changed: dict[str, bytes | None] = {k: dumps(v) for k, v in more_than(declared, more).items()}
    return spliced(body, put(body, changed, find(body, *path))) if changed else None


def more_than(declared: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Say which capabilities become others when a client declares more."""
    changed: dict[str, Any] = {}
    for name, wanted in more.items():
        has = declared.get(name)
        merged = wanted if has is None else _merged(name, has, wanted)
        if merged != has:
            changed[name] = merged
    return changed


def _merged(name: str, has: Any, wanted: Any) -> Any:
    if type(has) is not dict or type(wanted) is not dict:
        return has
    if name == "elicitation":
        if not wanted or set(wanted) <= set(has) or (not has and set(wanted) == {"form"}):
            return has
        if "form" not in has and "url" not in has:  # a bare one means forms
            has = {**has, "form": {}}
    return {**has, **{key: value for key, value in wanted.items() if key not in has}}
