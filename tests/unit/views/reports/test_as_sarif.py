from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs
import pytest

from mcp_tap.views.reports.as_sarif import FINGERPRINT, sarif_report
from tests.reports import HOSTILE, capture, entry, failed_expect, hostile_entry, report, torn

SCHEMA = json.loads(
    (Path(__file__).parents[3] / "data" / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8")
)
VALIDATOR = jsonschema_rs.Draft4Validator(SCHEMA, validate_formats=True)


def log(made):
    data = sarif_report(made)
    assert all(ch.isprintable() or ch == "\n" for ch in data.decode())
    doc = json.loads(data)
    VALIDATOR.validate(doc)
    return doc


def results(made):
    return log(made)["runs"][0]["results"]


def test_a_result_has_rule_level_place_and_fingerprint():
    (result,) = results(report(entry()))
    assert (result["ruleId"], result["level"]) == ("TAP-003", "warning")
    (location,) = result["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "captures/run%20one.jsonl"},
        "region": {"startLine": 377},
    }
    assert location["logicalLocations"][0]["fullyQualifiedName"] == "billing/tools/call/deploy"
    assert len(result["partialFingerprints"][FINGERPRINT]) == 64
    assert result["properties"]["call"] == 16


def test_a_fingerprint_is_of_what_stays_the_same():
    prints = [
        result["partialFingerprints"][FINGERPRINT]
        for result in results(
            report(
                entry(),
                entry(line=2, seq=1, call=3, round=1, exchange=4, message="x", path="/y"),
                entry(spot="other"),
                entry(target="other"),
                entry("TAP-001"),
            )
        )
    ]
    assert prints[0] == prints[1]
    assert len(set(prints)) == 4


def test_rules_have_pages_addresses_and_levels():
    driver = log(report(entry()))["runs"][0]["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("mcp-tap", "0.1.0")
    by_id = {rule["id"]: rule for rule in driver["rules"]}
    assert by_id["TAP-003"]["defaultConfiguration"] == {"level": "warning"}
    assert "mcp-tap rules TAP-003" in by_id["TAP-003"]["help"]["text"]
    assert by_id["TAP-003"]["help"]["markdown"]
    assert "helpUri" not in by_id["TAP-003"]


def test_all_rules_make_a_sound_log():
    from mcp_tap.rules.catalogue import RULES

    doc = log(report(rules=RULES))
    (mrtr,) = [r for r in doc["runs"][0]["tool"]["driver"]["rules"] if r["id"] == "MRTR-016"]
    assert mrtr["helpUri"].startswith("https://modelcontextprotocol.io/specification/2026-07-28/")


def test_exceptions_are_results_with_a_suppression():
    found = results(
        report(entry(how="suppressed", why="known"), entry(how="baselined"), entry(how="ignored"))
    )
    assert [r["suppressions"][0]["justification"] for r in found] == ["known", ""]
    assert all(r["suppressions"][0]["kind"] == "external" for r in found)


def test_the_invocation_says_how_it_ended():
    assertion, failed = failed_expect()
    (invocation,) = log(report(failed, assertions=[assertion]))["runs"][0]["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (True, 1)
    (invocation,) = log(report(troubles=[torn()], exit_code=4))["runs"][0]["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 4)
    assert invocation["toolExecutionNotifications"][0]["descriptor"]["id"] == "capture-torn"


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("a b/ü#?.jsonl", "a%20b/%C3%BC%23%3F.jsonl"),
        ("x:y.jsonl", "x%3Ay.jsonl"),
        ("/tmp/a b.jsonl", "file:///tmp/a%20b.jsonl"),
        ("C:\\runs\\a.jsonl", "file:///C:/runs/a.jsonl"),
    ],
)
def test_paths_are_uris(path, uri):
    (result,) = results(report(entry(capture=path)))
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_what_was_read_from_standard_input_has_no_file():
    (result,) = results(report(entry(capture=None)))
    assert "physicalLocation" not in result["locations"][0]


def test_what_is_about_no_record_stands_at_the_head_of_the_first_capture():
    assertion, failed = failed_expect()
    unread = capture(path=None)
    (result,) = results(report(failed, assertions=[assertion], captures=[unread, capture()]))
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "captures/run%20one.jsonl"},
        "region": {"startLine": 1},
    }
    (result,) = results(report(failed, assertions=[assertion], captures=[unread]))
    assert "locations" not in result


def test_wire_text_is_neither_placeholder_nor_link():
    assertion, failed = failed_expect(HOSTILE)
    first, _ = results(report(hostile_entry(), failed, assertions=[assertion]))
    text = first["message"]["text"]
    assert "{{0}}" in text
    assert "](" not in text.replace("\\](", "")
