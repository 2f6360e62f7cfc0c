import pytest

from mcp_tap.core.facts.flow import Flow, band_of
from mcp_tap.core.facts.seen import Run
from mcp_tap.core.model import Exchange
from mcp_tap.core.records import HttpRequest


@pytest.mark.parametrize(
    ("version", "band"),
    [
        (None, "ambiguous"),
        ("2026-07-28", "2026-07-28"),
        ("2027-01-01", "2026-07-28"),
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "other"),
        ("2024-11-05", "other"),
        ("DRAFT-2026", "other"),
        ("", "other"),
        ("9999-99-99", "other"),
    ],
)
def test_a_revision_has_the_rules_written_for_it(version, band):
    assert band_of(version) == band


def made(headers) -> Flow:
    flow = Flow(Exchange(number=1, t=0.0), Run().client("a", 0.0), http=True, upstream="http://x")
    flow.head = HttpRequest(
        seq=1, t=0.0, exchange=1, conn=1, peer="::1", method="POST", path="/mcp", headers=headers
    )
    return flow


def test_fields_are_found_whatever_their_spelling_and_blanks():
    flow = made([("MCP-Method", " tools/call\t"), ("Accept", "a"), ("accept", "b")])
    assert flow.header("mcp-method") == "tools/call"
    assert flow.fields["accept"] == ["a", "b"]
    assert flow.header("x-none") is None


def test_an_exchange_without_heads_has_no_fields():
    flow = Flow(Exchange(number=1, t=0.0), Run().client("a", 0.0), http=False, upstream="cmd")
    assert flow.header("accept") is None
    assert flow.reply_header("content-type") is None
    assert flow.status is None
    assert not flow.streams
