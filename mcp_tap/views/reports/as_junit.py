"""`check -f junit`: a test case for each rule and run, so that a green rule is seen as green.

A finding that does not fail the check stands in the output of its test case.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as ET

from mcp_tap.core.text import safe
from mcp_tap.rules.base import Rule
from mcp_tap.rules.catalogue import BY_ID
from mcp_tap.rules.policy import UNUSED
from mcp_tap.views.reports.base import Assertion, Entry, Report, help_words, sentence, spec_url

TAP: str = "mcp-tap"
_HIDDEN = {0xFFFE: "\\ufffe", 0xFFFF: "\\uffff"}
"""Noncharacters that XML has no way to write; `safe` takes care of all others."""


def junit_report(report: Report) -> bytes:
    """Render the document."""
    root = ET.Element("testsuites", name=TAP)
    by_run: dict[int | None, dict[str, list[Entry]]] = defaultdict(lambda: defaultdict(list))
    for entry in report.entries:
        by_run[entry.run][entry.finding.rule].append(entry)
    for index, capture in enumerate(report.captures):
        name = capture.path or capture.run
        suite = _suite(root, name, capture.started)
        for rule in report.rules:
            if rule.id != UNUSED:
                _rule(suite, rule, by_run[index][rule.id], capture.label)
    suite = _suite(root, TAP, None)
    unused = BY_ID[UNUSED]
    if unused in report.rules:
        _rule(suite, unused, by_run[None][UNUSED], None)
    for assertion in report.assertions:
        _assertion(suite, assertion)
    for error in report.troubles:
        case = _case(suite, TAP, error.code)
        made = ET.SubElement(case, "error", message=_text(error.what), type=error.code)
        made.text = _text(str(error), lines=True)
    for parent in (*root, root):
        _count(parent)
    ET.indent(root)
    document: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _suite(root: ET.Element, name: str, started: str | None) -> ET.Element:
    suite = ET.SubElement(root, "testsuite", name=_text(name))
    if started:
        suite.set("timestamp", _text(started.partition(".")[0].removesuffix("Z")))
    return suite


def _case(suite: ET.Element, classname: str, name: str) -> ET.Element:
    return ET.SubElement(suite, "testcase", classname=classname, name=_text(name), time="0")


def _rule(suite: ET.Element, rule: Rule, entries: Sequence[Entry], label: str | None) -> None:
    classname = f"{TAP}.{rule.family}" + (f".{_text(label)}" if label else "")
    case = _case(suite, classname, f"{rule.id} {rule.name}")
    _outcome(case, [entry for entry in entries if entry.how != "ignored"], rule.id)


def _assertion(suite: ET.Element, assertion: Assertion) -> None:
    case = _case(suite, f"{TAP}.assertions", f"--{assertion.option} {assertion.text}")
    _outcome(case, assertion.failures, assertion.option)


def _outcome(case: ET.Element, entries: Iterable[Entry], rule: str) -> None:
    fails = [entry for entry in entries if entry.fails]
    others = [entry for entry in entries if not entry.fails]
    if fails:
        first = fails[0].finding
        more = f" (and {len(fails) - 1} more)" if len(fails) > 1 else ""
        failure = ET.SubElement(
            case, "failure", message=_text(sentence(first) + more), type=first.severity
        )
        lines = [_line(entry) for entry in fails]
        lines += ["", help_words(rule), spec_url(rule) or ""]
        failure.text = _text("\n".join(lines).rstrip(), lines=True)
    if others:
        output = ET.SubElement(case, "system-out")
        output.text = _text("\n".join(map(_line, others)), lines=True)


def _line(entry: Entry) -> str:
    finding = entry.finding
    where = finding.capture or ("standard input" if finding.line is not None else "")
    at = f"{safe(where)}:{finding.line}: " if finding.line is not None else ""
    how = "" if entry.how == "counts" else f"{entry.how}, "
    aside = f" [{how}{safe(entry.why)}]" if entry.why else ""
    return f"{at}{finding.severity}: {sentence(finding)}{aside}"


def _count(parent: ET.Element) -> None:
    parent.set("tests", str(len(parent.findall(".//testcase"))))
    parent.set("failures", str(len(parent.findall(".//failure"))))
    parent.set("errors", str(len(parent.findall(".//error"))))


def _text(text: str, *, lines: bool = False) -> str:
    """Make text that XML can hold; control characters and lone surrogates are spelled out."""
    parts = text.split("\n") if lines else [text]
    return "\n".join(safe(part) for part in parts).translate(_HIDDEN)
