"""What the judge hands to rules, seen through rules that say what they were given."""

from __future__ import annotations

from mcp_tap.core.finding import Finding
from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.records import Closed, Digest, HttpRequest, HttpResponse, Message
from mcp_tap.pipeline.judge import MOST_KEPT, Judge
from mcp_tap.pipeline.spine import Pipeline
from tests.builders import finding
from tests.captures import header
from tests.cases import answer, call, error, exchange, ids, post, result, traffic
from tests.talk import packed

NOTHING = Digest(bytes=0, sha256="")


def test_what_the_tap_itself_answers_is_never_judged():
    pipeline = Pipeline()
    pipeline.feed(header())
    found = []
    records = [
        HttpRequest(
            seq=1, t=0.1, exchange=1, conn=1, peer="::1", method="POST", path="/mcp",
            headers=list(call()["headers"].items()),
        ),
        Message(seq=2, t=0.1, sender="client", exchange=1, text=packed(call()["body"]).decode()),
        HttpResponse(seq=3, t=0.2, exchange=1, status=502, headers=[], sender="tap"),
        Message(seq=4, t=0.2, sender="tap", exchange=1, text='{"jsonrpc":"1.0","id":9}'),
        Closed(seq=5, t=0.2, exchange=1, how="upstream_down", request=NOTHING, response=NOTHING),
    ]  # fmt: skip
    for record in records:
        found += [c for c in pipeline.feed(record) if isinstance(c, Finding)]
    assert found == []


def test_a_finding_stands_with_its_call_and_round():
    bad = result(1)
    bad["result"].pop("resultType")
    pipeline_found = ids(traffic(exchange(call(1), answer(bad))), "RPC-010")
    assert pipeline_found == ["RPC-010"]


def test_what_is_said_of_a_payload_too_large_to_judge_stands_with_its_call():
    large = call()["body"]
    large["params"]["arguments"] = {"text": "x" * (1 << 20)}
    pipeline = Pipeline()
    pipeline.feed(header())
    pipeline.feed(
        HttpRequest(
            seq=1, t=0.1, exchange=1, conn=1, peer="::1", method="POST", path="/mcp",
            headers=list(call()["headers"].items()),
        )
    )  # fmt: skip
    text = packed(large).decode()
    changes = pipeline.feed(Message(seq=2, t=0.1, sender="client", exchange=1, text=text))
    (of_call,) = [change for change in changes if isinstance(change, Call)]
    assert [finding.rule for finding in of_call.findings] == ["TAP-003"]


def test_one_call_keeps_no_more_findings_than_can_be_looked_at():
    judge = Judge()
    subject = Exchange(number=1, t=0.0)
    subject.findings.extend([finding()] * (MOST_KEPT - 1))

    class Live:
        flow = track = None
        exchange = subject

    given = judge.keep(Live(), [finding(), finding()])
    assert len(given) == 2
    assert len(subject.findings) == MOST_KEPT


def test_another_path_of_the_origin_is_not_judged_as_the_endpoint():
    page = {"request": {"method": "GET", "path": "/health", "headers": {}}, "response": answer()}
    assert ids(traffic(page)) == []


def test_a_request_of_no_declared_revision_is_judged_by_json_rpc_alone():
    bare = post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, version=None)
    odd = post({"jsonrpc": "1.0", "id": 1, "method": "tools/list"}, version=None)
    assert ids(traffic(exchange(bare, answer(error(1))))) == []
    assert ids(traffic(exchange(odd, answer(error(1)))), "RPC-002") == ["RPC-002"]
