"""Judge captures to their end, and keep of them only what was found.

Rules of this file:

- Findings stay in the order of the pipeline, which is the order they had live.
- A call is held only until it no longer changes, and only where a filter has to see it: without
  `--where`, assertions and suppressions with a `where`, nothing but findings is kept.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from mcp_tap.capture.reader import CaptureReader
from mcp_tap.cli.gather import Shelf, gather
from mcp_tap.cli.output import printable
from mcp_tap.core.filters import Filter, Scope
from mcp_tap.core.finding import Finding
from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.records import AnyRecord
from mcp_tap.core.text import plural
from mcp_tap.errors import InconclusiveCapture
from mcp_tap.pipeline.spine import Change, Pipeline
from mcp_tap.rules.assertions import Assertion
from mcp_tap.rules.policy import Policy, Verdict
from mcp_tap.views.machine import capture_doc
from mcp_tap.views.reports.base import Entry
from mcp_tap.views.show_doc import CaptureDoc
from mcp_tap.views.text import local_start


class Checked:
    """What judging one capture gave."""

    def __init__(self, reader: CaptureReader, index: int) -> None:
        """Begin with nothing found."""
        self.reader = reader
        self.index = index
        self.records = 0
        self.seen = False
        """There was something to judge."""
        self.entries: list[Entry] = []
        self.failures: dict[int, list[Entry]] = {}
        """Of assertions, by their index."""

    @property
    def doc(self) -> CaptureDoc:
        """Describe the capture."""
        return capture_doc(self.reader, path=display(self.reader.path), records=self.records)

    def trouble(self) -> InconclusiveCapture | None:
        """Say why a capture cannot be relied on, where it cannot."""
        name = display(self.reader.path) or "-"
        again = f"mcp-tap check {shlex.quote(name)} --allow-torn"
        return capture_trouble(self.reader, self.records, again)


def capture_trouble(reader: CaptureReader, records: int, again: str) -> InconclusiveCapture | None:
    """Say why a capture that was read to its end cannot be relied on, where it cannot.

    Args:
        reader: that read it.
        records: how many it gave.
        again: the command that takes it as it is.
    """
    if reader.torn is not None:
        return InconclusiveCapture(
            "capture-torn",
            f"{reader.torn.name} stops in the middle of line {reader.torn.line}",
            why=f"the run was killed while writing; the {plural(records, 'record')}"
            " before it are sound",
            help=again,
        )
    if reader.lost:
        return InconclusiveCapture(
            "records-lost",
            f"{plural(reader.lost, 'record')} of {reader.name} are missing",
            why="rules may have missed what was in them",
            help=again,
        )
    return None


class Checking:
    """Judges captures, one after the other."""

    def __init__(
        self, policy: Policy, *, where: Filter | None, assertions: Sequence[Assertion]
    ) -> None:
        """Take what counts, what is looked at and what must hold.

        Args:
            policy: what counts.
            where: only calls and exchanges that pass it are looked at; None: all.
            assertions: what must hold of them.
        """
        self._policy = policy
        self._where = where
        self._assertions = assertions
        filters = [where] if where else []
        filters += [f for assertion in assertions for f in assertion.filters()]
        filters += [s.where for s in policy.suppressions if s.where]
        self._bodies = any(f.uses("text") for f in filters)
        self._subjects = bool(where or assertions or policy.needs_subject)

    def judge(self, reader: CaptureReader, index: int) -> Checked:
        """Judge a capture from its first record to its last.

        Raises:
            CaptureError: it cannot be read to its end.
        """
        made = Checked(reader, index)
        if self._subjects:
            _WithSubjects(made, self._policy, self._where, self._assertions).run(self._bodies)
        else:
            self._plainly(made)
        return made

    def _plainly(self, made: Checked) -> None:
        pipeline, reader = Pipeline(), made.reader
        feed, found = pipeline.feed, made.entries
        changes: Sequence[Change] = ()
        number, seen = 0, False
        for number, record in enumerate(reader, 1):  # noqa: B007 - the last one counts
            changes = feed(record)
            # Findings stand last: a record without any is told by one look.
            if changes:
                if type(changes[-1]) is Finding:
                    found += [self._entry(made, c) for c in changes if type(c) is Finding]
                    seen = seen or type(changes[0]) is not Finding
                else:
                    seen = True
        made.records, made.seen = number, seen
        found += [self._entry(made, c) for c in pipeline.finish() if type(c) is Finding]

    def _entry(self, made: Checked, finding: Finding) -> Entry:
        verdict = self._policy.judge(finding, started=made.reader.header.started)
        return entry_of(verdict, made, self._policy)


class _WithSubjects:
    """Judges a capture whose findings depend on the calls and exchanges that hold them."""

    def __init__(
        self,
        made: Checked,
        policy: Policy,
        where: Filter | None,
        assertions: Sequence[Assertion],
    ) -> None:
        self._made = made
        self._policy = policy
        self._where = where
        self._assertions = assertions
        self._pipeline = Pipeline(sift=self._note)
        self._entries: list[Entry | None] = []
        self._waiting: dict[int, list[tuple[int, Finding, Call | Exchange]]] = {}
        """Findings to be decided when what holds them no longer changes, by its identity."""
        self._scope = Scope()

    def run(self, bodies: bool) -> None:  # noqa: FBT001 - private
        made = self._made
        shelf = Shelf() if bodies else None
        start = local_start(made.reader.header.started)
        self._scope = Scope(start=start, bodies=shelf.texts if shelf else None)
        for subject in gather(made.reader, self._pipeline, shelf=shelf, see=self._see):
            self._settle(subject)
            if shelf is not None:
                shelf.release(subject)
        for waiting in list(self._waiting.values()):
            self._decide(waiting)
        made.entries = [entry for entry in self._entries if entry is not None]

    def _note(self, finding: Finding, subject: Call | Exchange | None) -> Finding:
        place = len(self._entries)
        self._entries.append(None)
        if subject is None:
            self._entries[place] = self._judged(finding, None)
        else:
            waiting = self._waiting.setdefault(id(subject), [])
            waiting.append((place, finding, subject))
        return finding

    def _see(self, _: AnyRecord) -> None:
        self._made.records += 1

    def _settle(self, subject: Call | Exchange) -> None:
        waiting = self._waiting.pop(id(subject), None)
        if waiting:
            self._decide(waiting)
        if self._where is not None and not self._where.matches(subject, self._scope):
            return
        self._made.seen = True
        for index, assertion in enumerate(self._assertions):
            finding = assertion.look(subject, self._scope)
            if finding is not None:
                verdict = Verdict(finding=finding, how="counts")
                entry = entry_of(verdict, self._made, self._policy, fails=True)
                self._made.failures.setdefault(index, []).append(entry)

    def _decide(self, waiting: list[tuple[int, Finding, Call | Exchange]]) -> None:
        for place, finding, subject in waiting:
            self._entries[place] = self._judged(finding, subject)

    def _judged(self, finding: Finding, subject: Call | Exchange | None) -> Entry | None:
        if self._where is not None and (
            subject is None or not self._where.matches(subject, self._scope)
        ):
            return None
        started = self._made.reader.header.started
        verdict = self._policy.judge(finding, subject, started=started, scope=self._scope)
        return entry_of(verdict, self._made, self._policy)


def entry_of(verdict: Verdict, made: Checked, policy: Policy, *, fails: bool = False) -> Entry:
    """Say where in which file a finding stands."""
    path, line = made.reader.where(verdict.finding.seq)
    finding = msgspec.structs.replace(verdict.finding, line=line, capture=display(path))
    return Entry(
        finding=finding,
        how=verdict.how,
        why=verdict.why,
        fails=fails or policy.fails(verdict),
        run=made.index,
    )


_shown: dict[Path, str] = {}


def display(path: Path | None) -> str | None:
    """Name a file as reports do: from the current folder on, where it is below that."""
    if path is None:
        return None
    shown = _shown.get(path)
    if shown is None:
        whole = os.path.abspath(path)  # noqa: PTH100 - as written: links are not followed
        here = os.path.relpath(whole)
        shown = printable(Path(whole if here.startswith(os.pardir) else here))
        _shown[path] = shown
    return shown


def unrepeated(readers: Sequence[CaptureReader]) -> Iterator[CaptureReader]:
    """Leave out captures that are parts of others, or named twice: `run.jsonl*` names all parts."""
    parts: set[Path] = set()
    wholes = sorted(readers, key=lambda reader: -len(reader.parts))
    kept = []
    for reader in wholes:
        own = {path.resolve() for path in reader.parts}
        if not own or not own <= parts:
            kept.append(reader)
        parts |= own
    return (reader for reader in readers if reader in kept)
