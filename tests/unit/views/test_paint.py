from __future__ import annotations

import re

from mcp_tap.views.look import STYLES
from mcp_tap.views.paint import THEME, Painter

ROW = [("12:04", "dim"), (" error", "bad"), ("  ", "")]


def test_without_colour_there_is_not_one_escape():
    painter = Painter(color=False)
    assert painter.line(ROW) == "12:04 error\n"
    assert painter.cells(ROW, chosen=True) == "12:04 error  "


def test_with_colour_the_text_is_the_same():
    painter = Painter(color=True)
    for made in (painter.line(ROW), painter.cells(ROW), painter.cells(ROW, chosen=True)):
        assert "\x1b[" in made
        assert re.sub(r"\x1b\[[0-9;]*m", "", made).rstrip() == "12:04 error"
    assert painter.cells(ROW, chosen=True) != painter.cells(ROW)


def test_every_style_has_a_look():
    assert set(THEME) == set(STYLES)
