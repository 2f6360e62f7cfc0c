"""From the words of `--view` to a view."""

from __future__ import annotations

import sys
from typing import Literal, TextIO, TypeAlias

from mcp_tap.cli.common import Output
from mcp_tap.views.base import NullView, View

ViewName: TypeAlias = Literal["console", "text", "none"]


def make_view(name: ViewName, out: Output, *, stream: TextIO | None = None) -> View:
    """Make a view that looks as this command was asked to.

    The text view writes to `stream` (stdout), and the tap's own words to stderr.
    """
    if name == "none":
        return NullView()
    stream = stream or sys.stdout
    if name == "console":
        from mcp_tap.views.console import ConsoleView

        return ConsoleView(color=out.colored(stream), ascii=out.ascii)
    from mcp_tap.views.text import TextView

    return TextView(stream, color=out.colored(stream), ascii=out.ascii, notices=sys.stderr)
