"""Asks of the session era: how a call goes on, given what its client answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mcp_tap.core.wire import UNPARSED
from mcp_tap.replay.fitting import fits
from mcp_tap.replay.index import Index
from mcp_tap.replay.server.matching import Book, Node
from mcp_tap.replay.server.misses import Miss, Misses, error_of
from mcp_tap.replay.server.play import Play
from mcp_tap.replay.server.scripts import Script, Scripts
from mcp_tap.replay.server.steps import Step, is_ask


class Branches:
    """Finds the recorded call whose client answered as this one did."""

    def __init__(
        self,
        index: Index,
        book: Book,
        scripts: Scripts,
        misses: Misses,
        report: Callable[[Miss], None],
    ) -> None:
        """Look among the calls of an index."""
        self._index = index
        self._book = book
        self._scripts = scripts
        self._misses = misses
        self._report = report

    def of(self, play: Play, node: Node, response: dict[str, Any]) -> Script | None:
        """Find the script to go on with after an answer; None: the one being played.

        Where no recorded client answered so, the request gets an error.
        """
        nearest: Any = UNPARSED
        for other in self._book.equal(node):
            script = self._scripts.of(other.exchange)
            recorded = self._compare(play, other, script)
            if recorded is None:
                if other.call is not node.call:
                    self._book.changed(node, other.call)
                return None if script is play.script else script
            if recorded is not UNPARSED and nearest is UNPARSED:
                nearest = recorded
        miss = self._misses.pushed(node.call.method, node.call.target, nearest, _said(response))
        self._report(miss)
        play.fail(error_of(miss, play.caller_id))
        return None

    def _compare(self, play: Play, other: Node, script: Script) -> Any:
        """Give None where a recorded call was asked and answered as this one; else its answer."""
        asks = [step for step in script.steps if is_ask(step)]
        found = {
            ask.seq: ask.answer_seq
            for round_ in other.call.rounds
            for ask in round_.asks.values()
            if ask.pushed
        }
        for (step, response), recorded in zip(play.asked, asks, strict=False):
            if not fits(_question(recorded), _question(step)):
                return UNPARSED
            if response is None or recorded.seq not in found:
                continue  # an ask of no call's: its answer decides nothing
            answer_seq = found[recorded.seq]
            if answer_seq is None:
                return UNPARSED
            answer = _said(self._index.value(other.call.capture, answer_seq))
            if not fits(answer, _said(response)):
                return answer
        return None if len(asks) >= len(play.asked) else UNPARSED


def _question(step: Step) -> Mapping[str, Any]:
    return {"method": step.value.get("method"), "params": step.value.get("params")}


def _said(response: Any) -> Any:
    """Give what a response says, beside its id."""
    if type(response) is not dict:
        return None
    return {key: response[key] for key in ("result", "error") if key in response}
