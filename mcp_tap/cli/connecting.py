"""The options of commands that connect to a server at a URL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

from mcp_tap.cli.common import option, several
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


def refuse(given: Mapping[str, Any], names: Iterable[str], about: str, *, help: str) -> None:
    """Refuse options about something that is not there.

    Args:
        given: options and their values.
        names: those that are about it.
        about: what they are about, and why it is not there.
        help: what to do.

    Raises:
        UsageError: one of them was given.
    """
    for name in names:
        if given[name]:
            words = f"--{name.replace('_', '-')} is about {about}"
            raise UsageError("usage", words, help=help)
