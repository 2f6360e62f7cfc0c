from mcp_tap.core.finding import RANK, Finding


def test_severities_have_an_order():
    assert sorted(RANK, key=RANK.__getitem__) == ["note", "warning", "error"]


def test_equal_findings_are_equal_so_that_runs_can_be_compared():
    facts = {
        "rule": "A-1",
        "name": "a",
        "severity": "note",
        "level": "may",
        "blame": "client",
        "message": "m",
        "seq": 1,
        "t": 0.0,
    }
    assert Finding(**facts) == Finding(**facts)
    assert Finding(**facts) != Finding(**{**facts, "seq": 2})
