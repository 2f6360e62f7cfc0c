"""One thing that differs between two calls or two runs."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import Struct

What: TypeAlias = Literal[
    "tool",
    "call",
    "arguments",
    "round",
    "ask",
    "answer",
    "outcome",
    "result",
    "error",
    "status",
    "state",
    "notification",
    "finding",
    "time",
]
"""What differs.  `outcome`: one got a result, the other an error, a task, or nothing."""

Change: TypeAlias = Literal["changed", "added", "removed", "renamed", "moved"]
"""How: `added` is in B only, `removed` in A only; `moved`: the same ones in another order."""


class Difference(Struct, frozen=True, kw_only=True):
    """One thing that differs between A and B."""

    what: What
    change: Change
    a: int | None = None
    """Number of the call in A; None where it is about no call."""
    b: int | None = None
    """Number of the call in B."""
    method: str | None = None
    target: str | None = None
    """Tool or prompt name, or resource URI."""
    round: int | None = None
    """Round in A; in B where A has none such."""
    name: str = ""
    """Tool, key of the ask, notification or rule it is about."""
    at: str = ""
    """JSON pointer into the message; of tools from the tool's name on."""
    left: Any = None
    """Value in A; None where it has none, which `change` tells from null."""
    right: Any = None
    """Value in B."""
    note: str = ""
    """What the values alone do not say."""
