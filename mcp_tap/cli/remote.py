"""Which server `mcp-tap stdio` starts: the one after `--`, or a bridge to the one at a URL."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mcp_tap.bridge import VARIABLE
from mcp_tap.cli.common import typed
from mcp_tap.cli.connecting import OF_A_URL, refuse
from mcp_tap.errors import UsageError

if TYPE_CHECKING:
    import click


def command_for(
    ctx: click.Context, line: Sequence[str] | None, options: dict[str, Any]
) -> Sequence[str]:
    """Give the command line of the server; of a bridge, `VARIABLE` is set for it.

    What a file or a variable says of a URL is left out of `options` where a command is given.

    Raises:
        UsageError: there is no server, or more than one, or the URL or CA file cannot be used.
    """
    if options["to"] is not None and line is None:
        return _bridge(options["to"], options)
    if options["to"] is not None and typed(ctx, "to"):
        raise UsageError(
            "usage", "--to and -- COMMAND are two servers", help="leave one of them out"
        )
    options["to"] = None
    refuse(ctx, options, OF_A_URL, "a URL, and there is none", help="--to URL")
    if not line:
        raise UsageError(
            "usage",
            "there is no command to run" if line is None else "nothing stands after --",
            help="mcp-tap stdio -- COMMAND...",
        )
    return line


def _bridge(url: str, options: dict[str, Any]) -> list[str]:
    import msgspec

    from mcp_tap.net.target import parse_target, tls_context

    insecure, cacert = options["insecure"], options["cacert"]
    if parse_target(url).tls:
        tls_context(insecure=insecure, cacert=cacert)
    remote = {"url": url, "headers": options["header"], "insecure": insecure, "cacert": cacert}
    os.environ[VARIABLE] = msgspec.json.encode(remote).decode()
    return [sys.executable, "-P", "-m", "mcp_tap.bridge"]
