"""What requests declared, and a session of the session era: what it settled and what it pushed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from msgspec import Struct

from mcp_tap.core import spec
from mcp_tap.core.bounded import Bounded
from mcp_tap.core.facts.held import size_of
from mcp_tap.core.facts.topic import Topic
from mcp_tap.core.values import id_key, short

if TYPE_CHECKING:
    from mcp_tap.core.facts.ask import Ask
    from mcp_tap.core.facts.message import Message

MOST_PUSHED: Final = 1024
LONGEST_PUSHED: Final = 12 * 3600.0
MOST_NAMED: Final = 100
"""Elicitations read of one error."""
DEPRECATED: Final = ("roots", "sampling")
"""Capabilities of a client that may be gone in a later revision."""


class Pushed(Struct, eq=False, weakref=True):
    """An ask a server pushed, until it is answered."""

    ask: Ask | None
    """None where that was too much to be kept."""

    def let_go(self) -> None:
        """Forget it."""
        self.ask = None


class Session(Topic):
    """One session; of a client of the stateless era, what its requests have declared."""

    wants: ClassVar = (
        "request",
        f"result {spec.INITIALIZE}",
        "notification notifications/initialized",
        "server_request elicitation/create",
        f"server_notification {spec.NOTE_ELICITED}",
        "error",
    )
    steady: ClassVar = ("request",)

    def __init__(self) -> None:
        """Begin one of which nothing is known."""
        self.capabilities: dict[str, Any] | None = None
        """The client's capabilities; None until `initialize` was seen."""
        self.declared: set[str] = set()
        """The deprecated features that requests of the stateless era have declared."""
        self.begun = False
        """An `initialize` was seen, and not refused."""
        self.version: str | None = None
        """The revision both settled on; None until `initialize` was answered."""
        self.initialized = False
        """The client said that it is ready."""
        self._pushed: Bounded[tuple[bool, str], Pushed] = Bounded(MOST_PUSHED, LONGEST_PUSHED)
        self._elicitations: Bounded[str | bytes, bool] = Bounded(MOST_PUSHED, LONGEST_PUSHED)

    def note(self, message: Message) -> None:
        """Take note of the handshake, and of elicitations that have an id."""
        event, method = message.event, message.method
        if event == "request":
            if method == spec.INITIALIZE:
                self._begin(message)
            self._declare(message.meta)
        elif event == "server_request":
            self._name(message.params, message.t)
        elif event == "server_notification":
            self._elicited(message.params.get("elicitationId"), message.t)
        elif event == "notification":
            self.initialized = True
        elif method == spec.INITIALIZE:
            self._settle(message)
        elif event == "error":
            for entry in elicitations_in(message.error)[:MOST_NAMED]:
                self._name(entry, message.t)

    def push(self, ask: Ask) -> None:
        """Keep an ask a server pushed until it is answered."""
        message = ask.message
        pushed = Pushed(ask)
        self._pushed.put(id_key(message.id), pushed, message.t)
        message.flow.seen.run.held.hold(pushed, size_of(message))

    def pushed(self, request_id: Any) -> Ask | None:
        """Take out the pushed ask a client's response answers; None where there is none."""
        found = self._pushed.pop(id_key(request_id))
        return None if found is None else found.ask

    def completed(self, elicitation: str) -> bool | None:
        """Tell whether an elicitation was said to be complete; None for one nobody asked for."""
        return self._elicitations.get(short(elicitation))

    @property
    def whole(self) -> bool:
        """The session was seen from its beginning, and no elicitation of it was forgotten."""
        return self.version is not None and not self._elicitations.retired

    def instead(self, capabilities: Any) -> None:
        """Take note of the capabilities that went upstream in the place of the client's own."""
        if self.begun and type(capabilities) is dict:
            self.capabilities = capabilities

    def let_go(self) -> None:
        """Forget what the client can do: what it cannot is then not known either."""
        self.capabilities = None

    def _begin(self, message: Message) -> None:
        found = message.params.get("capabilities")
        self.capabilities = found if type(found) is dict else {}
        message.flow.seen.run.held.hold(self, size_of(message))
        self.begun, self.version, self.initialized = True, None, False

    def _declare(self, meta: dict[str, Any]) -> None:
        if spec.META_LOG_LEVEL in meta:
            self.declared.add("logging")
        capabilities = meta.get(spec.CLIENT_CAPABILITIES)
        if type(capabilities) is dict:
            for name in DEPRECATED:
                if name in capabilities:
                    self.declared.add(name)

    def _settle(self, message: Message) -> None:
        if message.event == "error":
            self.begun, self.capabilities = False, None
            return
        found = message.result.get("protocolVersion") if message.result is not None else None
        self.version = found if type(found) is str else None

    def _name(self, params: Any, t: float) -> None:
        name = params.get("elicitationId") if type(params) is dict else None
        if type(name) is str:
            self._elicitations.put(short(name), value=False, t=t)

    def _elicited(self, name: Any, t: float) -> None:
        if type(name) is str and self._elicitations.get(short(name)) is False:
            self._elicitations.put(short(name), value=True, t=t)


def elicitations_in(error: Any) -> list[Any]:
    """Give the elicitations an error says are needed first; empty for any other error."""
    if type(error) is not dict or error.get("code") != spec.URL_REQUIRED:
        return []
    data = error.get("data")
    found = data.get("elicitations") if type(data) is dict else None
    return found if type(found) is list else []
