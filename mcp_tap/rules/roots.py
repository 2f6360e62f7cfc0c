"""Roots: the folders a client lets a server see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mcp_tap.core.facts.ask import Answer
from mcp_tap.core.facts.message import is_masked
from mcp_tap.core.forms import json_type
from mcp_tap.rules.base import ALL, Hit, Hits, rule

MOST_ROOTS: Final = 1000
"""Roots looked at of one answer."""


@rule(
    "ROOT-001",
    severity="error",
    level="must",
    blames="client",
    spec="specification/2026-07-28/client/roots#root",
    on="answer roots",
    versions=ALL,
)
def root_uri_not_file(answer: Answer) -> Hits:
    """A root exposed by the client is no file:// URI.

    Servers read paths out of roots and compare files with them, which nothing but a `file://` URI
    is made for. Steps upward (`..`) in a path are a warning: what a server takes for the boundary
    lies elsewhere. A client may have no roots at all.
    """
    value = answer.value
    roots = value.get("roots") if type(value) is dict else None
    if answer.error or type(roots) is not list or not roots:
        return None
    return _not_files(answer, roots[:MOST_ROOTS])


def _not_files(answer: Answer, roots: list[Any]) -> Iterator[Hit]:
    for index, root in enumerate(roots):
        if is_masked(root):
            continue
        uri = root.get("uri") if type(root) is dict else None
        at = answer.at("roots", index, "uri")
        if uri is None:
            yield Hit("client gave a root without a uri", at)
        elif type(uri) is not str:
            yield Hit(f"client gave a root with {json_type(uri)} for a uri", at)
        elif is_masked(uri):
            continue
        elif uri[:7].lower() != "file://":
            yield Hit("client gave a root whose uri does not start with file://", at)
        elif _climbs(uri[7:]):
            words = "client gave a root whose path has steps upward (..)"
            yield Hit(words, at, severity="warning")


def _climbs(rest: str) -> bool:
    """Tell whether the path of a file URI has a `..` segment, written out or encoded."""
    if ".." not in rest and "%2" not in rest:
        return False
    path = rest.partition("#")[0].partition("?")[0].replace("%2e", ".").replace("%2E", ".")
    return ".." in path.split("/")
