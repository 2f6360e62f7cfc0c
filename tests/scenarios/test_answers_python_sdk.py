"""A client of the Python SDK that declares nothing completes what asks, through the tap."""

from __future__ import annotations

import pytest

from tests.mute import CLIENT, SERVER, saw_all, scripted, was_answered
from tests.peers.programs import outcome, tapping


@pytest.mark.parametrize(("mode", "progress"), [("2026-07-28", [1, 1]), ("legacy", [1])])
async def test_everything_that_asks_completes_for_a_client_that_declares_nothing(
    serving, tmp_path, capsys, mode, progress
):
    async with tapping(serving(*SERVER), tmp_path, "-a", scripted(tmp_path)) as tapped:
        (found,) = await outcome(*CLIENT, tapped, mode)
    saw_all(found, mode)
    assert found["progress"] == progress
    was_answered(tmp_path / "run.jsonl", capsys)
