"""What recorded rounds said."""

from __future__ import annotations

from pathlib import Path

from mcp_tap.replay.client.rounds import Rounds
from mcp_tap.replay.index import Index

SEAT = {"seat": "4A", "window": True}
CAPTURES = Path(__file__).parents[4] / "captures"


def test_rounds_give_their_requests_and_what_was_answered_to_what():
    with Index.of([str(CAPTURES / "py-py-2026.jsonl")]) as index:
        call = next(c for c in index.calls if c.number == 5)
        rounds = Rounds(index, call)
        assert len(rounds) == 3
        assert rounds.request(rounds[0])["params"]["arguments"] == {"guests": 2}
        then = list(rounds.thens())
        assert [(list(t.asks), t.answers) for t in then] == [
            (["day"], {"day": {"action": "accept", "content": {"day": "tue"}}}),
            (["seat"], {"seat": {"action": "accept", "content": SEAT}}),
        ]
        assert rounds.then(None).asks == {}
