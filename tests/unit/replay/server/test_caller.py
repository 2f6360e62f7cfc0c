"""Who is being answered."""

from __future__ import annotations

from mcp_tap.replay.server.caller import Caller
from tests.replays import request


def test_a_caller_is_told_by_its_id_and_its_progress_token():
    assert (Caller.of(request("a")).id, Caller.of(request("a")).progress) == (b'"a"', None)
    assert Caller.of(request(1, meta={"progressToken": 7})).progress == b"7"
    assert Caller.of({"method": "notifications/x", "params": []}).id is None
    assert Caller.of({"id": None, "method": "m"}).id == b"null"


def test_a_caller_knows_tasks_by_ids_of_its_own():
    assert Caller.of(request(1)).tasks == {}
    assert Caller.of(request(1), {"recorded": "mine"}).tasks == {"recorded": "mine"}
