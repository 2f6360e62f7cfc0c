"""`mcp-tap rules`: the list of all rules, or the page of each that is named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from mcp_tap.cli.common import TapCommand, option, output
from mcp_tap.cli.output import dumped

if TYPE_CHECKING:
    from mcp_tap.rules.base import Rule
    from mcp_tap.views.look import Row

WIDTH = 100
"""Cells where no terminal says otherwise."""
BELOW = 13
"""Where what a rule finds begins if there is no room beside its name: below that name."""


@click.command(
    "rules",
    cls=TapCommand,
    epilog="""\
\b
Examples:
  mcp-tap rules                       all of them
  mcp-tap rules MRTR                  those of a family
  mcp-tap rules MRTR-016              the page of one
""",
)
@click.argument("rules", metavar="[RULE]...", nargs=-1)
@option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    help="For people or for programs.",
)
def command(rules: tuple[str, ...], form: str) -> None:
    """List the rules, or print the page of each RULE.

    RULE is an id or a name; a family (MRTR) or the beginning of an id lists what it names.  A page
    says what is found and why, shows an example of it, and where the specification has it.
    """
    from mcp_tap.rules.catalogue import RULES
    from mcp_tap.rules.selectors import selector

    out = output()
    named = [selector(word, where="") for word in rules]
    chosen = [r for r in RULES if any(r.id in s.ids for s in named)] if named else list(RULES)
    if form == "json" or out.json:
        out.document(dumped({"version": 1, "rules": [_document(rule) for rule in chosen]}))
        return
    pages = bool(named) and all(len(s.ids) == 1 for s in named)
    if pages:
        order = {identity: n for n, s in enumerate(named) for identity in s.ids}
        out.rows(_pages(sorted(chosen, key=lambda r: order[r.id]), out.cells or WIDTH))
    else:
        out.rows(_list(chosen, out.cells))
        out.say(f"{len(chosen)} rules; mcp-tap rules {chosen[0].id} prints the page of one")


def _pages(rules: Sequence[Rule], cells: int) -> Iterator[Row]:
    from mcp_tap.views.rule_examples import examples
    from mcp_tap.views.rule_page import rule_rows

    for number, rule in enumerate(rules):
        if number:
            yield []
            yield [("-" * min(cells, WIDTH), "dim")]
            yield []
        yield from rule_rows(rule, examples(rule), min(cells, WIDTH))


def _list(rules: Sequence[Rule], cells: int | None) -> Iterator[Row]:
    """List rules by family, each with what it finds."""
    from mcp_tap.core.text import width
    from mcp_tap.rules.selectors import FAMILIES
    from mcp_tap.views.found import LETTERS, STYLES
    from mcp_tap.views.look import wrapped

    family = ""
    names = max(len(rule.name) for rule in rules)
    for rule in rules:
        if rule.family != family:
            if family:
                yield []
            family = rule.family
            yield [(family, "strong"), (f"  {FAMILIES.get(family, '')}", "dim")]
        head = f" {rule.id:9} {rule.name:{names}}  "
        first: Row = [(f" {LETTERS[rule.severity]}", STYLES[rule.severity]), (head, "")]
        if cells is None or width(rule.summary) + len(head) + 2 <= cells:
            yield [*first, (rule.summary, "dim")]
            continue
        yield first  # there is no room beside it
        for line in wrapped(rule.summary, cells - BELOW):
            yield [(" " * BELOW + line, "dim")]


def _document(rule: Rule) -> dict[str, Any]:
    from mcp_tap.views.reports.base import page_of, revisions, spec_url

    return {
        "id": rule.id,
        "name": rule.name,
        "family": rule.family,
        "severity": rule.severity,
        "level": rule.level,
        "blames": rule.blames,
        "versions": revisions(rule),
        "transports": list(rule.transports),
        "spec": spec_url(rule.id),
        "summary": rule.summary,
        "page": page_of(rule),
    }
