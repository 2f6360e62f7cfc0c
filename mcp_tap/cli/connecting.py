"""The options of commands that connect to a server at a URL."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

import click

from mcp_tap.cli.common import option, several, typed
from mcp_tap.cli.values import EXISTING_FILE, HEADER
from mcp_tap.errors import UsageError

OF_A_URL: Final = ("header", "insecure", "cacert")
"""Names of these options."""
_F = TypeVar("_F", bound=Callable[..., Any])


def connecting_options(panel: str, sends: str, of: str) -> Callable[[_F], _F]:
    """Add the options that say what is sent along, and which certificates are trusted.

    Args:
        panel: where they stand in the help.
        sends: what `--header` does.
        of: whose certificate it is.
    """
    return several(
        option(
            "-H",
            "--header",
            "header",
            type=HEADER,
            metavar="'NAME: VALUE'",
            multiple=True,
            secret=True,
            panel=panel,
            help=f"{sends}; repeatable.",
        ),
        option(
            "--insecure",
            is_flag=True,
            panel=panel,
            help=f"Accept any certificate of {of}.",
        ),
        option(
            "--cacert",
            type=EXISTING_FILE,
            metavar="FILE",
            panel=panel,
            help="Trust the CA certificates in FILE.  [default: the system's]",
        ),
    )


def refuse(
    ctx: click.Context, given: dict[str, Any], names: Iterable[str], about: str, *, help: str
) -> None:
    """Refuse options about something that is not there.

    What a file or a variable says of it is meant for when it is, and left out of `given`.

    Args:
        ctx: of the command.
        given: options and their values.
        names: those that are about it.
        about: what they are about, and why it is not there.
        help: what to do.

    Raises:
        UsageError: one of them stands on the command line.
    """
    for name in names:
        value = given[name]
        if value and typed(ctx, name):
            words = f"--{name.replace('_', '-')} is about {about}"
            raise UsageError("usage", words, help=help)
        given[name] = type(value)() if isinstance(value, tuple | bool) else None
