"""Lines of the standard streams: one message each, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_tap.core.facts.seen import Seen
from mcp_tap.rules.base import ALL, Hit, Hits, rule
from mcp_tap.rules.rpc_envelope import json_fault

if TYPE_CHECKING:
    from mcp_tap.core.facts.message import Message

_STREAM = {"client": "stdin", "server": "stdout"}


@rule(
    "STDIO-001",
    severity="error",
    level="must",
    blames="sender",
    spec="specification/2026-07-28/basic/transports/stdio",
    on=("line", "message", "end"),
    versions=(*ALL, "ambiguous"),
    transports=("stdio",),
)
def non_mcp_line(m: Message | Seen) -> Hits:
    """A line on standard input or output is not a single message.

    Both streams carry the protocol and nothing beside it.  A banner, a stray print or a stack trace
    there reaches the peer's parser; some peers skip such lines, others end the connection.

    Standard error is free, and so are blank lines.  What begins like a message and stops in its
    middle is waited for: it may go on in the next line, which another rule is about.  Where it
    never does since the stream ends, that is only a note.
    """
    if isinstance(m, Seen):
        return [_cut(line) for line in m.lines.open()]
    lines = m.flow.seen.lines
    if type(m.value) is dict and not lines.joins_or_ends(m):
        return None
    bad = lines.verdict(m).bad
    if not bad or (type(m.value) is list and m.flow.seen.pending.batches and bad == [m]):
        return None
    return [hit for line in bad if (hit := _bad(line)) is not None]


def _bad(line: Message) -> Hit | None:
    where = f"{line.sender} wrote a line to {_STREAM.get(line.sender, 'the stream')} that is"
    if type(line.value) is list:
        return Hit(f"{where} an array, not one message", about=line, spot="line")
    if type(line.value) is dict:
        return None
    if line.record.truncated:
        return None
    fault = json_fault(line.record)
    if fault is None:
        payload = line.record.payload().lstrip()
        if payload.startswith(b"{"):
            return None  # JSON after all, which only the fast parser refuses
        return Hit(f"{where} JSON, but no object", about=line, spot="line")
    return Hit(f"{where} no JSON: {fault}", about=line, spot="line")


def _cut(line: Message) -> Hit:
    words = f"{line.sender}'s last line is the beginning of a message whose rest never came"
    return Hit(words, about=line, spot="line", severity="note")


@rule(
    "STDIO-002",
    severity="error",
    level="must",
    blames="sender",
    spec="specification/2026-07-28/basic/transports/stdio",
    on=("line", "message"),
    versions=(*ALL, "ambiguous"),
    transports=("stdio",),
)
def embedded_newline(m: Message) -> Hits:
    r"""A message is spread over several lines.

    A line is a message: a peer reads the first piece, finds no JSON in it, and so on with each of
    the others.  The usual cause is a printer of indented JSON, or a line break that stands
    unescaped in a string.  An escaped one, `\n`, is as it must be.

    Lines are put together as long as a value that begins with a brace is open, up to 1,000 of them
    or 1 MiB, and found once, at the first one, when they make a message.
    """
    lines = m.flow.seen.lines
    if type(m.value) is dict and not lines.joins_or_ends(m):
        return None
    first = lines.verdict(m).joined
    if first is None:
        return None
    words = f"{first.sender} spread one message over several lines"
    return Hit(words, about=first, spot="line")
