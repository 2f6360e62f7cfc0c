"""What becomes of the chunks of a run: records, the capture, findings, a view.

It is slow to load, so nothing the traffic needs is in here; it runs in a thread of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

from mcp_tap.capture.writer import CaptureWriter
from mcp_tap.core.records import AnyRecord, Footer
from mcp_tap.core.redact_command import shown_command
from mcp_tap.proxy.backlog import Backlog
from mcp_tap.proxy.beginning import Feed, header_of, redactor_of
from mcp_tap.proxy.stdio.intake import Chunk
from mcp_tap.proxy.stdio.recording import LineRecording
from mcp_tap.proxy.stdio.settings import StdioSettings

if TYPE_CHECKING:
    from mcp_tap.pipeline.judge import Sift
    from mcp_tap.pipeline.spine import Pipeline

HAND_ON = 0.005
"""Seconds of work after which the writer gets what there is."""
FINISH = 1.0
"""Seconds at the end for looking at what was not looked at yet, where nobody waits for it."""


class Scribe:
    """Records a run over stdio."""

    def __init__(
        self,
        settings: StdioSettings,
        *,
        capture: Path | None,
        view: Feed,
        judging: bool,
        sift: Sift | None,
        now: Callable[[], float],
    ) -> None:
        """Begin the capture.

        Args:
            settings: what to do.
            capture: where to record; None records nothing.
            view: who looks on.
            judging: run the rules; without, nobody looks on either.
            sift: decides which findings count, as they are found; None: all do.
            now: seconds since the run's start.

        Raises:
            UsageError: a redaction or its key cannot be used.
            CaptureError: the capture cannot be created.
        """
        redactor = redactor_of(settings)
        self._view = view
        self._now = now
        self.header = header_of(
            settings,
            redactor,
            transport="stdio",
            upstream=(
                shown_command(settings.command, redactor)
                if settings.shown is None
                else redactor.hidden(settings.shown)
            ),
            capture=capture,
            wall=datetime.now(UTC) - timedelta(seconds=now()),
        )
        self._missed = 0
        self._writer: CaptureWriter | None = None
        if capture is not None:
            self._writer = CaptureWriter(
                capture,
                self.header,
                rotate=settings.rotate,
                sync=settings.sync,
                on_trouble=view.notice,
            )
        self._pipeline = _pipeline(settings.label, sift) if judging else None
        self._view.start(self.header)
        if self._pipeline is not None:
            self._pipeline.feed(self.header)
        self.backlog = Backlog(
            write=self._writer.write_many if self._writer else _unwritten,
            feed=self._pipeline.feed if self._pipeline else _unread,
            show=view.update,
            notice=view.notice,
        )
        self.recording = LineRecording(self.backlog.accept, redactor, settings.max_body)

    @property
    def lost(self) -> int:
        """Records that could not be made or written."""
        return self._missed + (self._writer.lost if self._writer else 0)

    def record(self, chunks: Sequence[Chunk]) -> None:
        """Make records of these, and give them to the writer."""
        recording = self.recording
        until = perf_counter() + HAND_ON
        for way, t, data, step, lost in chunks:
            if step is not None:
                recording.step(step, t)
            elif data:
                recording.data(way, t, data)
            elif lost:
                recording.missing(way, t, lost)
                self._missed += lost
            else:
                recording.end(way, t)
            if perf_counter() > until:
                self.backlog.hand_on()
                until = perf_counter() + HAND_ON
        self.backlog.hand_on()

    def look(self, seconds: float) -> None:
        """Analyse what is recorded, for so long at most."""
        self.backlog.keep_up()
        self.backlog.analyse(until=perf_counter() + seconds)

    def tick(self) -> None:
        """Let time pass while nothing comes."""
        if self._writer is not None:
            self._writer.poke()
        if self._pipeline is not None:
            now = self._now()
            changes = self._pipeline.advance(now)
            if changes:
                self._view.update(changes, now)

    def finish(self, how: Literal["end", "signal", "child"], *, patient: bool) -> None:
        """End the capture; `patient`: look at everything first, however long that takes."""
        try:
            self.backlog.analyse(until=float("inf") if patient else perf_counter() + FINISH)
            self.backlog.skip()
            if self._pipeline is not None:
                self._view.update(self._pipeline.finish(), self._now())
        finally:  # whatever a view did, the capture ends as a capture ends
            if self._writer is not None:
                recording = self.recording
                self._writer.close(
                    Footer(
                        seq=recording.next_seq(),
                        t=self._now(),
                        exchanges=recording.exchanges,
                        lost=self.lost,
                        how=how,
                    )
                )
            self._view.close()


def _pipeline(label: str | None, sift: Sift | None) -> Pipeline:
    from mcp_tap.pipeline.spine import Pipeline  # noqa: PLC0415 (slow, and not always wanted)

    return Pipeline(label=label, sift=sift)


def _unwritten(_: list[tuple[AnyRecord, Any]]) -> None:
    """Record it nowhere."""


def _unread(*_: Any) -> Sequence[Any]:
    """Make nothing of it."""
    return ()
