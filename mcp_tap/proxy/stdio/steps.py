"""What becomes of a line that waits for a decision, and who decides.

Without an answerer no line ever waits.  With one, each line is handed to it whole and passes only
as the steps say, in their order; what they hold is recorded and, but for `Seen`, sent at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from mcp_tap.proxy.answering.verdicts import Told
    from mcp_tap.proxy.stdio.intake import Way

Writer: TypeAlias = Literal["client", "server", "tap"]
"""Who wrote a line."""
Secrets: TypeAlias = tuple[tuple[str, ...], ...]
"""Where in a message values stand that must not be recorded, each by its path."""


@dataclass(eq=False, slots=True)
class Seen:
    """A line that came and is not passed on, or not yet: the other side does not know it."""

    line: bytes
    """As it came, with its line break."""
    sender: Writer
    """`client` or `server`: whose it is."""
    seq: int = 0
    """Number of the record of it, once that is made."""


@dataclass(eq=False, slots=True)
class ToServer:
    """A line the server gets."""

    line: bytes
    """As it is sent, with its line break."""
    sender: Writer = "client"
    """`client`: as the client wrote it; `tap`: the tap changed it, or made it up."""
    replaces: Seen | None = None
    """In whose place it goes; None: in nobody's."""
    secrets: Secrets = ()


@dataclass(eq=False, slots=True)
class ToClient:
    """A line the client gets."""

    line: bytes
    """As it is sent, with its line break."""
    sender: Writer = "server"
    """`server`: as the server wrote it; `tap`: the tap changed it, or made it up."""
    replaces: Seen | None = None
    """In whose place it goes, where it differs or is late; None: in nobody's."""
    secrets: Secrets = ()


@dataclass(eq=False, slots=True)
class Decided:
    """What was decided, for the capture."""

    told: Told


Step: TypeAlias = Seen | ToServer | ToClient | Decided


class LineAnswerer(Protocol):
    """Decides what becomes of lines.

    Its methods are called one at a time, from any thread, and must not wait.  `t` is in seconds
    since the run's start.  A line comes whole, with its line break (the last one of a stream may
    have none); one of more bytes than `most()` says passes without being shown here.
    """

    @property
    def busy(self) -> bool:
        """Something may still have to be sent to the server, whatever the client does."""

    def most(self, way: Way) -> int:
        """Say how many bytes of a line are waited for; asked while one comes."""

    def passed(self, way: Way, head: bytes, tail: bytes, t: float) -> Sequence[Step]:
        """Take note of a line that had more, by its first and its last bytes."""

    def from_client(self, line: bytes, t: float) -> Sequence[Step]:
        """Take a line the client wrote."""

    def from_server(self, line: bytes, t: float) -> Sequence[Step]:
        """Take a line the server wrote to its stdout."""

    def client_eof(self, t: float) -> Sequence[Step]:
        """Take note that the client closed its end; the server's is closed after these steps."""

    def server_eof(self, t: float) -> Sequence[Step]:
        """Take note that the server closed its stdout; the client's is closed after these steps."""

    def tick(self, t: float) -> Sequence[Step]:
        """Let time pass; called about four times a second."""
