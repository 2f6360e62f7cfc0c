"""Tool definitions a client has been shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from msgspec import Struct

from mcp_tap.core.bounded import Bounded
from mcp_tap.core.facts.annotations import Mirrored, annotations_in
from mcp_tap.core.facts.message import is_masked
from mcp_tap.core.facts.topic import Topic
from mcp_tap.core.values import short
from mcp_tap.core.wire import dumps

if TYPE_CHECKING:
    from mcp_tap.core.facts.message import Message

MOST_TOOLS: Final = 2048
LONGEST: Final = 24 * 3600.0
MOST_SCHEMA: Final = 64 << 10
"""Bytes of an output schema that is kept; results of tools with a larger one are not judged."""

_NO_MIRRORED: Final[tuple[Mirrored, ...]] = ()


class Tool(Struct, eq=False, kw_only=True, weakref=True):
    """What a client knows of one tool, from the newest listing that had it."""

    mirrored: tuple[Mirrored, ...] | None
    """Arguments that travel in headers as well; None where that is not known."""
    spoilt: bool
    """An annotation in it is invalid, so that clients on HTTP have to drop it."""
    output: bytes | None
    """Its output schema, as JSON; None where it has none that can be judged by."""
    listing: int
    """How often the list was said to have changed when it was listed."""
    principal: str | None
    """Whom it was shown to, where the credential tells."""

    @property
    def weight(self) -> int:
        """Bytes it holds of its definition."""
        headers = sum(2 * len(m.name) + sum(map(len, m.path)) for m in self.mirrored or ())
        return len(self.output or b"") + headers

    def let_go(self) -> None:
        """Keep no more than that it is there."""
        self.mirrored = self.output = None


class Tools(Topic):
    """Tool definitions a client has been shown."""

    wants: ClassVar = ("result tools/list", "server_notification notifications/tools/list_changed")

    def __init__(self) -> None:
        """Begin with none."""
        self.changes = 0
        """How often the list was said to have changed."""
        self.annotated = False
        """A tool was listed that has annotations, or may have some."""
        self.any = False
        """A tool was listed."""
        self._known: Bounded[str | bytes, Tool] = Bounded(MOST_TOOLS, LONGEST)

    def of(self, request: Message) -> Tool | None:
        """Give the definition of the tool a call names; None where it was never shown."""
        name = request.params.get("name")
        if type(name) is not str:
            return None
        found = self._known.get(short(name))
        if found is None:
            return None
        principal = request.flow.principal
        if found.principal != principal and None not in (found.principal, principal):
            return None
        return found

    def is_fresh(self, tool: Tool) -> bool:
        """Tell whether nothing was said to have changed since it was listed."""
        return tool.listing == self.changes

    def watches(self, request: Message) -> bool:
        """Tell whether a call must be looked at for what is known of its tool."""
        if request.method != "tools/call":
            return False
        tool = self.of(request)
        return tool is not None and (tool.spoilt or bool(tool.mirrored))

    def note(self, message: Message) -> None:
        """Take note of a listing, or that it is out of date."""
        if message.event == "server_notification":
            self.changes += 1
            return
        result = message.result
        tools = result.get("tools") if result is not None else None
        if type(tools) is not list:
            return
        annotations = annotations_in(message) if message.flow.http else {}
        twice: set[str] = set()
        seen: set[str] = set()
        for index, tool in enumerate(tools[:MOST_TOOLS]):
            name = tool.get("name") if type(tool) is dict else None
            if type(name) is not str or is_masked(name):
                continue
            (twice if name in seen else seen).add(name)
            read = annotations.get(index, ...)
            if name in twice or read is None or not message.flow.modern:
                mirrored, spoilt = None, False
            elif read is ...:
                mirrored, spoilt = _NO_MIRRORED, False
            else:
                spoilt = bool(read.faults)
                mirrored = None if spoilt else read.mirrored
            self.any = True
            self.annotated = self.annotated or spoilt or mirrored is not _NO_MIRRORED
            known = Tool(
                mirrored=mirrored,
                spoilt=spoilt,
                output=None if name in twice else _output(tool.get("outputSchema")),
                listing=self.changes,
                principal=message.flow.principal,
            )
            self._known.put(short(name), known, message.t)
            if weight := known.weight:
                message.flow.seen.run.held.hold(known, weight)


def _output(schema: Any) -> bytes | None:
    if type(schema) is not dict:
        return None
    try:
        found = dumps(schema)
    except (ValueError, TypeError, RecursionError):
        return None
    return found if len(found) <= MOST_SCHEMA else None
