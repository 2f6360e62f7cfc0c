from __future__ import annotations

import pytest

from mcp_tap.errors import UsageError
from mcp_tap.replay.compare.ignored import Ignored

DEEP = ("result", "content", 0, "meta", "createdAt")


@pytest.mark.parametrize(
    ("pattern", "steps"),
    [
        ("/result/content/0/meta/createdAt", DEEP),
        ("/result/**/createdAt", DEEP),
        ("/result/**", DEEP),
        ("/**/0/**", DEEP),
        ("/result/*/0/*/created*", DEEP),
        ("createdAt", DEEP),
        ("meta/createdAt", DEEP),
        ("/result/**/createdAt", ("result", "createdAt")),
        ("/tools/a~1b/x~0y", ("tools", "a/b", "x~y")),
        ("/**/**/b", ("a", "b")),
        ("/result", DEEP),
        ("content", DEEP),
    ],
)
def test_a_pattern_names_a_place(pattern, steps):
    assert Ignored([pattern]).has(steps)


@pytest.mark.parametrize(
    ("pattern", "steps"),
    [
        ("/result/content/1/meta/createdAt", DEEP),
        ("/result/*/createdAt", DEEP),
        ("/results", DEEP),
        ("/createdAt", DEEP),
        ("/result/**/createdat", DEEP),
        ("/a/**/b", ("a",)),
    ],
)
def test_a_pattern_names_no_other_place(pattern, steps):
    assert not Ignored([pattern]).has(steps)


@pytest.mark.parametrize("pattern", ["", "/", "//"])
def test_a_pattern_without_a_place_is_refused(pattern):
    with pytest.raises(UsageError, match="names no place"):
        Ignored([pattern])


def test_many_wildcards_take_no_time():
    assert not Ignored(["/" + "/".join(["**", "a"] * 30) + "/b"]).has(("a",) * 200)
