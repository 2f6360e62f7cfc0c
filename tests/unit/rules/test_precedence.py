from mcp_tap.rules.catalogue import BY_ID
from mcp_tap.rules.precedence import ORDERS, beaten

ASK = "/result/inputRequests/q"
FIELD = f"{ASK}/params/requestedSchema/properties/tags"


def test_a_more_telling_finding_of_the_message_stands_for_another():
    assert beaten([("RPC-010", "", ""), ("MRTR-008", "", "")]) == {0}


def test_one_finding_alone_is_never_beaten():
    assert beaten([("RPC-010", "", "")]) == set()


def test_findings_about_two_asks_do_not_compete():
    other = "/result/inputRequests/other/params"
    found = [("ELIC-010", f"{ASK}/params/mode", "mode"), ("MRTR-007", other, "other")]
    assert beaten(found) == set()
    assert beaten([*found, ("MRTR-007", ASK, "q")]) == {0}


def test_findings_about_two_fields_of_a_form_do_not_compete():
    found = [("ELIC-020", f"{FIELD}/items", "items"), ("ELIC-028", f"{ASK}/params/x", "")]
    assert beaten(found) == set()
    assert beaten([*found, ("ELIC-028", f"{FIELD}/items/oneOf", "oneOf")]) == {0}


def test_a_beaten_finding_still_beats_another():
    path = "/params/inputResponses/q"
    found = [("ELIC-031", path, ""), ("MRTR-027", path, ""), ("MRTR-028", path, "")]
    assert beaten(found) == {0, 1}


def test_pushed_asks_are_one_ask_each_message():
    found = [("ELIC-003", "/params", ""), ("ELIC-005", "/params/mode", "mode")]
    assert beaten(found) == {0}


def test_every_order_names_rules_that_exist():
    named = {rule for order in ORDERS for rule in (*order.winners, *order.losers)}
    assert named <= set(BY_ID)
