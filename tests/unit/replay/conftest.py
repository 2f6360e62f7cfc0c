from __future__ import annotations

import contextlib
from itertools import count

import pytest

from tests.replays import index_of


@pytest.fixture
def indexed(tmp_path):
    """Give what makes an index of exchanges, as `index_of` does; each is closed in the end."""
    numbers = count()
    with contextlib.ExitStack() as stack:

        def make(*exchanges, **given):
            path = tmp_path / str(next(numbers)) / "run.jsonl"
            path.parent.mkdir()
            return stack.enter_context(index_of(path, *exchanges, **given))

        yield make
