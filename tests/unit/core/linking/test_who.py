from __future__ import annotations

import pytest

from mcp_tap.core.records import Mask
from tests.talk import SESSION, STATELESS, Talk, call, in_session, old_call


def test_the_body_decides_the_era_before_the_header():
    talk = Talk()
    talk.post(call(1), {"MCP-Protocol-Version": SESSION})
    assert (talk.calls[1].era, talk.calls[1].version) == ("stateless", STATELESS)


def test_the_header_decides_where_the_body_says_nothing():
    talk = Talk()
    talk.post(old_call(1), {"mcp-protocol-version": STATELESS})
    talk.post(old_call(2), {"MCP-Protocol-Version": SESSION})
    talk.post(old_call(3))
    assert [c.era for c in talk.calls.values()] == ["stateless", "session", "unknown"]


def test_a_session_lends_its_requests_era_version_and_client():
    talk = Talk()
    talk.session("s1", client="old")
    talk.post(old_call(1), {"Mcp-Session-Id": "s1"})
    one = talk.calls[2]
    assert (one.era, one.version, one.client) == ("session", SESSION, "old/1")
    assert one.identity.session == "s1"
    assert talk.calls[1].identity.session == "s1"


def test_an_unknown_session_says_nothing_about_the_era():
    talk = Talk()
    talk.post(old_call(1), {"Mcp-Session-Id": "never-seen"})
    assert talk.calls[1].era == "unknown"
    assert talk.calls[1].identity.session == "never-seen"


def test_a_stray_session_header_does_not_touch_a_stateless_request():
    talk = Talk()
    talk.session("s1")
    talk.post(call(1), {"Mcp-Session-Id": "s1"})
    assert talk.calls[2].identity.session is None


def test_clients_are_named_by_client_info_else_user_agent():
    talk = Talk()
    talk.post(call(1), {"User-Agent": "curl/8"})
    talk.post(old_call(1), {"user-agent": "curl/8"})
    assert [c.client for c in talk.calls.values()] == ["sdk/1", "curl/8"]


@pytest.mark.parametrize("info", [None, [], "x", {}, {"name": 1}, {"name": None, "version": []}])
def test_client_info_of_any_shape_is_survived(info):
    talk = Talk()
    value = call(1)
    value["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = info
    talk.post(value)
    assert talk.calls[1].client is None


def test_credentials_are_known_by_their_tags():
    talk = Talk()
    mask = Mask(at="/headers/0/1", length=9, shape="jwt", tag="t1", principal="p1", scheme="Bearer")
    talk.post(call(1), {"Authorization": "Bearer mcp-tap:t1"}, masked=[mask])
    identity = talk.calls[1].identity
    assert (identity.credential, identity.principal) == ("t1", "p1")


def test_a_credential_left_in_clear_is_not_handed_around():
    talk = Talk()
    talk.post(call(1), {"authorization": "Bearer secret"})
    credential = talk.calls[1].identity.credential
    assert credential is not None
    assert "secret" not in credential


def test_identities_are_shared_objects():
    talk = Talk()
    for n in (1, 2):
        talk.post(call(n), {"User-Agent": "x"})
    assert talk.calls[1].identity is talk.calls[2].identity


def test_two_principals_tell_equal_calls_apart():
    talk = Talk()

    def mask(who):
        return [Mask(at="/headers/0/1", length=9, shape="jwt", tag=who, principal=who)]

    for who in ("alice", "bob"):
        n = talk.post(call(1), {"Authorization": who}, masked=mask(who))
        talk.ask(n, "q")
    answers = {"q": {"action": "decline"}}
    talk.post(call(2, inputResponses=answers), {"Authorization": "bob"}, masked=mask("bob"))
    assert len(talk.calls[2].rounds) == 2
    assert len(talk.calls) == 2


def test_no_more_sessions_are_remembered_than_there_is_room_for():
    talk = Talk()
    for n in range(5000):
        talk.post(old_call(1), in_session(f"s{n}"))
    assert talk.pipeline.retired >= 900
