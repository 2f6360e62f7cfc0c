from __future__ import annotations

from mcp_tap.core.facts.message import Message
from mcp_tap.core.records import Message as Record
from tests.facts import message, reply, seen_by


def refuse(seen, method, code, number=1, **data):
    sent = message(method, number, seen=seen)
    value = {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": "no", "data": data}}
    seen.note("error", Message(Record(seq=2, t=1.0, sender="server"), value, sent.flow))


def test_capabilities_are_those_of_the_newest_discovery():
    seen = seen_by("a")
    assert seen.server.capabilities is None
    seen.note("result", reply(message("server/discover", 1, seen=seen), capabilities={"tools": {}}))
    assert seen.server.capabilities == {"tools": {}}
    seen.note("result", reply(message("server/discover", 2, seen=seen), capabilities=7))
    assert seen.server.capabilities is None


def test_a_server_is_modern_once_it_sent_a_typed_result():
    seen = seen_by("a")
    seen.note("result", reply(message("tools/list", 1, seen=seen), tools=[]))
    seen.note("result", reply(message("server/discover", 2, seen=seen), resultType="complete"))
    assert not seen.server.is_modern
    seen.note("result", reply(message("tools/list", 3, seen=seen), resultType="complete"))
    assert seen.server.is_modern


def test_the_first_refusal_of_discovery_is_kept():
    seen = seen_by("a")
    refuse(seen, "tools/list", -32601)
    refuse(seen, "server/discover", -32603)
    assert seen.server.refused is None
    refuse(seen, "server/discover", -32601, 3)
    refuse(seen, "server/discover", -32601, 4)
    assert seen.server.refused is not None
    assert seen.server.refused.id == 3


def test_a_refused_revision_is_kept_until_one_of_the_list_is_taken():
    seen = seen_by("a")
    for listed in ([], "x", [1], None):
        refuse(seen, "tools/list", -32022, supported=listed)
    assert seen.server.unsupported is None
    refuse(seen, "tools/list", -32022, 7, supported=["2026-07-28"])
    assert seen.server.unsupported is not None
    assert (seen.server.unsupported.supported, seen.server.unsupported.id) == (("2026-07-28",), 7)
    taken = message("tools/list", 8, seen=seen)
    taken.flow.exchange.version = "2026-07-28"
    seen.note("result", reply(taken, tools=[]))
    assert seen.server.unsupported is None
