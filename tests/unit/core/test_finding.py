from mcp_tap.core.finding import RANK
from tests.builders import finding


def test_severities_have_an_order():
    assert sorted(RANK, key=RANK.__getitem__) == ["note", "warning", "error"]


def test_equal_findings_are_equal_so_that_runs_can_be_compared():
    assert finding() == finding()
    assert finding() != finding(seq=2)
