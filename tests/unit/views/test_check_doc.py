from __future__ import annotations

from mcp_tap.core.finding import Finding
from mcp_tap.views.check_doc import CheckFindingDoc


def test_a_finding_in_the_document_has_all_a_finding_has_but_its_clock():
    assert set(Finding.__struct_fields__) - set(CheckFindingDoc.__struct_fields__) == {"t"}
    assert set(CheckFindingDoc.__struct_fields__) - set(Finding.__struct_fields__) == {
        "spec",
        "help",
    }
