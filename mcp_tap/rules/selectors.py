"""Name rules: by id, by the beginning of one, by name, by family, or all of them.

Where two selections speak of the same rule, the one that names it more closely decides: `ALL` is
the least, then a family (`MRTR`), the beginning of an id (`MRTR-01`), an id or a name; between
equals, leaving out wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Final

from msgspec import Struct

from mcp_tap.errors import UsageError
from mcp_tap.rules.catalogue import BY_NAME, RULES

ALL: Final = "ALL"

FAMILIES: Final[dict[str, str]] = {
    "CANC": "cancellation",
    "DISC": "discovery",
    "ELIC": "elicitation",
    "ERR": "errors",
    "HDR": "request headers",
    "HTTP": "HTTP transport",
    "LEG": "sessions and what is outdated",
    "LIST": "lists and caching",
    "LOG": "logging",
    "META": "_meta",
    "MRTR": "round trips",
    "PROG": "progress",
    "ROOT": "roots",
    "RPC": "JSON-RPC",
    "SAMP": "sampling",
    "SEC": "security",
    "STDIO": "stdio transport",
    "SUB": "subscriptions",
    "TAP": "the tap itself",
    "TASK": "tasks",
    "TOOL": "tools",
}
"""What the letters of an id stand for."""

_CLOSEST: Final = 1000


class Selector(Struct, frozen=True):
    """Some rules, as a person named them."""

    word: str
    ids: frozenset[str]
    rank: int
    """How closely it names them."""


def selector(word: str, *, where: str) -> Selector:
    """Find the rules a word names.

    Args:
        word: an id, the beginning of one, a name, a family, or `ALL`; case does not matter.
        where: the option or setting it stands in, for the error.

    Raises:
        UsageError: it names none.
    """
    bare = word.strip()
    upper = bare.upper()
    if upper == ALL:
        return Selector(bare, frozenset(rule.id for rule in RULES), 0)
    named = BY_NAME.get(bare.lower().replace("_", "-"))
    if named is not None:
        return Selector(bare, frozenset((named.id,)), _CLOSEST)
    if upper in FAMILIES:
        ids = frozenset(rule.id for rule in RULES if rule.family == upper)
        return Selector(bare, ids, 1)
    family, dash, _ = upper.partition("-")
    ids = frozenset(rule.id for rule in RULES if dash and rule.id.startswith(upper))
    if not ids or family not in FAMILIES:
        raise unknown_rule(bare, where)
    return Selector(bare, ids, _CLOSEST if ids == {upper} else len(upper))


def unknown_rule(word: str, where: str) -> UsageError:
    """Build the error for a word that names no rule."""
    families = {family: f"{family} ({says})" for family, says in FAMILIES.items()}
    names = [*families, *(rule.id for rule in RULES)]
    near = get_close_matches(word.upper(), names, 1) or get_close_matches(
        word.lower(), list(BY_NAME), 1
    )
    meant = f"did you mean {families.get(near[0], near[0])}? " if near else ""
    return UsageError(
        "unknown-rule",
        f"{where} {word or 'nothing'} names no rule".strip(),
        help=f"{meant}mcp-tap rules lists them all",
    )


def choose(select: Sequence[Selector], ignore: Sequence[Selector]) -> frozenset[str]:
    """Give the ids of the rules that count."""
    taken, left = _ranks(select), _ranks(ignore)
    return frozenset(identity for identity, rank in taken.items() if left.get(identity, -1) < rank)


def _ranks(selectors: Iterable[Selector]) -> dict[str, int]:
    ranks: dict[str, int] = {}
    for one in selectors:
        for identity in one.ids:
            ranks[identity] = max(one.rank, ranks.get(identity, -1))
    return ranks
