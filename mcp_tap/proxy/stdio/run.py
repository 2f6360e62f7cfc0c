"""One lifetime of the tap around a server process: one run, one capture.

Rules of this file:

- The server is started first; what is slow to import comes after, in the thread that needs it.
- Whatever happens to the recording, the traffic goes on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tap.proxy.stdio.child import Child
from mcp_tap.proxy.stdio.ending import Carrier, Ending, Input
from mcp_tap.proxy.stdio.intake import Chunk, Intake
from mcp_tap.proxy.stdio.pump import Pump
from mcp_tap.proxy.stdio.settings import StdioSettings

if TYPE_CHECKING:
    from mcp_tap.core.records import Header
    from mcp_tap.pipeline.judge import Sift
    from mcp_tap.proxy.beginning import Feed
    from mcp_tap.proxy.stdio.scribe import Scribe
    from mcp_tap.proxy.stdio.steps import LineAnswerer

SLICE = 0.01
"""Seconds of analysis between two looks at what came."""
TICK = 1.0
"""Seconds without anything to record after which time is let pass."""


@dataclass
class Carriers:
    """What carries the streams of a run."""

    stdin: Input
    outward: Sequence[Carrier]
    """Those that are waited for when the server has ended."""
    others: Sequence[Carrier] = ()
    tick: Callable[[], None] | None = None
    """Lets time pass for them."""

    @property
    def all(self) -> list[Carrier]:
        """All of them."""
        return [self.stdin, *self.outward, *self.others]


class StdioRun:
    """Starts a server, carries its streams, records, until it has ended."""

    def __init__(
        self,
        settings: StdioSettings,
        *,
        capture: Path | Callable[[], Path] | None,
        view: Feed,
        judging: bool = True,
        sift: Sift | None = None,
        answering: LineAnswerer | None = None,
        patient: bool = False,
        stdin_fd: int = 0,
        stdout_fd: int = 1,
        stderr_fd: int = 2,
    ) -> None:
        """Prepare a run; nothing is started before `run()`.

        Args:
            settings: what to do.
            capture: where to record, or what gives it once that is needed; None records nothing.
            view: who looks on; called from another thread.
            judging: run the rules; without, the view is told of nothing but trouble.
            sift: decides which findings count, as they are found; None: all do.
            answering: decides about each line; None: all passes as it is.
            patient: at the end, judge everything, however long that takes.
            stdin_fd: where the client's lines come from.
            stdout_fd: where the server's go.
            stderr_fd: where the server's words go.
        """
        self._settings = settings
        self._view = view
        self._judging = judging
        self._sift = sift
        self._answering = answering
        self._patient = patient
        self._fds = stdin_fd, stdout_fd, stderr_fd
        self._intake = Intake(sync=settings.sync)
        self._scribe: Scribe | None = None
        self._ending: Ending | None = None
        self._recorded = False
        self._place = capture
        self.capture: Path | None = None
        """Where it records, once it does."""
        self.trouble: Exception | None = None
        """What kept it from recording."""

    @property
    def header(self) -> Header | None:
        """The capture's header, once the recording has begun."""
        return self._scribe.header if self._scribe else None

    @property
    def lost(self) -> int:
        """Records that could not be made or written."""
        return self._scribe.lost if self._scribe else 0

    @property
    def unjudged(self) -> int:
        """Records that were not analysed, since more came than could be."""
        return self._scribe.backlog.skipped if self._scribe else 0

    @property
    def exchanges(self) -> int:
        """Messages of the client recorded so far."""
        return self._scribe.recording.exchanges if self._scribe else 0

    @property
    def records(self) -> int:
        """Records made so far."""
        return self._scribe.recording.seq if self._scribe else 0

    def run(self) -> int:
        """Carry until the server has ended.

        Returns:
            Its exit code, or the number of the signal that ended it, negated.

        Raises:
            UsageError: there is no such command.
        """
        self._ending = ending = Ending()
        try:
            child = Child(self._settings.command)
            recorder = threading.Thread(target=self._record, name="recorder", daemon=True)
            carriers = self._carriers(child, ending)
            for carrier in carriers.all:
                carrier.start()
            child.wait(ending.poke)
            recorder.start()
            ending.wait(child, carriers.stdin, waits=self._waits, tick=carriers.tick)
            ending.drain(child, carriers.outward)
            self._intake.close()
            ending.settle(lambda: self._recorded, self._intake.cut)
            if all(carrier.over for carrier in carriers.all):
                child.close()
            assert child.status is not None
            return child.status
        finally:
            ending.restore()

    def _carriers(self, child: Child, ending: Ending) -> Carriers:
        """Make what carries the streams."""
        stdin_fd, stdout_fd, stderr_fd = self._fds
        report, done = self._intake.put, ending.poke
        stderr = Pump("stderr", child.stderr, stderr_fd, report=report, done=done, closes=False)
        if self._answering is None:
            stdin = Pump("client", stdin_fd, child.stdin, report=report, done=done)
            stdout = Pump("server", child.stdout, stdout_fd, report=report, done=done)
            return Carriers(stdin, [stdout, stderr])
        from mcp_tap.proxy.stdio.sluice import Decisions, Outbox, Sluice  # noqa: PLC0415 (seldom)

        to_server = Outbox(child.stdin, source=stdin_fd, done=done)
        to_client = Outbox(stdout_fd, source=child.stdout, done=done)
        decisions = Decisions(self._answering, self._intake, to_server, to_client)
        return Carriers(
            Sluice("client", stdin_fd, decisions, done=done),
            [Sluice("server", child.stdout, decisions, done=done), to_client, stderr],
            [to_server],
            decisions.tick,
        )

    def _waits(self) -> bool:
        """Tell whether the client waits for something, or may, as far as is known yet."""
        if not self._intake.idle or (self._scribe is None and self.trouble is None):
            return True
        return self._scribe is not None and bool(self._scribe.recording.unanswered)

    def _record(self) -> None:
        """Record until nothing more comes; the recorder's thread."""
        try:
            self._work()
        except Exception as error:  # noqa: BLE001 (a top door: the traffic goes on)
            self.trouble = error
        finally:
            self._intake.forget()
            self._recorded = True
            assert self._ending is not None
            self._ending.poke()

    def _work(self) -> None:
        from mcp_tap.proxy.stdio.scribe import Scribe  # noqa: PLC0415 (slow)

        intake, place = self._intake, self._place
        self.capture = place() if callable(place) else place
        self._scribe = scribe = Scribe(
            self._settings,
            capture=self.capture,
            view=self._view,
            judging=self._judging,
            sift=self._sift,
            now=intake.now,
        )
        last = False
        chunks: list[Chunk] = []
        while chunks or not last:
            last = intake.closed
            chunks = intake.take(0.0 if last or scribe.backlog.behind else TICK)
            try:
                scribe.record(chunks)
            finally:
                intake.done(chunks)
            self._look(scribe)
            if not chunks:
                scribe.tick()
        assert self._ending is not None
        scribe.finish(self._ending.how, patient=self._patient)

    def _look(self, scribe: Scribe) -> None:
        """Analyse for a while; what goes wrong there is no reason to record no more."""
        try:
            scribe.look(SLICE)
        except Exception as error:  # noqa: BLE001 (a top door: it is told at the end)
            self.trouble = error
