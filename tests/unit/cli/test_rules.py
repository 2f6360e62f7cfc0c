from __future__ import annotations

import json

import pytest

from mcp_tap.cli.main import run
from mcp_tap.cli.rules import _list as listed
from mcp_tap.rules.catalogue import RULES


def rules(capsys, *args, code=0):
    assert run(["rules", *args]) == code
    return capsys.readouterr()


def test_all_rules_are_listed_by_family(capsys):
    out, err = rules(capsys)
    lines = out.splitlines()
    assert all(any(f" {rule.id} " in line for line in lines) for rule in RULES)
    assert "MRTR  round trips" in lines
    assert err == f"{len(RULES)} rules; mcp-tap rules {RULES[0].id} prints the page of one\n"


def test_a_family_is_a_list(capsys):
    out, _ = rules(capsys, "TAP")
    assert [line.split()[1] for line in out.splitlines()[1:]] == [
        rule.id for rule in RULES if rule.family == "TAP"
    ]


def test_a_narrow_terminal_gets_what_a_rule_finds_below_its_name():
    chosen = [rule for rule in RULES if rule.family == "MRTR"]
    told = ["".join(text for text, _ in row) for row in listed(chosen, 80)]
    assert max(map(len, told)) <= 80
    assert "".join("".join(told).split()).count("Aretryechoesanother`requestState`than") == 1
    assert len(list(listed(chosen, 300))) == len(chosen) + 1


@pytest.mark.parametrize("word", ["MRTR-016", "retry-state-modified", "mrtr-016"])
def test_a_rule_is_a_page(capsys, word):
    out, err = rules(capsys, word)
    assert out.startswith("MRTR-016  retry-state-modified\nerror, must, blames client\n2026-07-28")
    assert "\nBad: " in out
    assert "\nGood: " in out
    assert "https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr" in out
    assert err == ""


def test_several_are_pages_in_the_order_asked_for(capsys):
    out, _ = rules(capsys, "TAP-003", "TAP-001")
    assert out.index("TAP-003  records-lost") < out.index("TAP-001  rule-raised")


def test_what_names_no_rule_is_an_error_with_the_nearest(capsys):
    _, err = rules(capsys, "MRTR-01666", code=2)
    assert "error[unknown-rule]: MRTR-01666 names no rule" in err
    assert "did you mean MRTR-016?" in err


@pytest.mark.parametrize("flags", [["--json"], ["-f", "json"]])
def test_programs_get_a_document(capsys, flags):
    doc = json.loads(rules(capsys, *flags).out)
    assert doc["version"] == 1
    assert [rule["id"] for rule in doc["rules"]] == [rule.id for rule in RULES]
    (one,) = json.loads(rules(capsys, "MRTR-016", *flags).out)["rules"]
    assert one["name"] == "retry-state-modified"
    assert one["family"] == "MRTR"
    assert one["versions"] == ["2026-07-28"]
    assert one["spec"].startswith("https://modelcontextprotocol.io/specification/")
    assert one["page"].startswith(one["summary"])


def test_quiet_says_nothing_beside_the_list(capsys):
    assert rules(capsys, "-q", "TAP").err == ""
