"""The rules are those of the catalogue, with pages and examples."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

import mcp_tap.rules
from mcp_tap.rules.catalogue import BY_ID, RULES

CATALOGUE = {
    entry["id"]: entry
    for entry in json.loads(
        (Path(__file__).parent.parent / "data" / "catalogue.json").read_text(encoding="utf-8")
    )
}
EXAMPLES = Path(mcp_tap.rules.__file__).parent / "examples"
ANYWHERE = {"other", "ambiguous"}
"""Rules of the wire itself hold also where no revision was declared."""

WIDER = {
    "HDR-002": {"2025-11-25", "2025-06-18", "other"},
    "DISC-004": {"2025-11-25", "2025-06-18", "other"},
}
"""Rules whose own text says more than its list of revisions: that header and body must agree, and
the request that goes on in a revision the server did not list."""


def examples():
    for path in EXAMPLES.glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            yield case["rule"], case["kind"]


KINDS = Counter(examples())
WIRE = [rule for rule in RULES if rule.family != "TAP"]


def test_the_rules_are_those_of_the_catalogue():
    assert {rule.id for rule in WIRE} == CATALOGUE.keys()


@pytest.mark.parametrize("entry", list(CATALOGUE.values()), ids=list(CATALOGUE))
def test_a_rule_is_what_the_catalogue_says(entry):
    rule = BY_ID.get(entry["id"])
    assert rule is not None, "not written yet"
    versions = set(rule.versions)
    if rule.family in ("RPC", "STDIO"):
        versions -= ANYWHERE
    party = "either" if rule.blames == "sender" else rule.blames
    assert (rule.name, party, rule.level, rule.severity) == (
        entry["name"],
        entry["party"],
        entry["level"],
        entry["severity"],
    )
    assert versions == set(entry["versions"]) | WIDER.get(rule.id, set())
    assert set(rule.transports) == set(entry["transports"])


@pytest.mark.parametrize("rule", WIRE, ids=lambda rule: rule.id)
def test_a_rule_has_a_bad_and_a_good_example(rule):
    assert KINDS[rule.id, "bad"]
    assert KINDS[rule.id, "good"]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_has_a_page(rule):
    first, _, more = rule.page.partition("\n")
    assert first.endswith("."), "the first line says what is found"
    assert more.strip(), "then come reasons and limits"
    assert "TODO" not in rule.page
