from __future__ import annotations

from xml.etree import ElementTree as ET

from mcp_tap.views.reports.as_junit import junit_report
from tests.reports import HOSTILE, capture, entry, failed_expect, hostile_entry, report, torn


def parse(made):
    return ET.fromstring(junit_report(made))


def cases(root):
    return {(suite.get("name"), case.get("name")): case for suite in root for case in suite}


def test_each_rule_is_a_test_case_of_each_run():
    two = report(captures=[capture(), capture(path="b.jsonl", label="crm")])
    root = parse(two)
    assert [suite.get("name") for suite in root] == ["captures/run one.jsonl", "b.jsonl", "mcp-tap"]
    names = [case.get("name") for case in root[0]]
    assert names == ["TAP-001 rule-raised", "TAP-003 records-lost", "TAP-004 ask-unanswered"]
    assert [case.get("name") for case in root[2]] == ["TAP-002 exception-unused"]
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("7", "0", "0")
    assert root[0].get("timestamp") == "2026-07-28T12:04:01"
    assert root[1][0].get("classname") == "mcp-tap.TAP.crm"


def test_what_fails_is_a_failure_and_the_rest_is_output():
    root = parse(
        report(
            entry("TAP-001", fails=True),
            entry("TAP-001", fails=True, line=380),
            entry("TAP-003"),
            entry("TAP-003", how="suppressed", why="known since May"),
            entry("TAP-003", how="ignored"),
        )
    )
    found = cases(root)
    failure = found["captures/run one.jsonl", "TAP-001 rule-raised"].find("failure")
    assert failure.get("type") == "error"
    assert failure.get("message").endswith("(and 1 more)")
    assert "captures/run one.jsonl:380: error: server did" in failure.text
    assert "mcp-tap rules TAP-001" in failure.text
    green = found["captures/run one.jsonl", "TAP-003 records-lost"]
    assert green.find("failure") is None
    assert len(green.find("system-out").text.splitlines()) == 2
    assert "[suppressed, known since May]" in green.find("system-out").text
    assert root.get("failures") == root[0].get("failures") == "1"


def test_assertions_are_test_cases_and_troubles_errors():
    assertion, failed = failed_expect()
    root = parse(report(failed, assertions=[assertion], troubles=[torn()]))
    found = cases(root)
    assert found["mcp-tap", "--expect tool:deploy"].find("failure") is not None
    assert "--allow-torn" in found["mcp-tap", "capture-torn"].find("error").text
    assert root.get("errors") == "1"


def test_it_is_xml_whatever_the_wire_said():
    assertion, failed = failed_expect(HOSTILE)
    made = report(
        hostile_entry(fails=True, capture=HOSTILE),
        hostile_entry("TAP-001"),
        failed,
        captures=[capture(path=HOSTILE, label=HOSTILE, started=HOSTILE)],
        assertions=[assertion],
    )
    root = parse(made)
    texts = [t for element in root.iter() for t in (element.text or "", *element.attrib.values())]
    assert all(ch.isprintable() or ch == "\n" for text in texts for ch in text)
    assert any("</failure>]]><script>" in text for text in texts)
