from __future__ import annotations

import pytest

from mcp_tap.core.text import width
from mcp_tap.views.runs import fitted, run_name, run_words
from tests import builders as b


@pytest.mark.parametrize(
    ("run", "name"),
    [
        ("20260728T120400-billing-7f3a", "billing-7f3a"),
        ("20260728T120400-my-own-server-7f3a", "my-own-server-7f3a"),
        ("20260728T120400-7f3a", "7f3a"),
        ("r1", "r1"),
        ("a\x1b[2J", "a\\x1b[2J"),
    ],
)
def test_a_run_is_named_by_its_id_without_the_time(run, name):
    assert run_name(b.header(run=run)) == name


@pytest.mark.parametrize(
    ("label", "run", "words"),
    [
        ("billing", "r1", "billing"),
        (None, "20260728T120400-my-server-7f3a", "my-server"),
        (None, "r1", "r1"),
    ],
)
def test_the_words_of_a_run_are_its_label_or_those_of_its_id(label, run, words):
    assert run_words(b.header(label=label, run=run)) == words


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("files-7f3a", "files-7f3a  "),
        ("filesystem-7f3a", "files..-7f3a"),
        ("a" * 30, "a" * 10 + ".."),
        ("x-" + "b" * 30, "x-" + "b" * 8 + ".."),
        ("検索サーバー-7f3a", "検索..-7f3a"),
    ],
)
def test_a_long_name_keeps_the_letters_that_tell(name, shown):
    assert fitted(name, 12).rstrip() == shown.rstrip()
    assert width(fitted(name, 12)) == 12
