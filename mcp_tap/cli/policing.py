"""Make the policy of a run from options and files, and read and write baselines."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_tap.cli.output import why_not
from mcp_tap.errors import ConfigError, UsageError
from mcp_tap.rules.policy import Known, Policy, known, read_fail_on, selectors
from mcp_tap.rules.policy_tables import (
    read_baseline,
    read_severity,
    read_suppressions,
    write_baseline,
)
from mcp_tap.rules.selectors import Selector

if TYPE_CHECKING:
    from mcp_tap.config import ConfigFile
    from mcp_tap.views.reports.base import Entry

TABLE = "check"
"""The table of files in which a policy stands, for live runs too."""


def make_policy(
    files: Sequence[ConfigFile],
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    extend_select: Sequence[str] = (),
    fail_on: str = "error",
    baseline: Path | None = None,
    must_exist: bool = True,
    origins: Mapping[str, str] | None = None,
) -> Policy:
    """Make the policy of a run.

    Args:
        files: the configuration files that count; severities and suppressions stand there.
        select: rules that count; none: all.
        ignore: rules that do not count.
        extend_select: rules that count, too.
        fail_on: how bad a finding must be to fail the run.
        baseline: file of findings that were there before.
        must_exist: the baseline's file must be there.
        origins: where each of them was set, for errors.

    Raises:
        UsageError: a word names no rule, or the baseline is not there.
        ConfigError: a file says what cannot be meant.
    """
    table = files[0].table.get(TABLE, {}) if files else {}
    severities, suppressions = {}, []
    if files and isinstance(table, dict):
        if "severity" in table:
            severities = read_severity(table["severity"], files[0].where(TABLE, "severity"))
        if "suppress" in table:
            suppressions = read_suppressions(table["suppress"], files[0].where(TABLE))

    def read(words: Sequence[str], option: str) -> list[Selector]:
        try:
            return selectors(words, where=f"--{option}")
        except UsageError as error:
            error.where = (origins or {}).get(option.replace("-", "_"), "")
            if error.where == "command line":
                error.where = ""
            raise

    return Policy(
        select=[*read(select or ("ALL",), "select"), *read(extend_select, "extend-select")],
        ignore=read(ignore, "ignore"),
        severities=severities,
        suppressions=suppressions,
        baseline=load_baseline(baseline, must_exist=must_exist),
        fail_on=read_fail_on(fail_on),
    )


def load_baseline(path: Path | None, *, must_exist: bool = True) -> list[Known]:
    """Read a baseline; None: there is none.

    Raises:
        UsageError: it is not there, or cannot be read.
        ConfigError: it holds a line that is no entry.
    """
    if path is None or (not must_exist and not path.exists()):
        return []
    try:
        return read_baseline(path.read_bytes(), str(path))
    except OSError as error:
        raise UsageError(
            "baseline-unreadable",
            f"the baseline {path} cannot be read",
            why=(error.strerror or "unknown reason").lower(),
            help=f"mcp-tap check --baseline {shlex.quote(str(path))} --write-baseline writes one",
        ) from error


def update_baseline(
    path: Path, policy: Policy, entries: Sequence[Entry], *, whole: bool
) -> tuple[list[Known], list[Known]]:
    """Write what fails now into the baseline, and take out what no longer is.

    Args:
        path: file of the baseline.
        policy: what the run was judged by.
        entries: what was found.
        whole: all there is was looked at, so that what matched nothing can be taken out.

    Returns:
        Lines added and lines taken out.

    Raises:
        ConfigError: it cannot be written.
    """
    added = list(dict.fromkeys(known(entry.finding) for entry in entries))
    gone = policy.stale() if whole else []
    kept = [line for line in policy.baseline if line not in gone]
    try:
        path.write_bytes(write_baseline([*kept, *added]))
    except OSError as error:
        why, help = why_not(path, error)
        raise ConfigError(
            "baseline-unwritable", f"the baseline {path} cannot be written", why=why, help=help
        ) from error
    return added, gone


TABLES: dict[str, Any] = {"severity": read_severity, "suppress": read_suppressions}
"""What stands in the table beside options; each reader refuses what cannot be meant."""
