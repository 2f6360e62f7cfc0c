"""Options that say what counts as equal, for every command that compares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mcp_tap.cli.common import option, several

if TYPE_CHECKING:
    from mcp_tap.replay.compare.values import Rules

PANEL = "What counts"
NORMALISED = ("timestamps", "uuids", "server-version")
"""Names of `replay.compare.volatile.NORMALISERS`, which takes time to import."""

comparing_options = several(
    option(
        "--ignore-path",
        metavar="PATH",
        multiple=True,
        panel=PANEL,
        help="Leave out what stands there: a JSON pointer into a message, with * for a step"
        " and ** for several (/result/**/createdAt); a bare name is meant anywhere.",
    ),
    option(
        "--no-normalise",
        type=click.Choice(NORMALISED),
        multiple=True,
        panel=PANEL,
        help="Compare these too, which else count as equal whatever they are.",
    ),
    option(
        "--slower",
        type=click.FloatRange(min=1.0),
        metavar="RATIO",
        panel=PANEL,
        help="A call over which the server of B took more than RATIO times as long, and 50"
        " ms at least, is a difference; without, times are only told.",
    ),
)


def rules_of(given: dict[str, Any], *, same_key: bool) -> Rules:
    """Make the rules of what these options were given.

    Raises:
        UsageError: a path to ignore names no place.
    """
    from mcp_tap.replay.compare.values import Rules

    off = given["no_normalise"]
    return Rules(
        ignore=given["ignore_path"],
        normalise=[name for name in NORMALISED if name not in off],
        same_key=same_key,
    )
