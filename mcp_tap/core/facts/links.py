"""Links people were asked to open, until the client answers; and who may log them in.

It is of the run, not of one client: what fetches a link need not look like the client it was given
to, but for its credential.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Final

from msgspec import Struct

from mcp_tap.core import spec
from mcp_tap.core.bounded import Bounded
from mcp_tap.core.facts.ask import asks_in
from mcp_tap.core.facts.message import is_masked
from mcp_tap.core.facts.session import elicitations_in
from mcp_tap.core.facts.topic import Topic
from mcp_tap.core.values import id_key, short

if TYPE_CHECKING:
    from mcp_tap.core.facts.ask import Ask
    from mcp_tap.core.facts.message import Message

MOST: Final = 512
"""Open links that are remembered."""
LONGEST: Final = 12 * 3600.0
MOST_OF_ONE: Final = 20
"""Links taken note of from one message."""
LONGEST_URL: Final = 4096
MOST_SERVERS: Final = 32
"""Authorization servers that are remembered."""
_OF_TASKS: Final = (spec.TASKS_GET, spec.NOTE_TASK)
"""Methods whose messages show the state of a task."""
RESOURCE_METADATA: Final = "/.well-known/oauth-protected-resource"
"""Where a server says who may log people in to it (RFC 9728)."""


class Link(Struct, eq=False, kw_only=True):
    """A link that waits for a person."""

    number: int
    url: str
    owner: int
    """Number of the client it was given to."""
    credential: str | None
    """Tag of what the client was let in with."""
    user_agent: str | bytes | None
    """What the client says it is; this and what follows is made short."""
    key: str | bytes | None
    """Under which it was asked; None where that is a request's id."""
    state: str | bytes | None
    """requestState it came with."""
    method: str | bytes | None
    target: str | bytes | None
    asked_as: tuple[bool, str] | None = None
    """Id of the request that pushed it."""


class Links(Topic):
    """Links of one run."""

    wants: ClassVar = (
        "input_required",
        "request",
        "server_request elicitation/create",
        "client_response",
        "error",
        f"result {spec.TASKS_GET}",
        f"server_notification {spec.NOTE_TASK}",
    )

    def __init__(self) -> None:
        """Begin with none."""
        self._open: Bounded[int, Link] = Bounded(MOST, LONGEST)
        self._told: Bounded[tuple[int, str | bytes, str | bytes], float] = Bounded(MOST, LONGEST)
        """Questions of tasks: each state repeats them, and some still do when they are answered."""
        self._any = False
        self._count = 0
        self.servers: dict[str, None] = {}
        """Issuers the server's own metadata names as its authorization servers, as spelled."""

    @property
    def open(self) -> list[Link]:
        """Links nobody has answered yet, oldest first."""
        return self._open.values()

    def learn(self, path: str, metadata: Any) -> None:
        """Take note of a document that says who may log people in.

        Args:
            path: it came from.
            metadata: the document.
        """
        if not path.startswith(RESOURCE_METADATA) or type(metadata) is not dict:
            return
        found = metadata.get("authorization_servers")
        for issuer in found[:MOST_SERVERS] if type(found) is list else ():
            if type(issuer) is str and len(self.servers) < MOST_SERVERS:
                self.servers[issuer[:LONGEST_URL]] = None

    def note(self, message: Message) -> None:
        """Take note of links that are given out, and of answers."""
        event = message.event
        if event == "request":
            if self._any:
                self._answered(message)
        elif event == "client_response":
            if len(self._open):
                self._responded(message)
        elif message.method in _OF_TASKS:
            self._shown(message)
        elif message.request is not None or event == "server_request":
            for key, url, state in _given_in(message):
                self._give(message, url, key, state)

    def _shown(self, message: Message) -> None:
        """Take note of the links in a task's state that it has not shown before."""
        state = message.result if message.event == "result" else message.params
        task = state.get("taskId") if state is not None and "inputRequests" in state else None
        if state is None or type(task) is not str or len(task) > LONGEST_URL:
            return
        for ask in _links_in(message, state["inputRequests"]):
            told = (message.flow.seen.number, short(task), short(ask.key))
            if self._told.get(told) is None:
                self._told.put(told, message.t, message.t)
                self._give(message, ask.params.get("url"), ask.key, None, task=task)

    def _give(
        self, message: Message, url: Any, key: str | None, state: Any, *, task: str | None = None
    ) -> None:
        if type(url) is not str or len(url) > LONGEST_URL or is_masked(url):
            return
        flow = message.flow
        pushed = message.event == "server_request"
        self._open.expire(message.t)
        self._count += 1
        self._any = True
        link = Link(
            number=self._count,
            url=url,
            owner=flow.seen.number,
            credential=flow.credential,
            user_agent=_short(flow.header("user-agent")),
            key=_short(key),
            state=_short(state),
            method=spec.TASKS_UPDATE if task else None if pushed else _short(message.method),
            target=_short(task) or (None if pushed else _target(message.request)),
            asked_as=id_key(message.id) if pushed else None,
        )
        self._open.put(self._count, link, message.t)

    def _answered(self, message: Message) -> None:
        """Close what a request answers: a retry its round, a repeated request its error."""
        params, target = message.params, _target(message)
        answers, state = params.get("inputResponses"), _short(params.get("requestState"))
        method = _short(message.method)
        for link in self._mine(message):
            if link.asked_as is not None:
                continue
            known = link.state is not None and link.state == state
            fits = (link.method, link.target) == (method, target)
            if known or (fits and _has(answers, link.key)):
                self._open.pop(link.number)

    def _responded(self, message: Message) -> None:
        asked_as = id_key(message.id)
        for link in self._mine(message):
            if link.asked_as == asked_as:
                self._open.pop(link.number)

    def _mine(self, message: Message) -> Iterator[Link]:
        """Give the open links of a message's client, or with the state it carries."""
        number = message.flow.seen.number
        state = _short(message.params.get("requestState"))
        for link in self._open.values():
            if link.owner == number or (link.state is not None and link.state == state):
                yield link


def _given_in(message: Message) -> list[tuple[str | None, Any, Any]]:
    """Give the links of a message: the key each was asked under, itself, the state beside it."""
    if message.event == "server_request":
        is_link = message.params.get("mode") == "url"
        return [(None, message.params.get("url"), None)] if is_link else []
    if message.event == "error":
        entries = elicitations_in(message.error)[:MOST_OF_ONE]
        return [(None, entry.get("url"), None) for entry in entries if type(entry) is dict]
    result = message.result or {}
    links = _links_in(message, result.get("inputRequests"))
    return [(ask.key, ask.params.get("url"), result.get("requestState")) for ask in links]


def _links_in(message: Message, requests: Any) -> list[Ask]:
    asks = asks_in(message, requests, "input_required", "")
    return [ask for ask in asks if ask.kind == "url"][:MOST_OF_ONE]


def _has(answers: Any, key: str | bytes | None) -> bool:
    """Tell whether there is an answer under a key that was made short; without one, any will do."""
    if key is None or type(answers) is not dict:
        return key is None
    return key in answers if type(key) is str else key in map(short, answers)


def _target(message: Message | None) -> str | bytes | None:
    if message is None or message.method is None:
        return None
    found = message.params.get(spec.NAME_PARAM.get(message.method, ""))
    return _short(found)


def _short(value: Any) -> str | bytes | None:
    """Make a text short; None for anything else."""
    return short(value) if type(value) is str else None
