"""Who answers for a test's client."""

from __future__ import annotations

import pytest

from mcp_tap.answers.book import Answered
from mcp_tap.errors import ScriptError
from mcp_tap.plugin.options import Options
from mcp_tap.plugin.scripts import Answers
from tests.asks import form, sampling

SCRIPT = '[[answer]]\nname = "file"\nmatch = { key = "otp" }\ncontent = { code = "1" }\n'


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text(SCRIPT)
    return str(path)


def decided(answers, ask):
    found = answers.answering.book.decide([ask])
    assert isinstance(found, Answered), found.why
    (given,) = found.answers.values()
    return given


def test_nobody_answers_until_something_is_said():
    answers = Answers(Options())
    assert answers.answering is None
    answers.add("otp", {"code": "2"}, {})
    assert decided(answers, form("otp", code=None)).entry == "tap.answer 1"
    assert answers.answering.advertised == {"elicitation": {"form": {}}}


def test_what_a_test_says_goes_before_scripts_and_the_last_word_first(script):
    answers = Answers(Options(answers=[script]))
    assert decided(answers, form("otp", code=None)).entry == "file"
    answers.add("otp", {"code": "2"}, {})
    answers.add(None, {"code": "3"}, {"message": "never"})
    assert decided(answers, form("otp", code=None)).entry == "tap.answer 1"
    answers.add("otp", None, {"action": "decline", "name": "no"})
    found = decided(answers, form("otp", code=None))
    assert (found.entry, found.answer) == ("no", {"action": "decline"})
    assert answers.unused() == ["tap.answer 2"]


def test_a_running_answerer_learns_what_more_it_can_do(script):
    answers = Answers(Options(answers=[script]))
    same = answers.answering
    answers.add(None, None, {"ask": "sampling", "text": "Paris."})
    assert answers.answering is same
    assert set(same.advertised) == {"elicitation", "sampling"}
    assert decided(answers, sampling("q")).answer["content"]["text"] == "Paris."


def test_conditions_and_settings_are_told_apart():
    answers = Answers(Options())
    answers.add("otp", None, {"tool": "login", "each_round": [{"content": {"code": "1"}}]})
    answers.add(None, {"code": "2"}, {"match": {"name": "greet"}, "name": "of a prompt"})
    newer, older = answers.answering.book.entries
    assert (newer.name, newer.match) == ("of a prompt", {"name": "greet"})
    assert (older.match, older.counted) == ({"tool": "login", "key": "otp"}, True)


@pytest.mark.parametrize("words", [{"acton": "decline"}, {"action": "maybe"}, {}])
def test_what_cannot_be_meant_is_refused(words):
    with pytest.raises(ScriptError):
        Answers(Options()).add("otp", None, words)
