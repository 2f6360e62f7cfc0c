"""The options of commands that connect to a server at a URL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from mcp_tap.cli.common import option, several
from mcp_tap.cli.values import EXISTING_FILE, HEADER

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
