"""Both ways to a server are ways to one."""

from __future__ import annotations

import pytest

from mcp_tap.replay.client.http import HttpPeer
from mcp_tap.replay.client.peers import Peer
from mcp_tap.replay.client.stdio import StdioPeer

NAMES = {name for name in vars(Peer) if not name.startswith("_")}


@pytest.mark.parametrize("peer", [HttpPeer, StdioPeer])
def test_a_peer_can_all_that_is_asked_of_one(peer):
    assert {"ask", "tell", "listen", "close", "gone", "over_http"} <= NAMES
    assert set(dir(peer)) >= NAMES
