"""What there is to judge in a message: itself, its asks, its answers, and the round it answers."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from mcp_tap.core import spec
from mcp_tap.core.facts.ask import Answer, Ask, Origin, asks_in
from mcp_tap.core.facts.flow import MODERN, Flow
from mcp_tap.core.facts.held import size_of
from mcp_tap.core.facts.message import Message
from mcp_tap.core.facts.retry import Asking, Retry
from mcp_tap.core.linking.asks import owner
from mcp_tap.core.linking.state import Live, Pending
from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.records import Body, Header, Sse, pointer
from mcp_tap.core.records import Message as MessageRecord
from mcp_tap.core.values import same_json
from mcp_tap.core.wire import LARGE, UNPARSED
from mcp_tap.rules.engine import Step

MOST_ASKS: Final = 200
"""Asks of one message, and answers in one, that are judged: no person answers more."""
MOST_ANSWERS: Final = 100
"""Answers kept with an exchange."""


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
        _after(message, steps)
    elif event == "error":
        _after(message, steps)
    elif event == "server_request":
        ask = Ask(message, str(message.id), message.value, "pushed", "")
        steps.append(("ask", ask.kind, ask))
        flow.asks = True
        flow.seen.session.push(ask)
        if ask.kind != "other":
            _pushed(live, flow, ask)
    elif event == "server_notification" and method == spec.NOTE_TASK:
        requests = message.params.get("inputRequests")
        asks = asks_in(message, requests, "task", "/params/inputRequests")
        _ask(steps, _new(flow, message.params.get("taskId"), asks))
    elif event == "client_response":
        pushed = flow.seen.session.pushed(message.id)
        if pushed is not None:
            failed = message.result is None and message.error is not None
            value = message.error if failed else message.value.get("result")
            path = "/error" if failed else "/result"
            answer = Answer(message, pushed, value, path, error=failed)
            steps.append(("answer", pushed.kind, answer))
            _answered(flow, pushed.home, answer)
    return steps


def _pushed(live: Live, flow: Flow, ask: Ask) -> None:
    """Find the request a pushed ask belongs to, and the answers that led to it."""
    track = owner(live)
    origin = track.origin if track is not None else None
    ask.home = home = origin.flow if origin is not None else None
    if home is None:
        return
    ask.before, home.answers = home.answers, ()
    if not flow.http and home.call is not None:
        flow.call, flow.round = home.call, home.call.rounds[-1]


def _answered(flow: Flow, home: Flow | None, answer: Answer) -> None:
    """Keep the answer to a pushed ask with the request that waits for it."""
    if home is None or home.exchange.how is not None:
        return
    if len(home.answers) < MOST_ANSWERS:
        home.answers = (*home.answers, answer)
        flow.seen.run.held.more(home, size_of(answer.message))
    if home.call is not None:
        flow.call, flow.round = home.call, home.call.rounds[-1]


def _after(message: Message, steps: list[Step]) -> None:
    if message.request is not None and message.request.fired:
        steps.append(("after", message.method, message))


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
    requests = result.get("inputRequests")
    asks = asks_in(message, requests, origin, "/result/inputRequests")
    _forget_older(flow)
    for ask in asks[:MOST_ASKS]:
        ask.before = flow.answers
    _ask(steps, asks if origin != "task" else _new(flow, result.get("taskId"), asks))
    track = live.track
    if type(requests) is dict and len(requests) > len(asks):
        return  # what answers it cannot be compared with all of them
    if track is not None and track.pending and track.pending[-1].round is live.round:
        first = track.first or message.request
        if first is not None:
            flow.asks = True
            track.pending[-1].asking = Asking(message, first, {a.key: a for a in asks})


def _forget_older(flow: Flow) -> None:
    """Let go of what came before the round that is answered: calls may have no end."""
    if flow.retry is not None:
        flow.retry.asking.message.flow.retry = None
    for answer in flow.answers:
        for older in answer.ask.before:
            older.ask.before = ()


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
        asking = pending.asking
        if asking is None:
            return
        flow.retry = retry = Retry(message, asking, flow.call, flow.round, pending.round)
        steps.append(("retry", message.method, retry))
        asked = _meant(pending, retry).asks
    if type(answers) is not dict:
        return
    found: list[Answer] = []
    for key, value in answers.items():
        ask = asked.get(key)
        if ask is not None:
            path = "/params/inputResponses" + pointer(key)
            found.append(Answer(message, ask, value, path, error=False))
            if len(found) >= MOST_ASKS:
                break
    steps.extend(("answer", answer.ask.kind, answer) for answer in found)
    flow.answers = tuple(found[:MOST_ANSWERS])


def _meant(pending: Pending, retry: Retry) -> Asking:
    """Say what the answers of a retry are for: with an older state mostly the newest round's asks.

    The state, which links, is that of an answered round, and the newest asks under the same keys:
    unless the same answers were sent with that state before, they are for the newest.
    """
    asking, newest = retry.asking, pending.track.pending[-1]
    if newest is pending or newest.answered or newest.asking is None:
        return asking
    if newest.asking.asks.keys().isdisjoint(retry.answers):
        return asking
    sent = retry.round.sent_state
    again = any(
        round_ is not retry.round
        and round_.sent_state == sent
        and same_json(round_.answers or {}, retry.answers)
        for round_ in retry.call.rounds
    )
    return asking if again else newest.asking


def _new(flow: Flow, task_id: Any, asks: list[Ask]) -> list[Ask]:
    """Leave out what the task's state has shown before: polls repeat what is not answered yet."""
    known = flow.seen.tasks.asked(task_id)
    return [
        ask
        for ask in asks
        if ask.key not in known or not same_json(known[ask.key].entry, ask.entry)
    ]


def _ask(steps: list[Step], asks: list[Ask]) -> None:
    if asks:
        asks[0].flow.asks = True
    steps.extend(("ask", ask.kind, ask) for ask in asks[:MOST_ASKS])


def is_meant(record: Body, value: Any, flow: Flow) -> bool:
    """Tell whether a body stands where a message must be: not an error page, not elsewhere."""
    if not flow.is_endpoint:
        return False
    if record.sender == "client":
        return flow.exchange.verb == "POST"
    status = flow.status
    if type(value) is dict:
        is_error = "id" in value and type(value.get("error")) is dict
        return status is None or status < 400 or is_error
    claims = record.sse is not None or "json" in (record.content_type or "")
    return value is not UNPARSED and claims and (status is None or status < 400)


def is_outline(record: MessageRecord | Body) -> bool:
    """Tell whether a payload was so large that only its outline was read."""
    text = record.text
    return text is not None and len(text) > LARGE // 4 and len(text.encode()) > LARGE


def endpoint_of(header: Header) -> str | None:
    """Give the path messages are sent to; None where that cannot be told."""
    # What is no URL is the command of a server behind a bridge.
    is_url = header.upstream.startswith(("http://", "https://"))
    try:
        return urlsplit(header.upstream if is_url else header.listen).path or "/"
    except ValueError:
        return None


def client_key(live: Live) -> Any:
    """Say whose memory an exchange adds to: a session's, else a client's."""
    if live.session_id and live.exchange.era != "stateless":
        return ("session", live.session_id)
    return live.client


def is_numbered(sse: Sse | None) -> bool:
    """Tell whether an event has what only a stream that can be resumed needs."""
    return sse is not None and (sse.id is not None or sse.retry is not None)


def subject_of(live: Live) -> Call | Exchange:
    """Say what findings in an exchange are about: its call, or that of the asks it answers."""
    if live.flow is not None and live.flow.call is not None:
        return live.flow.call
    return live.exchange if live.track is None else live.track.call
