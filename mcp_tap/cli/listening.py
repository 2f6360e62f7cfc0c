"""The options of commands that listen for clients over HTTP."""

from __future__ import annotations

from typing import Final

import click

from mcp_tap.cli.common import FILE, option
from mcp_tap.cli.recording import RECORDING, TRAFFIC
from mcp_tap.cli.values import DEFAULT_PORT, LISTEN, LOOPBACK

GUARD: Final = "Who may connect"

listen = option(
    "-l",
    "--listen",
    type=LISTEN,
    metavar="[HOST:]PORT",
    default=f"{LOOPBACK}:{DEFAULT_PORT}",
    show_default=True,
    panel=TRAFFIC,
    help="Where clients connect; port 0 is any free one.",
)
ready_file = option(
    "--ready-file",
    type=FILE,
    metavar="FILE",
    panel=TRAFFIC,
    help="Write url, web (null: no web page), capture and pid there, as one JSON line, once"
    " clients can connect.",
)
allow_host = option(
    "--allow-host",
    metavar="NAME",
    multiple=True,
    panel=GUARD,
    help="Accept this Host too; '*' any; repeatable.  [default: loopback names]",
)
allow_origin = option(
    "--allow-origin",
    metavar="ORIGIN",
    multiple=True,
    panel=GUARD,
    help="Accept this Origin too; '*' any; repeatable.  [default: loopback names]",
)
view = option(
    "--view",
    type=click.Choice(["console", "text", "none"]),
    panel=RECORDING,
    help="What to show of the traffic, on stderr beside COMMAND.  [default: console on a"
    " terminal without COMMAND, else text]",
)
