"""The options of every live command that say what is recorded, and what of it is masked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypedDict, TypeVar

from mcp_tap.cli.common import FILE, SIZE, option, several
from mcp_tap.cli.values import BODY_SIZE, EXISTING_FILE

TRAFFIC: Final = "Traffic"
RECORDING: Final = "Recording"
PRIVACY: Final = "Privacy"
ANSWERING: Final = "Answering"
JUDGING: Final = "Judging"
"""Headings in the help of every live command."""

_F = TypeVar("_F", bound=Callable[..., Any])


def recording_options(panel: str) -> Callable[[_F], _F]:
    """Add the options that say where and how much is recorded."""
    return several(
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


def privacy_options(panel: str) -> Callable[[_F], _F]:
    """Add the options that say what is masked."""
    return several(
        option(
            "--redact",
            metavar="SPEC",
            multiple=True,
            adds_up=True,
            panel=panel,
            help="Mask this too: header:NAME, key:GLOB, path:JSONPATH or value:REGEX; repeatable.",
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


class Recorded(TypedDict):
    """Settings of a live run, by the names they have there."""

    label: str | None
    sync: bool
    rotate: int | None
    max_body: int
    redact: list[str]
    default_redaction: bool
    redact_key: str | None


def recorded(options: Mapping[str, Any]) -> Recorded:
    """Make settings of these options."""
    return {
        "label": options["label"],
        "sync": options["sync"],
        "rotate": options["rotate"] or None,
        "max_body": options["max_body"],
        "redact": list(options["redact"]),
        "default_redaction": not options["no_default_redaction"],
        "redact_key": options["redact_key"],
    }
