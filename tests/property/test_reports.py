"""No text from the wire breaks a report, whatever the format."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.core.text import safe
from mcp_tap.views.look import text_of
from mcp_tap.views.reports.as_github import github_report
from mcp_tap.views.reports.as_json import json_report
from mcp_tap.views.reports.as_junit import junit_report
from mcp_tap.views.reports.as_sarif import sarif_report
from mcp_tap.views.reports.as_text import text_rows
from tests.reports import HOSTILE, capture, entry, report

PIECES = st.sampled_from(
    [
        "::",
        "%",
        "%0A",
        "\n",
        "\r",
        "]]>",
        "<",
        "&",
        '"',
        "'",
        "\x1b[",
        "\x00",
        "](",
        "{0}",
        "|",
        ",",
        "\\",
    ]
)
WIRE = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=60),
    st.lists(PIECES, max_size=12).map("".join),
    st.just(HOSTILE),
)
ENTRIES = st.builds(
    entry,
    message=WIRE.filter(bool),
    server=st.none() | WIRE,
    method=st.none() | WIRE,
    target=st.none() | WIRE,
    spot=WIRE,
    path=WIRE.map(lambda text: "/" + text),
    capture=WIRE.filter(bool),
    why=WIRE,
    fails=st.booleans(),
    how=st.sampled_from(["counts", "suppressed", "baselined", "ignored"]),
    severity=st.sampled_from(["error", "warning", "note"]),
)
REPORTS = st.builds(
    lambda entries, name: report(*entries, captures=[capture(path=name, label=name)]),
    st.lists(ENTRIES, max_size=4),
    WIRE.filter(bool),
)


@given(REPORTS)
def test_json_and_sarif_are_json_that_no_terminal_obeys(made):
    for data in (json_report(made), sarif_report(made)):
        text = data.decode()
        json.loads(text)
        assert all(safe(line) == line for line in text.split("\n"))


@given(REPORTS)
def test_junit_is_xml_with_as_many_failures_as_fail(made):
    root = ET.fromstring(junit_report(made))
    fails = any(e.fails for e in made.entries if e.how != "ignored")
    assert (root.get("failures") != "0") == fails


@given(REPORTS)
def test_github_has_one_command_a_finding_and_nothing_else(made):
    lines = github_report(made).decode().split("\n")
    assert lines.pop() == ""
    assert len(lines) == len(made.counting)
    for line in lines:
        head, _, message = line.removeprefix("::").partition("::")
        assert head.split(" ", 1)[0] in ("error", "warning", "notice")
        assert message
        assert safe(line) == line


@given(REPORTS, st.none() | st.integers(10, 200))
def test_text_has_no_line_that_is_obeyed(made, cells):
    for row in text_rows(made, cells):
        line = text_of(row)
        assert safe(line) == line
