from __future__ import annotations

import io

from mcp_tap.cli.common import Output
from mcp_tap.cli.looks import make_view
from mcp_tap.views.base import NullView
from mcp_tap.views.console import ConsoleView
from mcp_tap.views.text import TextView


def test_none_shows_nothing():
    assert isinstance(make_view("none", Output()), NullView)


def test_text_goes_to_the_stream_and_notices_to_stderr(capsys):
    stream = io.StringIO()
    view = make_view("text", Output(), stream=stream)
    assert isinstance(view, TextView)
    view.notice("disk full")
    view.close()
    assert stream.getvalue() == ""


def test_console_is_made_for_the_terminal():
    assert isinstance(make_view("console", Output(), stream=io.StringIO()), ConsoleView)
