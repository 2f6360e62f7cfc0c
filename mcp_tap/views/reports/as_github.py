"""`check -f github`: findings as workflow commands, which GitHub shows beside the lines of a file.

What a message holds cannot become a command of its own: it never breaks its line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mcp_tap.core.finding import Finding, Severity
from mcp_tap.core.text import safe
from mcp_tap.views.reports.base import Entry, Report, is_rule, sentence

_COMMANDS: Final[dict[Severity, str]] = {"error": "error", "warning": "warning", "note": "notice"}


def github_report(report: Report) -> bytes:
    """Render a command a finding."""
    lines = [_command(entry) for entry in report.counting]
    lines += _troubles(report)
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")


def _command(entry: Entry) -> str:
    finding = entry.finding
    properties = {"title": _title(finding)}
    if finding.capture is not None:
        line = {} if finding.line is None else {"line": str(finding.line)}
        properties = {"file": finding.capture, **line, **properties}
    message = sentence(finding) + (f" [{safe(entry.why)}]" if entry.why else "")
    return _line(_COMMANDS[finding.severity], properties, message)


def _troubles(report: Report) -> Iterator[str]:
    for error in report.troubles:
        yield _line("error", {"title": f"mcp-tap {error.code}"}, f"{error.what}: {error.why}")


def _title(finding: Finding) -> str:
    if not is_rule(finding):
        return f"mcp-tap --{finding.rule}"
    return f"{finding.rule} {finding.name} ({finding.blame})"


def _line(command: str, properties: dict[str, str], message: str) -> str:
    given = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{command} {given}::{_data(safe(message))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return safe(_data(text)).replace(":", "%3A").replace(",", "%2C")
