"""`check -f sarif`: SARIF 2.1.0, as code scanning reads it.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/sarif-v2.1.0-os.html
Suppressed and baselined findings are in it, marked as such.  A fingerprint is made of what stays
the same when a run is recorded anew, as is a line of a baseline.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final
from urllib.parse import quote

import msgspec

from mcp_tap.core.finding import Finding
from mcp_tap.core.text import safe
from mcp_tap.rules.base import Rule
from mcp_tap.rules.policy import known
from mcp_tap.views.machine import document_bytes
from mcp_tap.views.reports.base import (
    Assertion,
    Entry,
    Report,
    about,
    help_words,
    is_rule,
    page_of,
    sentence,
    spec_url,
)

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT: Final = "mcpTapFinding/v1"


def sarif_report(report: Report) -> bytes:
    """Render the log; relative paths are meant from the root of the repository."""
    rules = [_rule(rule) for rule in report.rules]
    rules += [_option(assertion) for assertion in _once(report.assertions)]
    index = {rule["id"]: number for number, rule in enumerate(rules)}
    elsewhere = next((doc.path for doc in report.captures if doc.path is not None), None)
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "mcp-tap",
                "version": report.version,
                "rules": rules,
            }
        },
        "invocations": [_invocation(report)],
        "results": [
            _result(entry, index, elsewhere)
            for entry in report.entries
            if entry.how != "ignored" and entry.finding.rule in index
        ],
        "columnKind": "unicodeCodePoints",
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return document_bytes(document) + b"\n"


def _rule(rule: Rule) -> dict[str, Any]:
    url = spec_url(rule.id)
    more = f"mcp-tap rules {rule.id}"
    page = page_of(rule)
    plain = page.replace("`", "")
    said: dict[str, Any] = {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary.replace("`", "")},
        "fullDescription": {"text": plain.partition("\n\n")[2] or plain},
        "help": {
            "text": f"{plain}\n\n{more}" + (f"\n{url}" if url else ""),
            "markdown": f"{page}\n\n`{more}`" + (f"\n\n[Specification]({url})" if url else ""),
        },
        "defaultConfiguration": {"level": rule.severity},
        "properties": {
            "tags": [rule.family, f"level-{rule.level}", f"blames-{rule.blames}"],
            "revisions": list(rule.versions),
            "transports": list(rule.transports),
        },
    }
    if url:
        said["helpUri"] = url
    return said


def _option(assertion: Assertion) -> dict[str, Any]:
    words = help_words(assertion.option)
    return {
        "id": assertion.option,
        "shortDescription": {"text": f"Asserted with --{assertion.option}."},
        "help": {"text": words},
        "defaultConfiguration": {"level": "error"},
    }


def _once(assertions: Sequence[Assertion]) -> list[Assertion]:
    return list({assertion.option: assertion for assertion in assertions}.values())


def _result(entry: Entry, index: dict[str, int], elsewhere: str | None) -> dict[str, Any]:
    finding = entry.finding
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index[finding.rule],
        "level": finding.severity,
        "message": {"text": _escaped(sentence(finding))},
        "partialFingerprints": {FINGERPRINT: _fingerprint(finding)},
        "properties": {
            "blame": finding.blame,
            "level": finding.level,
            "seq": finding.seq,
            "call": finding.call,
            "round": finding.round,
            "exchange": finding.exchange,
            "path": finding.path,
            "server": finding.server,
            "method": finding.method,
            "target": finding.target,
            "spot": finding.spot,
        },
    }
    if location := _location(finding, elsewhere):
        result["locations"] = [location]
    if entry.how in ("suppressed", "baselined"):
        result["suppressions"] = [
            {"kind": "external", "status": "accepted", "justification": safe(entry.why)}
        ]
    return result


def _location(finding: Finding, elsewhere: str | None) -> dict[str, Any]:
    """Say where a finding is; what is about no record stands at the head of the first capture.

    Code scanning refuses a whole log for one result without a file and a line.
    """
    location: dict[str, Any] = {}
    path, line = finding.capture, finding.line
    if path is None and not finding.seq:
        path, line = elsewhere, None
    if path is not None:
        location["physicalLocation"] = {
            "artifactLocation": {"uri": _uri(path)},
            "region": {"startLine": max(1, line or 1)},
        }
    if words := about(finding):
        named = [finding.server or "", finding.method or "", finding.target or ""]
        full = "/".join(safe(word) for word in named if word)
        location["logicalLocations"] = [
            {"name": words, "fullyQualifiedName": full, "kind": "function"}
        ]
    return location


def _invocation(report: Report) -> dict[str, Any]:
    return {
        "executionSuccessful": not report.troubles,
        "exitCode": report.exit_code,
        "toolExecutionNotifications": [
            {
                "level": "error",
                "descriptor": {"id": error.code},
                "message": {"text": _escaped(safe(f"{error.what}: {error.why}"))},
            }
            for error in report.troubles
        ],
    }


def _fingerprint(finding: Finding) -> str:
    """Digest what a line of a baseline holds; of an assertion what failed."""
    stable = msgspec.json.encode(known(finding))
    if not is_rule(finding):
        stable += finding.message.encode("utf-8", "backslashreplace")
    return sha256(stable).hexdigest()


def _uri(path: str) -> str:
    """Make a URI of a path: relative ones stay so."""
    plain = path.replace("\\", "/") if _is_windows(path) else path
    if plain.startswith("/"):
        return "file://" + quote(plain)
    if _is_windows(plain):
        return "file:///" + quote(plain, safe="/:")
    first, slash, rest = plain.partition("/")
    return quote(first, safe="") + slash + quote(rest)  # a colon there would read as a scheme


def _is_windows(path: str) -> bool:
    return path[1:3] in (":\\", ":/")


def _escaped(text: str) -> str:
    """Keep wire text from being read as a placeholder or as a link."""
    return text.replace("{", "{{").replace("}", "}}").replace("](", "\\](")
