"""What the answerer adds to a capture: what went upstream instead, what the client did not get.

As in `proxy.recording`, each method is a report: it is called later, in order, with its time.
"""

from __future__ import annotations

from msgspec import Struct

from mcp_tap.core.records import Sender, Sse
from mcp_tap.core.wire import spliced_line
from mcp_tap.net.heads import Head, StatusLine
from mcp_tap.proxy.recording import Recording
from mcp_tap.proxy.tape import Tape, Way

_EVENT = Sse(event="message")


class Withheld(Struct, eq=False, kw_only=True):
    """An event that the client did not get, or not yet."""

    block: bytes
    """As it came."""
    seq: int = 0
    """Number of the record of it, once that is made."""


class Records:
    """Makes records where the two legs of an exchange differ."""

    def __init__(self, recording: Recording) -> None:
        """Count on with the records of a run."""
        self._recording = recording
        self._payloads = recording.payloads
        self.begin = recording.payloads.begin
        """Begins a payload that will be recorded with this head."""
        self.edited = recording.edited
        """Records a request as it went upstream."""

    def withheld(self, tape: Tape, t: float, head: Head[StatusLine], body: bytes) -> None:
        """Record a response that the client does not get."""
        tape.leg = "upstream"
        self._recording.status_line(tape, t, head, "server")
        tape.received = self._payloads.whole(tape, t, "server", head, body)
        tape.leg = None

    def withheld_event(
        self, tape: Tape, t: float, block: bytes, withheld: Withheld | None = None
    ) -> None:
        """Record an event of its stream that the client does not get."""
        if tape.response is not None:
            tape.leg = "upstream"
            self._payloads.read(tape, tape.response, t, (block,))
            tape.leg = None
            if withheld is not None:
                withheld.seq = tape.heard

    def left_event(self, tape: Tape, t: float, rest: bytes) -> None:
        """Record what its stream ended in the middle of, where the client does not get it."""
        if tape.response is not None:
            tape.leg = "upstream"
            self._payloads.read(tape, tape.response, t, (rest,))
            self._payloads.end(tape, tape.response, t, "server", whole=False)
            tape.leg = None

    def reframed(
        self, tape: Tape, t: float, head: Head[StatusLine], shown: Head[StatusLine]
    ) -> None:
        """Record the head of a stream that is passed on with another head."""
        tape.leg = "upstream"
        self._recording.status_line(tape, t, head, "server")
        tape.leg, tape.replaces = "client", tape.reply_seq
        self._recording.status_line(tape, t, shown, "server")
        tape.leg = tape.replaces = None
        tape.response = self.begin(shown, stream=True)

    def repeat(
        self, tape: Tape, t: float, body: bytes, secrets: tuple[tuple[str, ...], ...]
    ) -> None:
        """Record a request of the tap's own, which the client knows nothing of."""
        self._recording.exchanges += 1
        tape.leg = "upstream"
        tape.seq = self._recording.request_line(tape, t, tape.head, "upstream", None)
        tape.secrets = secrets
        tape.sent = self._payloads.whole(tape, t, "tap", tape.head, body)
        tape.secrets = ()

    def relayed(
        self, tape: Tape, t: float, source: Tape, head: Head[StatusLine], body: bytes
    ) -> None:
        """Record the response to a repeat as the client gets it."""
        self.relayed_head(tape, t, source, head)
        tape.leg, tape.replaces = "client", source.heard
        self._payloads.whole(tape, t, "server", head, body)
        tape.leg = tape.replaces = None

    def relayed_head(self, tape: Tape, t: float, source: Tape, head: Head[StatusLine]) -> None:
        """Record its head alone."""
        tape.leg, tape.replaces = "client", source.reply_seq
        self._recording.status_line(tape, t, head, "server")
        tape.leg = tape.replaces = None

    def relayed_event(self, tape: Tape, t: float, source: Tape, way: Way, block: bytes) -> None:
        """Record an event of it as the client gets it."""
        tape.leg, tape.replaces = "client", source.heard
        self._payloads.read(tape, way, t, (block,))
        tape.leg = tape.replaces = None

    def late_event(self, tape: Tape, t: float, withheld: Withheld, way: Way) -> None:
        """Record an event as the client gets it, after it was kept from it for a while."""
        tape.leg, tape.replaces = "client", withheld.seq
        self._payloads.read(tape, way, t, (withheld.block,))
        tape.leg = tape.replaces = None

    def own(self, tape: Tape, t: float, head: Head[StatusLine], body: bytes) -> None:
        """Record what the tap itself tells the client, in a response of its own."""
        tape.leg = "client"
        self._recording.status_line(tape, t, head, "tap")
        self._payloads.whole(tape, t, "tap", head, body)
        tape.leg = None

    def own_event(self, tape: Tape, t: float, data: bytes) -> None:
        """Record what the tap itself tells the client, in a stream that is open."""
        sender: Sender = "tap"
        tape.leg = "client"
        self._payloads.message(tape, t, sender, data, spliced_line(data), sse=_EVENT)
        tape.leg = None
