# ruff: noqa: INP001 - a script, not a package
"""Print the table of rules.md: `python -m cogapp -r docs/rules.md` writes the page anew."""

from __future__ import annotations

from itertools import groupby

from mcp_tap.rules.base import Rule
from mcp_tap.rules.catalogue import RULES
from mcp_tap.rules.selectors import FAMILIES
from mcp_tap.views.reports.base import revisions, spec_url

BLAMES = {"sender": "the sender"}
HEAD = (
    "| rule | name | severity | level | blames | revisions | finds |\n|---|---|---|---|---|---|---|"
)


def row(rule: Rule) -> str:
    """Describe a rule in a row; its id leads to the passage of the specification."""
    url = spec_url(rule.id)
    bands = ", ".join(revisions(rule))
    name = f"[{rule.id}]({url})" if url else rule.id
    summary = rule.summary.replace("|", "\\|")
    blames = BLAMES.get(rule.blames, rule.blames)
    cells = [name, rule.name, rule.severity, rule.level, blames, bands, summary]
    return f"| {' | '.join(cells)} |"


def tables() -> str:
    """Describe all rules, a table a family."""
    out = []
    for family, rules in groupby(RULES, key=lambda rule: rule.family):
        out += [f"## {family}: {FAMILIES[family]}", "", HEAD, *map(row, rules), ""]
    return "\n".join(out).rstrip()
