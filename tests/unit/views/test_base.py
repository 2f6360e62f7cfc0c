from __future__ import annotations

from mcp_tap.views.base import NullView, Stats, View
from tests import builders as b


def test_the_view_that_shows_nothing_answers_to_everything(capsys):
    view: View = NullView()
    view.start(b.header())
    view.update(b.run(), 23.0)
    view.notice("disk full")
    view.close()
    assert capsys.readouterr() == ("", "")


def test_trouble_of_the_taps_own_is_said_all_the_same():
    said: list[str] = []
    NullView(said.append).notice("disk full")
    assert said == ["disk full"]


def test_numbers_start_at_nothing():
    assert Stats() == Stats(records=0, bytes=0, lost=0)
