"""The options of every live command that say what is recorded, and what of it is masked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from mcp_tap.cli.common import FILE, SIZE, option
from mcp_tap.cli.values import BODY_SIZE, EXISTING_FILE

_F = TypeVar("_F", bound=Callable[..., Any])


def recording_options(panel: str) -> Callable[[_F], _F]:
    """Add the options that say where and how much is recorded."""

    def add(function: _F) -> _F:
        for each in reversed(
            (
                option(
                    "-w",
                    "--write",
                    type=FILE,
                    metavar="FILE",
                    panel=panel,
                    help="Record to this new file.  [default: one in the captures folder]",
                ),
                option(
                    "--label",
                    metavar="NAME",
                    panel=panel,
                    help="Name the server in views and filters.",
                ),
                option(
                    "--max-body",
                    type=BODY_SIZE,
                    metavar="SIZE",
                    default="16MiB",
                    show_default=True,
                    panel=panel,
                    help="Record at most so much of each payload; traffic is never cut.",
                ),
                option(
                    "--rotate",
                    type=SIZE,
                    metavar="SIZE",
                    panel=panel,
                    help="Begin a new part at SIZE.",
                ),
                option(
                    "--sync",
                    is_flag=True,
                    panel=panel,
                    help="Write each record to the file before its bytes go on; slower.",
                ),
            )
        ):
            function = each(function)
        return function

    return add


def privacy_options(panel: str) -> Callable[[_F], _F]:
    """Add the options that say what is masked."""

    def add(function: _F) -> _F:
        for each in reversed(
            (
                option(
                    "--redact",
                    metavar="SPEC",
                    multiple=True,
                    adds_up=True,
                    panel=panel,
                    help="Mask this too: header:NAME, key:GLOB, path:JSONPATH or value:REGEX;"
                    " repeatable.",
                ),
                option(
                    "--no-default-redaction",
                    is_flag=True,
                    panel=panel,
                    help="Do not mask credentials (Authorization, cookies, OAuth bodies).",
                ),
                option(
                    "--redact-key",
                    type=EXISTING_FILE,
                    metavar="FILE",
                    panel=panel,
                    help="Mask under the key in FILE, so that runs can be compared.",
                ),
            )
        ):
            function = each(function)
        return function

    return add
