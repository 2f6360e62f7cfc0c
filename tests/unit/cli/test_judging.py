from mcp_tap.cli.judging import LiveVerdicts
from mcp_tap.core.finding import Finding
from mcp_tap.rules.policy import Policy, selectors


def finding(severity="error", rule="MRTR-016"):
    return Finding(
        rule=rule,
        name="x",
        severity=severity,
        level="must",
        blame="client",
        message="m",
        seq=1,
        t=0.0,
    )


def test_what_counts_is_passed_on_and_counted():
    verdicts = LiveVerdicts(Policy())
    assert verdicts.sift(finding(), None) == finding()
    assert verdicts.sift(finding("warning"), None) == finding("warning")
    assert (verdicts.failed, verdicts.words) == (1, "1 error, 1 warning")


def test_what_does_not_count_is_neither_passed_on_nor_counted():
    verdicts = LiveVerdicts(Policy(ignore=selectors(["MRTR"], where="ignore")))
    assert verdicts.sift(finding(), None) is None
    assert (verdicts.failed, verdicts.words) == (0, "")
