"""Lines of the standard streams to records, masked and in order.

No clock, no file: every call carries its time, and every record goes to `emit` with the parsed
value of its payload.
"""

from __future__ import annotations

from operator import length_hint
from typing import TYPE_CHECKING, Any, Final

from msgspec import Raw

from mcp_tap.core.lines import Line, LineSplitter
from mcp_tap.core.records import Decision, Gap, Leg, Message, Noise, Sender, Stderr
from mcp_tap.core.redact import Redactor
from mcp_tap.core.wire import LARGE, UNPARSED, carrier, dumps, spliced_line, whole_value
from mcp_tap.proxy.stdio.intake import WAYS, Way
from mcp_tap.proxy.stdio.steps import Decided, Secrets, Seen, Step, ToClient
from mcp_tap.proxy.stdio.unanswered import Unanswered

if TYPE_CHECKING:
    from mcp_tap.proxy.payloads import Emit

_MOST: Final = 1 << 62
"""Records of a run: more than can be."""


class LineRecording:
    """Makes the records of a run over stdio."""

    def __init__(self, emit: Emit, redactor: Redactor, max_body: int) -> None:
        """Give records to `emit`; keep lines whole up to `max_body` bytes."""
        self._emit = emit
        self._redactor = redactor
        self._limit = max_body
        self._splitters = {way: LineSplitter(max_body) for way in WAYS}
        self._seqs = iter(range(1, _MOST))
        self.next_seq = self._seqs.__next__
        """Counts one record on."""
        self.exchanges = 0
        """Messages the client sent."""
        self.unanswered = Unanswered()

    @property
    def seq(self) -> int:
        """Number of the newest record."""
        return _MOST - 1 - length_hint(self._seqs)

    def data(self, way: Way, t: float, data: bytes) -> None:
        """Take what was read from a stream."""
        for line in self._splitters[way].feed(data):
            self.line(way, t, line)

    def end(self, way: Way, t: float) -> None:
        """Take note that a stream has ended."""
        line = self._splitters[way].finish()
        if line is not None:
            self.line(way, t, line)

    def missing(self, way: Way, t: float, lines: int) -> None:
        """Take note that so many lines' bytes are not known here."""
        self._splitters[way].skip()
        seq = 0
        for _ in range(lines):
            seq = self.next_seq()
        self._emit((Gap(seq=seq, t=t, lost=lines, why="recording fell behind"), UNPARSED))

    def step(self, step: Step, t: float) -> None:
        """Record what became of a line that waited for a decision."""
        if isinstance(step, Decided):
            from mcp_tap.proxy.answering.verdicts import HOOK  # noqa: PLC0415 (loaded, if any is)

            verdict, why, entry, key = step.told
            seq = self.next_seq()
            decision = Decision(
                seq=seq, t=t, hook=HOOK, verdict=verdict, why=why, entry=entry, key=key
            )
            self._emit((decision, UNPARSED))
            return
        leg: Leg | None = None
        replaces = None
        if isinstance(step, Seen):
            leg = "upstream" if step.sender == "server" else None
        else:
            if step.sender == "tap" or step.replaces is not None:
                leg = "client" if isinstance(step, ToClient) else "upstream"
            replaces = None if step.replaces is None else step.replaces.seq or None
        secrets = () if isinstance(step, Seen) else step.secrets
        for line in _lines(step.line, self._limit):
            seq = self._line(step.sender, t, line, leg, replaces, secrets)
            if isinstance(step, Seen):
                step.seq = seq

    def line(self, way: Way, t: float, line: Line) -> None:
        """Record a line; one of blanks only is nothing to be recorded."""
        if way == "stderr":
            self._stderr(t, line)
        else:
            self._line(way, t, line, None, None, ())

    def _line(  # noqa: PLR0917 (one place, called twice)
        self,
        sender: Sender,
        t: float,
        line: Line,
        leg: Leg | None,
        replaces: int | None,
        secrets: Secrets,
    ) -> int:
        """Record a line of the protocol's streams; give the record's number, 0 without one."""
        payload = line.payload.removesuffix(b"\r")
        plain = line.size is None and not (secrets or self._redactor.touches_bodies)
        value = spliced_line(payload) if plain and b"\r" not in payload else UNPARSED
        if value:
            record = Message(
                seq=self.next_seq(),
                t=t,
                sender=sender,
                body=Raw(payload),
                leg=leg,
                replaces=replaces,
            )
            self._took(record, value)
            return record.seq
        if not payload.strip():
            return 0
        return self._closely(sender, t, line, payload, leg, replaces, secrets)

    def _closely(  # noqa: PLR0917 (the rest of the above)
        self,
        sender: Sender,
        t: float,
        line: Line,
        payload: bytes,
        leg: Leg | None,
        replaces: int | None,
        secrets: Secrets,
    ) -> int:
        """Record a line with something special about it."""
        redactor = self._redactor
        facts: dict[str, Any] = {"sender": sender, "leg": leg, "replaces": replaces}
        fields, value = carrier(payload)
        if line.size is not None:
            facts |= {"truncated": True, "size": line.size, "sha256": line.sha256}
            value = UNPARSED
        elif len(payload) > LARGE and (secrets or redactor.touches_bodies):
            value = whole_value(payload)  # masking looks everywhere
        is_message = isinstance(value, dict | list)
        if line.size is not None and payload.lstrip()[:1] in (b"{", b"["):
            is_message = True  # as far as it is known
        if is_message:
            masked, masked_value, masks = redactor.message(payload, value)
            if secrets and masked_value is not UNPARSED:
                masked_value, more = redactor.pointed(masked_value, secrets)
                masked, masks = dumps(masked_value), [*masks, *more]
        else:
            masked, masked_value, masks = redactor.other(payload, UNPARSED, "text/plain")
        if masks:
            (fields, _), value = carrier(masked), masked_value
        if not is_message and "body" in fields:  # noise is never JSON, whatever it looks like
            fields = {"text": masked.decode()}
        kind = Message if is_message else Noise
        record = kind(seq=self.next_seq(), t=t, masked=masks, **facts, **fields)
        if isinstance(record, Message):
            self._took(record, value)
        else:
            self._emit((record, UNPARSED))
        return record.seq

    def _took(self, record: Message, value: Any) -> None:
        """Hand a message on, and keep account of who waits for what."""
        if record.leg != "upstream":
            if record.sender == "client":
                self.exchanges += 1
                self.unanswered.sent(value)
            else:
                self.unanswered.came(value)
        self._emit((record, value))

    def _stderr(self, t: float, line: Line) -> None:
        self._emit((stderr_record(self._redactor, self.next_seq(), t, line), UNPARSED))


def stderr_record(redactor: Redactor, seq: int, t: float, line: Line) -> Stderr:
    """Make the record of a line of the server's stderr."""
    payload, _, masks = redactor.other(line.payload, UNPARSED, "text/plain")
    fields, _ = carrier(payload)
    if "body" in fields:
        fields = {"text": payload.decode()}
    facts: dict[str, Any] = {}
    if line.size is not None:
        facts = {"truncated": True, "size": line.size, "sha256": line.sha256}
    return Stderr(seq=seq, t=t, sender="server", masked=masks, **facts, **fields)


def _lines(data: bytes, limit: int) -> list[Line]:
    """Give the line these bytes are, or lines."""
    splitter = LineSplitter(limit)
    lines, last = splitter.feed(data), splitter.finish()
    return lines if last is None else [*lines, last]
