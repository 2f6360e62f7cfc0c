"""Judging a run while it goes on: the policy's options, and what they make of findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from mcp_tap.cli.common import FILE, TapContext, option, several

if TYPE_CHECKING:
    from mcp_tap.config import Found
    from mcp_tap.core.finding import Finding, Severity
    from mcp_tap.core.model import Call, Exchange
    from mcp_tap.rules.policy import Policy

_F = TypeVar("_F", bound=Callable[..., Any])
NAMES: Final = ("select", "ignore", "extend_select", "fail_on", "baseline")
"""The options of a policy, by parameter."""


def policy_options(panel: str) -> Callable[[_F], _F]:
    """Add the options that say which findings count."""
    return several(
        option(
            "--select",
            multiple=True,
            metavar="RULES",
            panel=panel,
            help="Rules that count: families, ids, beginnings of ids or names, with commas"
            " between; repeatable.  [default: ALL]",
        ),
        option(
            "--ignore",
            multiple=True,
            metavar="RULES",
            panel=panel,
            help="Rules that do not count; what names a rule more closely wins.",
        ),
        option(
            "--extend-select",
            multiple=True,
            metavar="RULES",
            panel=panel,
            help="Rules that count beside those selected.",
        ),
        option(
            "--fail-on",
            type=click.Choice(["error", "warning", "note", "never"]),
            default="error",
            panel=panel,
            help="How bad a finding must be to fail the check.",
        ),
        option(
            "--baseline",
            type=FILE,
            metavar="FILE",
            panel=panel,
            help="Findings that were there before; they do not count.",
        ),
    )


def check_option(panel: str) -> Callable[[_F], _F]:
    """Add the option that makes a live run fail of what is found in it."""
    return option(
        "--check",
        is_flag=True,
        panel=panel,
        help="Exit with 1 if something fails the check by then, 4 if that cannot be said.",
    )


def live_policy(ctx: click.Context, options: dict[str, Any]) -> Policy:
    """Make the policy of a live run: its own options, else what stands in the table of `check`.

    Raises:
        TapError: a word names no rule, or a file says what cannot be meant.
    """
    from mcp_tap.cli.policing import make_policy

    files, origins = [], {}
    given = {name: options[name] for name in NAMES}
    if isinstance(ctx, TapContext):
        files, origins = ctx.files, dict(ctx.origins)
        for name, found in _of_check(ctx).items():
            if origins.get(name) == "default":
                given[name], origins[name] = found.value, found.where
    baseline = given.pop("baseline")
    return make_policy(
        files, **given, baseline=Path(baseline) if baseline else None, origins=origins
    )


def _of_check(ctx: TapContext) -> dict[str, Found]:
    """Give the policy's options as the table of `check` has them, refused and read as there.

    What else stands in that table is no matter of a live run.
    """
    import msgspec

    from mcp_tap.cli.policing import TABLE
    from mcp_tap.cli.settings import Commands
    from mcp_tap.config import settings
    from mcp_tap.config_check import check

    file = ctx.files[0] if ctx.files else None
    table = file.table.get(TABLE) if file else None
    if file is None or not isinstance(table, dict):
        return {}
    own = {key: value for key, value in table.items() if key.replace("-", "_") in NAMES}
    file = msgspec.structs.replace(file, table={TABLE: own})
    known = Commands(ctx)
    check(file, known, TABLE)
    return settings([file], known, TABLE)


class LiveVerdicts:
    """What the policy makes of findings as they come."""

    def __init__(self, policy: Policy) -> None:
        """Judge by `policy`."""
        self._policy = policy
        self._counted: Counter[Severity] = Counter()
        self.started = ""
        """When the run began, RFC 3339."""
        self.failed = 0
        """Findings that fail the run."""

    def sift(self, finding: Finding, subject: Call | Exchange | None) -> Finding | None:
        """Give a finding as it counts; None where it does not."""
        verdict = self._policy.judge(finding, subject, started=self.started)
        if verdict.how != "counts":
            return None
        self._counted[verdict.finding.severity] += 1
        self.failed += self._policy.fails(verdict)
        return verdict.finding

    @property
    def words(self) -> str:
        """Count what was found: `2 errors, 1 warning`; empty without any."""
        from mcp_tap.views.found import tally

        return tally(self._counted)
