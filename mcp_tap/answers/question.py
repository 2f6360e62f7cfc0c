"""A question, as scripts see it: what is asked, and for which call.

Rules of this file:

- A stranger wrote what is in it; nothing here trusts a type.
- The same question comes from a live round, a pushed request, a task or a capture: what answers it
  does not know which.
"""

from __future__ import annotations

from collections.abc import Container, Hashable
from typing import Any, Final

from msgspec import Struct

from mcp_tap.core.forms import Form
from mcp_tap.core.model import AskKind
from mcp_tap.core.spec import ask_kind
from mcp_tap.core.text import brief

EVERY: Final[frozenset[AskKind]] = frozenset({"form", "url", "sampling", "roots"})
"""Kinds of questions that can be answered."""
NAMES: Final[dict[AskKind, str]] = {
    "form": "elicitation.form",
    "url": "elicitation.url",
    "sampling": "sampling",
    "roots": "roots",
}
"""Kind -> its capability, in the words of `advertise`."""
MOST_NAMES: Final = 12
"""Fields of a form that its description names."""
MOST_TEXT: Final = 1 << 16
"""Characters of a question's message that expressions are tried on."""


class Question(Struct, frozen=True, kw_only=True, eq=False):
    """One thing a server asks, for a call."""

    key: str
    """Key in `inputRequests`; of a pushed request its JSON-RPC id, as text."""
    ask: AskKind
    params: dict[str, Any] = {}
    method: str | None = None
    """Method of the request it is asked for, not of the question; None where that is not known."""
    name: str | None = None
    """Tool or prompt name, or resource URI, of that request."""
    arguments: Any = None
    """Arguments of that request."""
    server: str | None = None
    """Server in words: label, else serverInfo name, else host."""
    call: Hashable = None
    """What tells calls apart: `each_round` counts within one."""
    round: int = 1
    """Number of the round that asks."""
    declared: bool = True
    """The client has declared the capability: the question can be passed on to it."""
    pushed: bool = False
    """It came as a request of its own, so its key says nothing."""

    @property
    def mode(self) -> str | None:
        """Mode of an elicitation: `form` or `url`."""
        return self.ask if self.ask in ("form", "url") else None

    @property
    def tool(self) -> str | None:
        """Name of the tool, where a tool was called."""
        return self.name if self.method == "tools/call" else None

    @property
    def message(self) -> str:
        """What a person is shown; of sampling the text of its messages, line by line."""
        if self.ask == "sampling":
            return "\n".join(_said(self.params.get("messages")))
        found = self.params.get("message")
        return found if isinstance(found, str) else ""

    @property
    def url(self) -> str | None:
        """Where an elicitation in URL mode leads."""
        found = self.params.get("url")
        return found if self.ask == "url" and isinstance(found, str) else None

    @property
    def schema(self) -> dict[str, Any] | None:
        """`requestedSchema` of a form, where it is an object."""
        found = self.params.get("requestedSchema")
        return found if self.ask == "form" and isinstance(found, dict) else None

    @property
    def form(self) -> Form:
        """A reading of its form; each time a new one."""
        return Form(self.schema)

    @property
    def place(self) -> str:
        """Say for what it is asked: `tools/call deploy, round 2`."""
        target = " ".join(word for word in (self.method, self.name) if word)
        return f"{target}, round {self.round}" if target else f"round {self.round}"


def questions(
    requests: Any,
    *,
    method: str | None = None,
    name: str | None = None,
    arguments: Any = None,
    server: str | None = None,
    call: Hashable = None,
    round: int = 1,  # noqa: A002 - the word of the protocol
    declared: Container[AskKind] = EVERY,
    pushed: bool = False,
) -> list[Question]:
    """Read questions off a map of them.

    Args:
        requests: `inputRequests` of a result or a task, whatever it is; of a pushed request a map
            of its id, as text, to the message.
        method: of the request they are asked for.
        name: its tool, prompt or resource.
        arguments: its arguments.
        server: in words.
        call: what tells calls apart.
        round: number of the round.
        declared: kinds the client has declared.
        pushed: it is a pushed request.
    """
    if not isinstance(requests, dict):
        return []
    found = []
    for key, entry in requests.items():
        known = entry if isinstance(entry, dict) else {}
        params = known.get("params")
        params = params if isinstance(params, dict) else {}
        kind = ask_kind(known.get("method"), params)
        found.append(
            Question(
                key=key,
                ask=kind,
                params=params,
                method=method,
                name=name,
                arguments=arguments,
                server=server,
                call=call,
                round=round,
                declared=kind in declared,
                pushed=pushed,
            )
        )
    return found


def described(ask: Question) -> str:
    """Describe an ask: `form, fields start*, minutes`."""
    if ask.ask not in EVERY:
        return "something no client knows"
    if ask.ask != "form":
        return ask.ask
    form = ask.form
    names = [name + "*" * (name in form.required) for name in (form.defined or ())]
    shown = ", ".join(brief(name, 40).strip('"') for name in names[:MOST_NAMES])
    return f"form, fields {shown}" if names else "form without fields"


def _said(messages: Any) -> list[str]:
    """Give the text blocks of messages."""
    found: list[str] = []
    for message in messages if isinstance(messages, list) else ():
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else (content,):
            text = block.get("text") if isinstance(block, dict) else None
            if isinstance(text, str):
                found.append(text)
    return found
