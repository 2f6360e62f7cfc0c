"""What was recorded over the one transport, as the other would have it.

Over HTTP each request has a response of its own, with a head.  Over stdio no stream can be lost, so
what a stream brought that was taken up again is what the request brought.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from mcp_tap.core import spec
from mcp_tap.core.records import Headers, HttpResponse, Message
from mcp_tap.replay.recorded import RecordedExchange
from mcp_tap.replay.server.steps import Step, is_response

_JSON = ("Content-Type", "application/json")
_STREAM = ("Content-Type", "text/event-stream")
_SESSION = ("Mcp-Session-Id", "")
"""Without a value: each session has one of its own."""


def over_http(exchange: RecordedExchange, steps: Sequence[Step]) -> list[Step]:
    """Give what came as lines: a response, or a stream of it and what came before.

    What came later goes to the session's own stream.  Without sessions there is none, and nothing
    may follow a response (2026-07-28, basic/transports/streamable-http#receiving-messages).
    """
    messages = [step for step in steps if isinstance(step.record, Message)]
    count = 0
    if exchange.kind == "request":
        ends = (at for at, step in enumerate(messages, 1) if is_response(step))
        count = next(ends, len(messages))
    own = [replace(step, aside=False) for step in messages[:count]]
    later = [replace(step, aside=True) for step in messages[count:]]
    head = _head(exchange, own)
    t = own[0].t if own else exchange.t
    first = Step(seq=exchange.seqs[0], t=t, record=head, value=None)
    return [first, *own, *(later if exchange.era != "stateless" else ())]


def over_stdio(steps: Sequence[Step], resumed: Iterable[Sequence[Step]]) -> list[Step]:
    """Give what came on a stream, and on those that took it up where it broke off."""
    more = (s for steps in resumed for s in steps if not isinstance(s.record, HttpResponse))
    return [*steps, *more]


def _head(exchange: RecordedExchange, own: Sequence[Step]) -> HttpResponse:
    status, headers = 200, [_STREAM]
    if exchange.kind != "request":
        status, headers = 202, []
    elif len(own) == 1 and is_response(own[0]):
        status, headers = _status(exchange, own[0]), [_JSON]
    if exchange.method == spec.INITIALIZE:
        headers.append(_SESSION)
    return _response(exchange, status, headers)


def _response(exchange: RecordedExchange, status: int, headers: Headers) -> HttpResponse:
    return HttpResponse(
        seq=exchange.seqs[0],
        t=exchange.t,
        exchange=exchange.number,
        status=status,
        headers=headers,
    )


def _status(exchange: RecordedExchange, step: Step) -> int:
    error = step.value.get("error")
    if exchange.era != "stateless" or type(error) is not dict:
        return 200
    code = error.get("code")
    return spec.ERROR_STATUS.get(code, 200) if type(code) is int else 200
