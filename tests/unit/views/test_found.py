from mcp_tap.views.found import counted, faulty, finding_row, finding_rows, place_words, tally
from mcp_tap.views.look import text_of
from tests.builders import finding


def test_row_says_severity_rule_place_blame_and_what_happened():
    text = text_of(finding_row(finding()))
    assert text == (
        "E MRTR-016 retry-state-modified    #16 r3  client  client echoed another requestState"
    )


def test_escapes_from_the_wire_are_made_harmless():
    assert "\x1b" not in text_of(finding_row(finding(message="asked \x1b[31mred")))


def test_finding_outside_of_calls_names_its_exchange_or_the_run():
    assert place_words(finding(call=None, round=None)) == "exchange 4"
    assert place_words(finding(call=None, round=None, exchange=None)) == "the run"


def test_counts_leave_notes_out():
    found = [finding(), finding(severity="note"), finding(severity="warning"), finding()]
    assert text_of(counted(found)) == " E2 W1"
    assert counted([finding(severity="note")]) == []


def test_severities_are_told_in_words_the_worst_first():
    assert tally({"note": 2, "error": 1, "warning": 0}) == "1 error, 2 notes"
    assert tally({"note": 0, "error": 0, "warning": 0}) == ""


def test_notes_alone_make_nothing_faulty():
    assert not faulty([finding(severity="note")])
    assert faulty([finding(severity="note"), finding(severity="warning")])


def test_below_its_call_a_finding_names_the_round_only():
    (row,) = finding_rows([finding()], "  ")
    assert text_of(row) == (
        "  E MRTR-016 retry-state-modified  r3  client  client echoed another requestState"
    )
