from __future__ import annotations

import random
from datetime import date, datetime

import pytest

from mcp_tap.core.filters import parse
from mcp_tap.errors import ConfigError, UsageError
from mcp_tap.rules.policy import Known, Policy, Suppression, known, read_fail_on, selectors
from mcp_tap.rules.policy_tables import (
    read_baseline,
    read_severity,
    read_suppressions,
    write_baseline,
)
from mcp_tap.rules.selectors import selector
from tests import builders

BEGAN = "2026-07-28T23:59:59.250Z"


def finding(rule="TAP-003", severity="warning", **fields):
    given = {
        "name": "records-lost",
        "blame": "tap",
        "server": "billing",
        "method": "tools/call",
        "target": "deploy",
        "spot": "records",
    }
    return builders.finding(rule, severity, **{**given, **fields})


def some(*words):
    return [selector(word, where="") for word in words]


def suppression(rule="TAP", **fields):
    given = {"rules": selector(rule, where=""), "reason": "known", **fields}
    return Suppression(**given)


def how(policy, found=None, subject=None, **more):
    return policy.judge(found or finding(), subject, started=BEGAN, **more).how


def test_all_rules_count_and_errors_fail():
    policy = Policy()
    warning, error = policy.judge(finding()), policy.judge(finding(severity="error"))
    assert (warning.how, policy.fails(warning)) == ("counts", False)
    assert (error.how, policy.fails(error)) == ("counts", True)


@pytest.mark.parametrize(
    ("fail_on", "failing"),
    [
        ("error", ["error"]),
        ("warning", ["error", "warning"]),
        ("note", ["error", "warning", "note"]),
        ("never", []),
    ],
)
def test_what_fails_is_said_by_a_severity(fail_on, failing):
    policy = Policy(fail_on=read_fail_on(fail_on))
    bad = [
        s for s in ("error", "warning", "note") if policy.fails(policy.judge(finding("TAP-001", s)))
    ]
    assert bad == failing


def test_a_rule_that_is_not_selected_is_ignored():
    assert how(Policy(ignore=some("TAP"))) == "ignored"
    assert how(Policy(select=some("ELIC"))) == "ignored"
    assert how(Policy(select=some("records-lost"), ignore=some("TAP"))) == "counts"


def test_severities_are_overridden_by_the_closest_word():
    table = read_severity({"TAP-003": "error", "TAP": "note", "TAP-00": "warning"}, "f")
    policy = Policy(severities=table)
    assert policy.judge(finding()).finding.severity == "error"
    assert policy.judge(finding("TAP-001", "error")).finding.severity == "warning"


def test_a_suppression_holds_with_its_reason():
    policy = Policy(suppressions=[suppression(reason="its gateway does that")])
    verdict = policy.judge(finding(severity="error"), started=BEGAN)
    assert (verdict.how, verdict.why) == ("suppressed", "its gateway does that")
    assert not policy.fails(verdict)
    assert policy.leftover() == []


@pytest.mark.parametrize(
    ("where", "covered"),
    [("server:billing", True), ("tool:deploy round:3", True), ("server:crm", False)],
)
def test_a_suppression_holds_where_its_filter_passes(where, covered):
    policy = Policy(suppressions=[suppression(where=parse(where))])
    assert policy.needs_subject
    assert how(policy, subject=builders.deploy()) == ("suppressed" if covered else "counts")
    assert how(policy, subject=None) == "counts", "what belongs to no call passes no filter"


@pytest.mark.parametrize(
    ("until", "holds"),
    [(date(2026, 7, 28), True), (date(2026, 7, 27), False), (date(2027, 1, 1), True)],
)
def test_a_suppression_ends_after_its_last_day_by_the_day_the_run_began(until, holds):
    policy = Policy(suppressions=[suppression(until=until)])
    verdict = policy.judge(finding(), started=BEGAN)
    assert verdict.how == ("suppressed" if holds else "counts")
    if not holds:
        assert verdict.why == f"its exception (known) held until {until.isoformat()}"
        assert policy.leftover() == [], "it matches; the finding is back"


def test_a_run_of_no_known_day_is_past_every_date():
    policy = Policy(suppressions=[suppression(until=date(9999, 12, 31))])
    assert policy.judge(finding(), started="yesterday").how == "counts"


def test_the_baseline_holds_whatever_the_numbers_are():
    policy = Policy(baseline=[known(finding())])
    assert how(policy, finding(seq=99, t=8.0, call=4, round=2, line=12, message="other")) == (
        "baselined"
    )
    assert how(policy, finding(spot="other")) == "counts"


def test_an_unused_suppression_and_a_stale_line_are_findings():
    line = Known(rule="TAP-003", server=None, method=None, name=None, spot="gone")
    policy = Policy(
        suppressions=[suppression("TAP-001", place="mcp-tap.toml [check], suppression 1")],
        baseline=[line],
    )
    left = policy.leftover()
    assert [(v.finding.rule, v.finding.severity, v.how) for v in left] == [
        ("TAP-002", "error", "counts"),
        ("TAP-002", "error", "counts"),
    ]
    assert all(policy.fails(verdict) for verdict in left)
    assert "mcp-tap.toml [check], suppression 1" in left[0].finding.message
    assert "TAP-003 gone" in left[1].finding.message


def test_exceptions_of_rules_that_were_not_looked_at_are_not_called_unused():
    line = Known(rule="TAP-003", server=None, method=None, name=None, spot="gone")
    select = some("ELIC", "TAP-002")
    policy = Policy(select=select, suppressions=[suppression("TAP-001")], baseline=[line])
    assert policy.leftover() == []


def test_a_line_of_a_rule_that_does_not_exist_is_stale():
    line = Known(rule="OLD-001", server=None, method=None, name=None, spot="x")
    assert Policy(baseline=[line]).stale() == [line]


def test_unused_exceptions_can_be_ignored_as_any_rule():
    policy = Policy(ignore=some("TAP-002"), suppressions=[suppression("TAP-001")])
    assert policy.leftover() == []


def test_words_are_read_with_commas_between():
    assert [s.word for s in selectors(["TAP, ELIC", "MRTR,"], where="--select")] == [
        "TAP",
        "ELIC",
        "MRTR",
    ]


def test_a_word_for_what_fails_is_one_of_four():
    with pytest.raises(UsageError, match="none of error, warning, note, never"):
        read_fail_on("all")


# what stands in files


def test_suppressions_are_read():
    entry = {"rule": "TAP", "where": "server:crm", "reason": "why", "until": date(2026, 12, 31)}
    (made,) = read_suppressions([entry], "f [check]")
    assert (made.rules.word, str(made.where), made.until) == (
        "TAP",
        "server:crm",
        date(2026, 12, 31),
    )
    assert made.place == "f [check], suppression 1"


@pytest.mark.parametrize(
    "value",
    ["2026-12-31", date(2026, 12, 31), datetime(2026, 12, 31, 8, 0)],  # noqa: DTZ001
)
def test_a_last_day_is_a_date_or_text(value):
    (made,) = read_suppressions([{"rule": "TAP", "reason": "why", "until": value}], "f")
    assert made.until == date(2026, 12, 31)


GOOD = {"rule": "TAP", "reason": "why"}


@pytest.mark.parametrize(
    ("entries", "code", "words"),
    [
        ({"rule": "TAP"}, "setting-type", "entries"),
        ([1], "setting-type", "entries"),
        ([{"rule": "TAP"}], "suppression-incomplete", 'suppression 1 has no "reason"'),
        ([{**GOOD, "reason": " "}], "suppression-incomplete", '"reason"'),
        ([GOOD, {"reason": "x"}], "suppression-incomplete", 'suppression 2 has no "rule"'),
        ([{**GOOD, "rule": 3}], "suppression-incomplete", '"rule"'),
        ([{**GOOD, "rules": "TAP"}], "unknown-setting", 'suppression 1 has no setting "rules"'),
        ([{**GOOD, "until": "soon"}], "bad-value", 'until = "soon" is no date'),
        ([{**GOOD, "until": 20261231}], "bad-value", "is no date"),
        ([{**GOOD, "where": "sever:x"}], "unknown-key", 'filters have no key "sever"'),
        ([{**GOOD, "where": "(a"}], "filter-syntax", "suppression 1: cannot read"),
        ([{**GOOD, "where": 3}], "setting-type", "takes a filter"),
        ([{**GOOD, "rule": "TAPP"}], "unknown-rule", "suppression 1: TAPP names no rule"),
    ],
)
def test_a_suppression_that_cannot_be_meant_is_refused_by_name(entries, code, words):
    with pytest.raises(ConfigError) as error:
        read_suppressions(entries, "mcp-tap.toml [check]")
    assert error.value.code == code
    assert words in error.value.what
    assert "mcp-tap.toml [check]" in error.value.where


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([], "takes a table"),
        ({"TAP": "bad"}, '"bad" is no severity'),
        ({"TAP": 3}, "3 is no severity"),
        ({"TPA": "note"}, "TPA names no rule"),
    ],
)
def test_a_severity_that_cannot_be_meant_is_refused(table, words):
    with pytest.raises(ConfigError, match=words):
        read_severity(table, "mcp-tap.toml [check.severity]")


def test_a_baseline_is_written_and_read():
    lines = [known(finding(spot=spot)) for spot in "cab"] + [
        Known(rule="TAP-001", server=None, method=None, name='é "\n', spot="")
    ]
    data = write_baseline(lines)
    assert sorted(map(repr, read_baseline(data, "b"))) == sorted(map(repr, lines))
    shuffled = lines * 2
    random.Random(1).shuffle(shuffled)
    assert write_baseline(shuffled) == data
    assert read_baseline(data + b"\n\n", "b") == read_baseline(data, "b")


@pytest.mark.parametrize("data", [b"{}", b"[1]", b"x", b'{"rule": 3}', b"\xff"])
def test_a_damaged_baseline_is_refused_by_its_line(data):
    with pytest.raises(ConfigError, match=r"known\.jsonl cannot be read at line 2"):
        read_baseline(write_baseline([known(finding())]) + data, "known.jsonl")


def test_a_baseline_holds_when_the_server_has_another_port():
    lines = {known(finding(server=f"127.0.0.1:{port}")) for port in (8123, 40001)}
    assert [line.server for line in lines] == ["127.0.0.1"]
    assert known(finding(server="shop")).server == "shop"
    assert known(finding(server=None)).server is None
