"""What a person should know of a question before answering it: what the rules say of it.

The question is judged as it would be on the wire, by the rules that will judge it there; so a
person is warned of a link in just those cases in which `check` complains of it.
"""

from __future__ import annotations

from msgspec import Raw

from mcp_tap.answers.question import Question
from mcp_tap.core import spec
from mcp_tap.core.finding import RANK, Finding
from mcp_tap.core.records import FORMAT, AnyRecord, Header, HttpRequest, HttpResponse, Message
from mcp_tap.core.wire import dumps
from mcp_tap.pipeline.spine import Pipeline

_FAMILIES = ("SEC-", "ELIC-")
_LEAST = RANK["warning"]


def concerns(question: Question, upstream: str) -> list[str]:
    """Say what is dubious about a question, the worst first.

    Args:
        question: an elicitation; of others nothing is said.
        upstream: URL of the server, to which a link may well lead.
    """
    if question.mode is None:
        return []
    pipeline = Pipeline()
    found: dict[str, Finding] = {}
    try:
        records = _records(question, upstream)
    except ValueError:  # half a surrogate pair: no strict JSON has one
        return []
    for record in records:
        for change in pipeline.feed(record):
            if isinstance(change, Finding) and "inputRequests" in change.path:
                found.setdefault(change.rule, change)
    worst = sorted(found.values(), key=lambda f: (-RANK[f.severity], f.rule))
    return [
        f"{finding.message} ({finding.rule})"
        for finding in worst
        if RANK[finding.severity] >= _LEAST and finding.rule.startswith(_FAMILIES)
    ]


def _records(question: Question, upstream: str) -> list[AnyRecord]:
    """Write down a call that ends in the question."""
    meta = {
        spec.META_VERSION: spec.STATELESS_SINCE,
        spec.CLIENT_CAPABILITIES: {"elicitation": {"form": {}, "url": {}}},
    }
    call = {"name": question.name or "tool", "arguments": {}, "_meta": meta}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    ask = {"method": spec.ELICIT, "params": question.params}
    result = {"resultType": spec.INPUT_REQUIRED, "inputRequests": {"ask": ask}}
    response = {"jsonrpc": "2.0", "id": 1, "result": result}
    fields = [("content-type", "application/json"), ("mcp-protocol-version", spec.STATELESS_SINCE)]
    return [
        Header(
            seq=0,
            t=0.0,
            format=FORMAT,
            tool="mcp-tap",
            run="question",
            started="",
            transport="http",
            upstream=upstream,
        ),
        HttpRequest(
            seq=1,
            t=0.0,
            exchange=1,
            conn=1,
            peer="127.0.0.1",
            method="POST",
            path="/",
            headers=fields,
        ),
        Message(seq=2, t=0.0, exchange=1, sender="client", body=Raw(dumps(request))),
        HttpResponse(seq=3, t=0.0, exchange=1, status=200, headers=fields),
        Message(seq=4, t=0.0, exchange=1, sender="server", body=Raw(dumps(response))),
    ]
