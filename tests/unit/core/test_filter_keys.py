from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mcp_tap.core.filter_keys import KEYS, NO_SCOPE, Scope, texts, unknown_key
from mcp_tap.core.model import Fault
from tests import builders as b


def values(key, subject, scope=NO_SCOPE):
    return sorted(KEYS[key].get(subject, scope), key=str)


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("tool", ["deploy"]),
        ("method", ["tools/call"]),
        ("id", ["7", "8", "t1"]),
        ("call", [16]),
        ("round", [3]),
        ("key", ["confirm", "window"]),
        ("ask", ["form", "form"]),
        ("action", ["accept", "accept"]),
        ("sender", ["client", "server"]),
        ("server", ["billing"]),
        ("conn", [1, 1, 1]),
        ("state", ["ok"]),
        ("status", [200, 200, 200]),
        ("size", [936]),
        ("kind", ["call", "request"]),
    ],
)
def test_a_call_has_these_values(key, found):
    assert values(key, b.deploy()) == found


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("tool", []),
        ("method", ["notifications/cancelled"]),
        ("id", []),
        ("call", []),
        ("sender", ["client", "server"]),
        ("conn", [3]),
        ("state", ["ok"]),
        ("status", [202]),
        ("kind", ["notification"]),
    ],
)
def test_an_exchange_outside_of_calls_has_these_values(key, found):
    assert values(key, b.exchange()) == found


def test_clients_are_named_with_and_without_their_version():
    assert set(values("client", b.deploy())) == {
        "demo-client/1.0",
        "demo-client",
        "python-httpx2/2.16",
        "python-httpx2",
    }


def test_the_tap_is_a_sender_where_it_wrote_something():
    call = b.deploy()
    call.rounds[1].by_tap = True
    assert "tap" in values("sender", call)
    call = b.call(1, fault=Fault(code=502, message="no upstream", sender="tap"), outcome="error")
    assert values("sender", call) == ["client", "tap"]
    assert values("status", call) == [200, 502]
    assert values("sender", b.exchange(from_tap=True)) == ["client", "tap"]


def test_a_running_call_took_no_time_yet():
    assert values("took", b.booking()) == []


def test_the_time_of_day_needs_the_start_of_the_run():
    start = datetime(2026, 7, 28, 12, 4, tzinfo=UTC)
    assert values("at", b.deploy()) == []
    assert values("at", b.deploy(), Scope(start=start)) == [pytest.approx(12 * 3600 + 247.218)]


def test_words_are_searched_in_the_model_and_in_the_bodies_given():
    found = " ".join(texts(b.deploy(), NO_SCOPE))
    for word in ("deploy", "2026.7.1", "Deploy billing", "proceed", "Когда? いつ?"):
        assert word in found
    assert "Unknown tool" in " ".join(texts(b.failed(), NO_SCOPE))
    scope = Scope(bodies=lambda _: ["the result said so"])
    assert "the result said so" in list(texts(b.deploy(), scope))
    assert "/mcp" in list(texts(b.exchange(), NO_SCOPE))


def test_states_are_never_searched():
    assert "s1s1" not in " ".join(texts(b.deploy(), NO_SCOPE))


def test_an_unknown_key_names_the_nearest_or_how_to_search_text():
    assert unknown_key("too", "too:x").help == 'did you mean "tool"?'
    assert unknown_key("http", "http://x").help == 'to search for text, quote it: "http://x"'
