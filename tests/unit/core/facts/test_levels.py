"""Log levels that unanswered requests asked for."""

from __future__ import annotations

import pytest

from mcp_tap.core.facts.levels import MOST, Levels, rank
from mcp_tap.core.spec import META_LOG_LEVEL
from tests.facts import message, reply


def asking(number, level="info", *, http=False):
    return message("tools/call", number, http=http, _meta={META_LOG_LEVEL: level})


def test_levels_have_an_order():
    assert rank("debug") < rank("info") < rank("warning") < rank("emergency")


@pytest.mark.parametrize("level", ["trace", "INFO", "", None, 1, [], {}])
def test_what_is_no_level_has_no_place(level):
    assert rank(level) is None


def test_a_request_counts_until_it_is_answered():
    levels, sent = Levels(), asking(1)
    levels.note(sent)
    levels.note(message("tools/call", 2, http=False))
    assert [level for _, level in levels.pending()] == ["info"]
    reply(sent)
    assert not levels.pending()


def test_over_http_streams_tell_by_themselves():
    levels = Levels()
    levels.note(asking(1, http=True))
    assert not levels.pending()


def test_memory_of_levels_is_bounded():
    levels = Levels()
    for number in range(MOST + 10):
        levels.note(asking(number))
    assert len(levels.pending()) == MOST
