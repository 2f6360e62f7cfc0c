"""What is answered to a server that asks again: what was answered then, or what a script says.

Rules of this file:

- An entry of the script wins.  Then the capture: by key, and of asks under other keys by position.
- An ask that is what it was gets what it got, right or wrong.  One that has changed gets it only
  where it fits: an answer to another question is worse than none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from mcp_tap.answers.book import Answered, Book
from mcp_tap.answers.fill import NoAnswer, check_content, has_mask
from mcp_tap.answers.question import Question, questions
from mcp_tap.core.text import brief
from mcp_tap.core.values import same_json
from mcp_tap.core.wire import UNPARSED
from mcp_tap.replay.client.bodies import Push
from mcp_tap.replay.fitting import fits

ABSENT: Final = object()
"""The recorded client gave no answer here: nor is one given now."""


class NotAnswered(Exception):
    """There is no answer to give; says why in words."""


class Then(Struct, frozen=True):
    """What a recorded round asked, and what was answered to it."""

    asks: Mapping[str, Any]
    """Entries of `inputRequests`, by key."""
    answers: Mapping[str, Any]


class Answers:
    """Finds the answers of a run."""

    def __init__(self, book: Book | None) -> None:
        """Answer from a script, where there is one, and from the capture."""
        self._book = book

    def to_round(
        self, asks: Any, then: Then, earlier: list[Then], about: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Answer the asks of a round.

        Args:
            asks: `inputRequests` of the new server.
            then: the recorded round that was answered here.
            earlier: further recorded rounds of the call, for what is asked at another time now.
            about: what it is asked for, in the terms of `questions`.

        Raises:
            NotAnswered: there is no answer to one of them.
        """
        asked = {question.key: question for question in questions(asks, **about)}
        keys = _placed(list(asked), asks if type(asks) is dict else {}, then)
        found: dict[str, Any] = {}
        for key, question in asked.items():
            answer = self._answer(question, keys.get(key), then, earlier)
            if answer is not ABSENT:
                found[key] = answer
        unasked = {k: v for k, v in then.answers.items() if k not in then.asks and k not in found}
        return found | unasked

    def _answer(self, question: Question, key: str | None, then: Then, earlier: list[Then]) -> Any:
        written = self._written(question)
        if written is not None:
            return written
        if key is not None:
            if key not in then.answers:
                return ABSENT
            return _fitting(question, then.asks[key], then.answers[key])
        for other in earlier:
            if question.key in other.answers:
                before, answer = other.asks.get(question.key), other.answers[question.key]
                return _fitting(question, before, answer)
        raise NotAnswered(f"nothing answers ask {brief(question.key)}")

    def to_push(
        self, question: Question, value: dict[str, Any], recorded: Push | None
    ) -> dict[str, Any] | None:
        """Answer a request of the server's own: gives a response, without its id.

        Args:
            question: what is asked.
            value: the request.
            recorded: what was asked then in its place.

        Returns:
            What a response holds; None where none was given then.

        Raises:
            NotAnswered: there is no answer.
        """
        written = self._written(question)
        if written is not None:
            return {"jsonrpc": "2.0", "result": written}
        if recorded is None:
            raise NotAnswered(f"nothing answers {question.place}: {value.get('method')}")
        if recorded.answer is None:
            return None
        if has_mask(recorded.answer.get("result")):
            raise NotAnswered("its recorded answer is masked")
        if "result" in recorded.answer:
            before = {"method": recorded.method, "params": recorded.params}
            _fitting(question, before, recorded.answer["result"])
        return recorded.answer

    def _written(self, question: Question) -> dict[str, Any] | None:
        """Give what the script says; None where it says nothing."""
        book = self._book
        if book is None or book.winner(question) is None:
            return None
        decided = book.decide([question])
        if isinstance(decided, Answered):
            return decided.answers[question.key].answer
        raise NotAnswered(decided.why)


def pushed_then(
    pushes: list[Push], method: str, params: Any, exchanges: frozenset[int] | None
) -> Push | None:
    """Find what a request of the server was in the recording, and take it.

    Args:
        pushes: those of the lane.
        method: its method.
        params: its parameters.
        exchanges: on which recorded exchanges it may have come; None: on any.
    """

    def near(push: Push) -> tuple[bool, bool]:
        other = {k: v for k, v in _members(push.params).items() if k not in _FRESH}
        said = {k: v for k, v in _members(params).items() if k not in _FRESH}
        here = exchanges is None or push.exchange in exchanges
        return (not here, not fits(other, said))

    found = [push for push in pushes if not push.used and push.method == method]
    if not found:
        return None
    best = min(found, key=near)
    best.used = True
    return best


_FRESH: Final = frozenset({"_meta", "elicitationId"})


def _members(params: Any) -> dict[str, Any]:
    return params if type(params) is dict else {}


def _placed(keys: list[str], asks: Mapping[str, Any], then: Then) -> dict[str, str]:
    """Find the recorded key of each ask: the same one, or that in its place."""
    found = {key: key for key in keys if key in then.asks}
    left = [key for key in then.asks if key not in found]
    for key in keys:
        if key in found:
            continue
        method = _members(asks[key]).get("method")
        place = next((k for k in left if _members(then.asks[k]).get("method") == method), None)
        if place is not None:
            left.remove(place)
            found[key] = place
    return found


def _fitting(question: Question, before: Any, answer: Any) -> Any:
    """See that an answer to an earlier ask is one to this."""
    if has_mask(answer):
        raise NotAnswered(f"the recorded answer to {brief(question.key)} is masked")
    params = _members(_members(before).get("params")) if before is not UNPARSED else {}
    schema = params.get("requestedSchema")
    if question.ask != "form" or same_json(schema, question.params.get("requestedSchema")):
        return answer
    content = _members(answer).get("content")
    if _members(answer).get("action") != "accept" or type(content) is not dict:
        return answer
    try:
        check_content(question, content)
    except NoAnswer as error:
        words = error.why.removesuffix("; nothing was sent")
        shown = "" if question.pushed else f" to {brief(question.key)}"
        raise NotAnswered(f"the recorded answer{shown} does not fit any more: {words}") from None
    return answer
