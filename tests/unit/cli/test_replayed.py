"""What a run over HTTP takes from the captures it replays."""

from __future__ import annotations

import pytest

from mcp_tap.cli.replayed import upstream_of
from mcp_tap.replay.index import Index
from tests.replays import complete, exchange, index_of, request


@pytest.mark.parametrize(
    ("recorded", "named"),
    [
        ("https://h:1/v1/mcp", "https://h:1/v1/mcp"),
        ("http://mcp-tap:00000000000000aa/v1/mcp", "http://localhost/v1/mcp"),
        ("mcp-tap:00000000000000aa", "http://localhost/mcp"),
        ("http://[::1", "http://localhost"),
        ("python server.py", "http://localhost/mcp"),
    ],
)
def test_a_replay_has_the_recorded_path_also_where_the_host_is_masked(tmp_path, recorded, named):
    path = tmp_path / "run.jsonl"
    with index_of(path, exchange(request(1), complete(1, "x"))):
        pass
    path.write_text(path.read_text().replace("http://localhost:3000/mcp", recorded, 1))
    with Index.of([str(path)]) as index:
        assert upstream_of(index) == named
