from __future__ import annotations

from mcp_tap.core.facts.places import MOST_NAME, named, place_of, who_of
from mcp_tap.core.records import HttpRequest, Mask
from tests.facts import message


def test_a_request_of_no_call_is_for_its_method():
    sent = message("tools/list", 1)
    assert place_of(sent) == (sent.flow.seen.number, "tools/list", None)


def test_a_long_name_begins_like_itself_and_stays_another_than_others():
    same, other = "x" * 5000 + "a", "x" * 5000 + "b"
    assert named("x" * MOST_NAME) == "x" * MOST_NAME
    found = named(same)
    assert found is not None
    assert found.startswith("x" * MOST_NAME)
    assert len(found) < MOST_NAME + 100
    assert found == named(same) != named(other)
    assert named(None) is None


def test_a_credential_names_somebody_where_it_has_a_principal():
    flow = message("tools/list", 1).flow
    assert who_of(flow) is None
    flow.credential, flow.principal = "tag", "somebody"
    mask = Mask(
        at="/headers/0/1", length=1, shape="opaque", tag="tag", principal="somebody",
        scheme="Basic",
    )  # fmt: skip
    flow.head = HttpRequest(
        seq=1, t=0.0, exchange=1, conn=1, peer="p", method="POST", path="/", headers=[],
        masked=[mask],
    )  # fmt: skip
    assert who_of(flow) == ("basic", "somebody")
    flow.credential = "another"
    assert who_of(flow) is None
