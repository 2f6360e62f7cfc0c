"""Settings of a test's tap: what is closer wins, and what cannot be meant is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_tap.errors import ConfigError
from mcp_tap.plugin.options import Options, merged, mode_of

FOLDER = Path("/shop/tests")


def test_nothing_said_is_the_default():
    assert merged([{}, {}], FOLDER) == Options()


def test_the_closer_one_wins_name_by_name():
    found = merged([{"label": "a", "max_rounds": 3}, {"label": "b"}], FOLDER)
    assert (found.label, found.max_rounds) == ("b", 3)


def test_one_word_stands_for_a_list_of_it():
    found = merged([{"answers": "a.toml", "ignore": "MRTR", "redact": ["key:a", "key:b"]}], FOLDER)
    assert found.answers == [str(FOLDER / "a.toml")]
    assert found.ignore == ["MRTR"]
    assert found.redact == ["key:a", "key:b"]


def test_paths_are_seen_from_the_folder_of_the_test():
    found = merged([{"answers": [Path("a.toml"), "/b.toml"], "cacert": "ca.pem"}], FOLDER)
    assert found.answers == [str(FOLDER / "a.toml"), "/b.toml"]
    assert found.cacert == str(FOLDER / "ca.pem")


@pytest.mark.parametrize(
    ("table", "code", "help"),
    [
        ({"anwsers": "a"}, "unknown-setting", 'did you mean "answers"?'),
        ({"xyz": 1}, "unknown-setting", "one of answers, unmatched"),
        ({"max_rounds": "3"}, "setting-type", ""),
        ({"fail_on": "bad"}, "setting-type", ""),
        ({"headers": ["X: y"]}, "setting-type", ""),
    ],
)
def test_what_cannot_be_meant_is_refused(table, code, help):
    with pytest.raises(ConfigError) as error:
        merged([table], FOLDER)
    assert error.value.code == code
    assert error.value.help.startswith(help)


def test_rewrite_is_another_word_for_all():
    assert mode_of("rewrite", where="x") == mode_of("all", where="x") == "all"
    with pytest.raises(ConfigError, match='x: "sometimes" is no record mode'):
        mode_of("sometimes", where="x")
