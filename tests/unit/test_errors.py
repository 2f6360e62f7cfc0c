from __future__ import annotations

import pytest

from mcp_tap import errors
from mcp_tap.errors import InconclusiveCapture, TapError, UsageError


def test_an_error_says_what_where_why_and_one_thing_to_do():
    error = UsageError("port-taken", "7777 is in use", where="--listen", why="a run", help="-l 0")
    assert str(error) == (
        "error[port-taken]: 7777 is in use\n  where: --listen\n  why:  a run\n  help: -l 0"
    )


def test_parts_that_are_not_known_are_not_printed():
    assert str(TapError("code", "what")) == "error[code]: what"


@pytest.mark.parametrize("kind", [e for e in vars(errors).values() if isinstance(e, type)])
def test_every_kind_has_its_exit_code(kind):
    assert kind("c", "w").exit_code == (4 if kind is InconclusiveCapture else 2)
