"""Lines of a stdio run that are no messages, and whether several of them make one."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, ClassVar, Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from mcp_tap.core.facts.message import speaks
from mcp_tap.core.facts.topic import Topic

if TYPE_CHECKING:
    from mcp_tap.core.facts.message import Message

MOST_LINES: Final = 1000
MOST_BYTES: Final = 1 << 20

_STRINGS: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_LARGE: Final = 128 << 10
"""Characters from which a value is only skipped through: reading a dense one takes long."""


class _Envelope(Struct):
    jsonrpc: Raw | UnsetType = UNSET


_skipper: Final = msgspec.json.Decoder(_Envelope)
_loose: Final = json.JSONDecoder(strict=False, parse_int=str, parse_float=str)
"""Lets line breaks stand inside strings: those are what tore the message apart."""


class Seam:
    """Lines of one sender that may turn out to be one message."""

    __slots__ = ("depth", "in_string", "lines", "parts", "size")

    def __init__(self) -> None:
        """Begin with none."""
        self.lines: list[Message] = []
        self.parts: list[str] = []
        self.depth = 0
        self.in_string = False
        self.size = 0

    def add(self, line: Message, text: str) -> None:
        """Take one more line; its brackets and quotes say whether the value goes on."""
        self.lines.append(line)
        self.parts.append(text)
        self.size += len(text)
        rest = f'"{text}' if self.in_string else text
        # One more quote ends a string that goes on, or stands alone: without it each quote of an
        # endless string would be taken for the beginning of one.
        escape = "x" if (len(rest) - len(rest.rstrip("\\"))) % 2 else ""
        bare = _STRINGS.sub("", f'{rest}{escape}"')
        self.in_string = not bare.endswith('"')
        self.depth += bare.count("{") + bare.count("[") - bare.count("}") - bare.count("]")

    @property
    def goes_on(self) -> bool:
        """The value is not at its end."""
        return self.in_string or self.depth > 0

    @property
    def full(self) -> bool:
        """It is too much to be looked at further."""
        return len(self.lines) > MOST_LINES or self.size > MOST_BYTES

    def is_message(self) -> bool:
        """Tell whether the lines together are a JSON-RPC message."""
        if self.size > _LARGE:
            try:
                return _skipper.decode(" ".join(self.parts)).jsonrpc is not UNSET
            except (ValueError, RecursionError):
                return False
        try:
            value = _loose.decode("\n".join(self.parts))
        except (ValueError, RecursionError):
            return False
        return speaks(value)


class Verdict:
    """What a line decides: about itself, or about those before it."""

    __slots__ = ("bad", "joined", "next", "seq")

    def __init__(self, seq: int) -> None:
        """Decide nothing."""
        self.seq = seq
        self.joined: Message | None = None
        """First line of a message that is complete with this line."""
        self.bad: list[Message] = []
        """Lines of which it is now certain that they are part of no message."""
        self.next: Seam | None = None
        """What is open after it."""


class Lines(Topic):
    """What is open, by sender."""

    wants: ClassVar = ("line", "message")
    over: ClassVar = ("stdio",)

    def __init__(self) -> None:
        """Begin with nothing open."""
        self.unread = False
        """The client sent something that could not be read, so not all its ids are known."""
        self._seams: dict[str, Seam] = {}
        self._verdict = Verdict(-1)

    def joins(self, message: Message) -> bool:
        """Tell whether a message is rather a piece of one that spreads over several lines."""
        return message.sender in self._seams and not speaks(message.value)

    def joins_or_ends(self, message: Message) -> bool:
        """Tell whether anything of its sender is open before a message."""
        return message.sender in self._seams

    def open(self) -> list[Message]:
        """Give the lines nothing was decided about, the first of each sender."""
        return [seam.lines[0] for seam in self._seams.values()]

    def verdict(self, line: Message) -> Verdict:
        """Say what a line decides; asked before it is noted, as often as one likes."""
        if self._verdict.seq != line.seq:
            self._verdict = self._judge(line)
        return self._verdict

    def note(self, message: Message) -> None:
        """Take a line, or a message, which ends what was open."""
        if message.event == "malformed" and message.sender == "client":
            self.unread = True
        if message.sender not in self._seams and type(message.value) is dict:
            return
        verdict = self.verdict(message)
        if verdict.next is None:
            self._seams.pop(message.sender, None)
        else:
            self._seams[message.sender] = verdict.next

    def _judge(self, line: Message) -> Verdict:
        verdict = Verdict(line.seq)
        seam = self._seams.get(line.sender)
        if seam is None:
            self._alone(line, verdict)
            return verdict
        if speaks(line.value):
            verdict.bad = list(seam.lines)
            return verdict
        text = _text(line)
        if text is None:
            verdict.bad = [*seam.lines, line]
            return verdict
        seam.add(line, text)
        if seam.full:
            verdict.bad = list(seam.lines)
        elif seam.goes_on:
            verdict.next = seam
        elif seam.is_message():
            verdict.joined = seam.lines[0]
        else:
            verdict.bad = list(seam.lines)
        return verdict

    def _alone(self, line: Message, verdict: Verdict) -> None:
        """Decide about a line nothing is open before."""
        if type(line.value) is dict:
            return
        text = _text(line) if type(line.value) is not list else None
        if text is not None and text.lstrip().startswith("{"):
            seam = Seam()
            seam.add(line, text)
            if seam.goes_on and not seam.full:
                verdict.next = seam
                return
        verdict.bad = [line]


def _text(line: Message) -> str | None:
    record: Any = line.record
    try:
        text: str = record.payload().decode()
    except UnicodeDecodeError:
        return None
    return text
