"""What findings mean for a test: they fail it, unless it allows them with a reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from mcp_tap.core.filters import parse
from mcp_tap.core.finding import Finding
from mcp_tap.core.text import plural
from mcp_tap.errors import ConfigError
from mcp_tap.plugin.options import Options
from mcp_tap.rules.policy import FailOn, Policy, Subject, Suppression, selectors
from mcp_tap.rules.selectors import selector
from mcp_tap.views.found import finding_row
from mcp_tap.views.look import text_of

MARKER = "tap_allow"


class Allow(Struct, frozen=True, kw_only=True):
    """One `tap_allow` marker."""

    arguments: tuple[Any, ...]
    words: dict[str, Any]
    own: bool
    """It stands at the test itself, so that the test has to need it."""


class Verdicts:
    """The policy of one test, and what it said."""

    def __init__(self, options: Options, allows: Sequence[Allow], fail_on: FailOn | None) -> None:
        """Set out what counts.

        Args:
            options: of the test.
            allows: its markers.
            fail_on: what the command line says.

        Raises:
            TapError: a marker or an option cannot be meant.
        """
        self._allowed = [(allow, _suppression(allow)) for allow in allows]
        select = selectors(options.select or ("ALL",), where="select")
        self._policy = Policy(
            select=[*select, *selectors(options.extend_select, where="extend_select")],
            ignore=selectors(options.ignore, where="ignore"),
            suppressions=[suppression for _, suppression in self._allowed],
            fail_on=fail_on or options.fail_on,
        )
        self.started = ""
        """When the run began, RFC 3339."""
        self.failing: list[Finding] = []
        self._told = 0

    def sift(self, finding: Finding, subject: Subject) -> Finding | None:
        """Give a finding as it counts; None where it does not."""
        verdict = self._policy.judge(finding, subject, started=self.started)
        if verdict.how != "counts":
            return None
        if self._policy.fails(verdict):
            self.failing.append(verdict.finding)
        return verdict.finding

    def unused(self) -> list[str]:
        """Name what the test itself allows and nothing needed."""
        unused = {id(each) for each in self._policy.unused()}
        return [
            str(suppression)
            for allow, suppression in self._allowed
            if allow.own and id(suppression) in unused
        ]

    def words(self) -> str:
        """Say what fails the test and was not told yet; empty where nothing is."""
        new = self.failing[self._told :]
        self._told = len(self.failing)
        if not new:
            return ""
        fails = "fails" if len(new) == 1 else "fail"
        lines = [f"{plural(len(new), 'finding')} {fails} this test (--tap-fail-on):"]
        lines += [f"  {text_of(finding_row(finding))}" for finding in new]
        rule = new[0].rule
        lines.append(f"  help: mcp-tap rules {rule} says what it is about; to live with it:")
        lines.append(f'        @pytest.mark.{MARKER}("{rule}", reason="...")')
        return "\n".join(lines)


def _suppression(allow: Allow) -> Suppression:
    """Read a marker.

    Raises:
        TapError: it cannot be meant.
    """
    words = dict(allow.words)
    reason, where = words.pop("reason", None), words.pop("where", None)
    shown = ", ".join(map(repr, allow.arguments))
    if words:
        raise ConfigError(
            "unknown-setting",
            f"{MARKER}({shown}) has no setting {next(iter(words))}",
            help='reason="...", and where="FILTER" for some calls only',
        )
    if len(allow.arguments) != 1 or not isinstance(allow.arguments[0], str):
        raise ConfigError(
            "bad-value",
            f"{MARKER}({shown}) does not name one rule",
            help=f'@pytest.mark.{MARKER}("ELIC-050", reason="..."), once for each',
        )
    if not isinstance(reason, str) or not reason.strip():
        raise ConfigError(
            "no-reason",
            f"{MARKER}({shown}) has no reason",
            why="who reads it later has to know whether it still holds",
            help=f'@pytest.mark.{MARKER}({shown}, reason="...")',
        )
    return Suppression(
        rules=selector(allow.arguments[0], where=MARKER),
        where=parse(where) if where else None,
        reason=reason,
        place=MARKER,
    )
