"""Spares rules and memory the messages that have nothing new for them.

What counts as nothing new is said in `core.facts.steady`; here it is applied: a message that is
equal to one before goes only to the rules and the memory that are not steady.
"""

from __future__ import annotations

from mcp_tap.core.facts.flow import MODERN, Flow
from mcp_tap.core.facts.message import Message
from mcp_tap.core.facts.seen import Run
from mcp_tap.core.facts.steady import (
    Known,
    Rest,
    Result,
    head_of,
    is_plain_progress,
    learn_result,
    result_of,
)
from mcp_tap.rules.engine import Engine


class Sparing:
    """Knows, for one run, who need not look."""

    __slots__ = ("_ends", "_engine", "_heads", "_on", "_run")

    def __init__(self, engine: Engine, run: Run, *, on: bool) -> None:
        """Begin with nothing known; `on`: else nobody is ever spared anything."""
        self._engine = engine
        self._run = run
        self._on = on
        self._heads = engine.spares("head")
        self._ends = engine.spares("closed")

    def rest(self, flow: Flow, message: Message) -> Rest | None:
        """Say who must look at a message that is equal to one before; None where it is not."""
        found: Known | Result | None
        if message is flow.sent:
            if message.event != "request" or flow.band != MODERN or not self._on:
                return None
            found = flow.known = self._run.steady.request(message)
        elif flow.known is None:
            return None
        elif message.event == "result":
            found = result_of(message)
            flow.settled = found is not None
        elif message.event == "server_notification":
            return self._progress(flow.known, message)
        else:
            return None
        if found is None:
            return None
        return found.rest or self._begin(found, message)

    def head(self, flow: Flow) -> bool:
        """Tell whether nobody must look at the head of a response."""
        flow.reply_known = head_of(flow)
        return flow.reply_known is not None and self._heads

    def end(self, flow: Flow) -> bool:
        """Tell whether nobody must look at an end: that of an exchange that was as others before.

        Where a request has its response, no more than how that came can be wrong with its end.
        """
        return flow.settled and not flow.event_fields and self._ends

    def learn(self, flow: Flow, message: Message) -> None:
        """Remember a message at which everybody has looked."""
        if flow.band != MODERN or self._engine.restless or not self._on:
            return
        if message is flow.sent:
            if message.event == "request":
                flow.known = self._run.steady.learn(message)
        elif flow.known is not None and message.event == "result":
            learn_result(message)

    def _progress(self, known: Known, message: Message) -> Rest | None:
        if not is_plain_progress(message):
            return None
        if known.progress is None:
            known.progress = self._rest_of(message)
        return known.progress

    def _begin(self, found: Known | Result, message: Message) -> Rest:
        found.rest = rest = self._rest_of(message)
        return rest

    def _rest_of(self, message: Message) -> Rest:
        flow, event, method = message.flow, message.event, message.method
        return Rest(
            judges=self._engine.judges(flow, event, method),
            of_flat=self._engine.judges(flow, event, method, flat=True),
            notes=flow.seen.notes(message),
        )
