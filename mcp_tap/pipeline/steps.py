"""What there is to judge in a message: itself, its asks, its answers, and the round it answers."""

from __future__ import annotations

from mcp_tap.core import spec
from mcp_tap.core.facts.ask import Answer, Ask, Origin, asks_in
from mcp_tap.core.facts.flow import MODERN, Flow
from mcp_tap.core.facts.message import Message
from mcp_tap.core.facts.retry import Asking, Retry
from mcp_tap.core.linking.state import Live
from mcp_tap.core.records import pointer
from mcp_tap.rules.engine import Step


def steps_of(live: Live, flow: Flow, message: Message) -> list[Step]:
    """List what there is to judge, a message's own event first."""
    event, method = message.event, message.method
    steps: list[Step] = [("message", None, message), (event, method, message)]
    if event == "request":
        params = message.params
        if "inputResponses" in params or "requestState" in params:
            steps.append(("retrying", method, message))
            _answering(live, flow, message, steps)
    elif event == "result":
        _asking(live, flow, message, steps)
    elif event == "server_request":
        ask = Ask(message, str(message.id), message.value, "pushed", "")
        steps.append(("ask", ask.kind, ask))
        flow.asks = True
        flow.seen.session.push(ask)
    elif event == "server_notification" and method == spec.NOTE_TASK:
        requests = message.params.get("inputRequests")
        _ask(steps, asks_in(message, requests, "task", "/params/inputRequests"))
    elif event == "client_response":
        pushed = flow.seen.session.pushed(message.id)
        if pushed is not None:
            failed = message.result is None and message.error is not None
            value = message.error if failed else message.value.get("result")
            path = "/error" if failed else "/result"
            answer = Answer(message, pushed, value, path, error=failed)
            steps.append(("answer", pushed.kind, answer))
    return steps


def _asking(live: Live, flow: Flow, message: Message, steps: list[Step]) -> None:
    result = message.result
    if result is None or flow.band != MODERN:
        return
    origin: Origin = "input_required"
    if result.get("resultType") == spec.INPUT_REQUIRED:
        steps.append(("input_required", message.method, message))
    elif message.method == spec.TASKS_GET and "inputRequests" in result:
        origin = "task"
    else:
        return
    asks = asks_in(message, result.get("inputRequests"), origin, "/result/inputRequests")
    _ask(steps, asks)
    track = live.track
    if track is not None and track.pending and track.pending[-1].round is live.round:
        first = track.first or message.request
        if first is not None:
            flow.asks = True
            track.pending[-1].asking = Asking(message, first, {a.key: a for a in asks})


def _answering(live: Live, flow: Flow, message: Message, steps: list[Step]) -> None:
    answers = message.params.get("inputResponses")
    asked: dict[str, Ask] = {}
    if message.method == spec.TASKS_UPDATE:
        asked = flow.seen.tasks.asked(message.params.get("taskId"))
    elif (
        len(live.retries) == 1
        and flow.call is not None
        and flow.round is not None
        and flow.round.link != "ambiguous"
    ):
        pending = live.retries[0]
        asking: Asking | None = pending.asking
        if asking is None:
            return
        steps.append(
            (
                "retry",
                message.method,
                Retry(message, asking, flow.call, flow.round, pending.round),
            )
        )
        asked = asking.asks
    if type(answers) is not dict:
        return
    for key, value in answers.items():
        ask = asked.get(key)
        if ask is not None:
            path = "/params/inputResponses" + pointer(key)
            steps.append(("answer", ask.kind, Answer(message, ask, value, path, error=False)))


def _ask(steps: list[Step], asks: list[Ask]) -> None:
    if asks:
        asks[0].flow.asks = True
    steps.extend(("ask", ask.kind, ask) for ask in asks)
