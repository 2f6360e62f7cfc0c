from __future__ import annotations

import base64
import json

import pytest
from google.protobuf import json_format
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status, TracesData

from mcp_tap.core.records import HttpRequest
from mcp_tap.exporting.otlp import otlp_document
from tests.captures import header
from tests.exports import GOLDEN, gathered, golden, hostile
from tests.traffic import META, STATE, Traffic, done, story


def read(data: bytes) -> TracesData:
    """Read a document as the format's own definition has it: nothing unknown, nothing mistyped."""
    document = json.loads(data)
    for span in spans(document):
        for holder in (span, *span.get("links", ())):
            for name in ("traceId", "spanId", "parentSpanId"):  # ids are hex here, not base64
                if name in holder:
                    raw = bytes.fromhex(holder[name])
                    assert len(raw) == (16 if name == "traceId" else 8)
                    assert any(raw)
                    holder[name] = base64.b64encode(raw).decode()
    return json_format.ParseDict(document, TracesData())


def spans(document) -> list[dict]:
    return document["resourceSpans"][0]["scopeSpans"][0]["spans"]


def of(records) -> list[Span]:
    data = b"".join(otlp_document(records[0], gathered(records), "1.0"))
    return list(read(data).resource_spans[0].scope_spans[0].spans)


def said(holder) -> dict[str, object]:
    return {
        pair.key: getattr(pair.value, str(pair.value.WhichOneof("value")))
        for pair in holder.attributes
    }


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_captures_become_traces_of_the_format(path):
    head, found = golden(path)
    data = b"".join(otlp_document(head, found, "1.0"))
    made = read(data).resource_spans[0].scope_spans[0].spans
    assert len({span.span_id for span in made}) == len(made)
    assert all(span.start_time_unix_nano <= span.end_time_unix_nano for span in made)
    parents = {span.parent_span_id for span in made} - {b""}
    assert parents <= {span.span_id for span in made}
    heads = {r.exchange for _, rs in found for r in rs if isinstance(r, HttpRequest)}
    told = {said(span).get("mcp_tap.exchange") for span in made} - {None}
    assert told == heads
    assert data == b"".join(otlp_document(head, found, "1.0"))


def test_a_call_is_a_trace_of_rounds_of_exchanges():
    made = of(story(listen="http://127.0.0.1:7777/mcp").records)
    deploy = [s for s in made if s.trace_id == made[3].trace_id]
    assert [s.name for s in deploy] == [
        "tools/call deploy", "tools/call deploy", "POST", "tools/call deploy", "POST"
    ]  # fmt: skip
    root, first, post = deploy[:3]
    assert (root.kind, first.kind) == (Span.SPAN_KIND_INTERNAL, Span.SPAN_KIND_CLIENT)
    assert (root.parent_span_id, first.parent_span_id) == (b"", root.span_id)
    assert post.parent_span_id == first.span_id
    assert said(first) == {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "deploy",
        "jsonrpc.request.id": "2",
        "mcp.protocol.version": "2026-07-28",
        "mcp_tap.round": 1,
        "mcp_tap.link": "none",
        "mcp_tap.result_type": "input_required",
        "mcp_tap.state_echo": "same",
        "mcp_tap.by": "client",
        "network.transport": "tcp",
        "server.address": "localhost",
        "server.port": 3000,
    }
    assert [event.name for event in first.events] == ["mcp_tap.ask", "mcp_tap.answer"]
    assert said(first.events[1])["mcp_tap.answer.action"] == "accept"
    assert said(root.events[0])["mcp_tap.rule"] == "SEC-021"
    assert said(post)["http.response.status_code"] == 200
    assert root.end_time_unix_nano - root.start_time_unix_nano == pytest.approx(140e6, abs=1e6)


def test_errors_are_told_as_the_conventions_have_it():
    made = {s.name: s for s in of(story().records)}
    failed = made["tools/call exprt"]
    assert said(failed)["error.type"] == "-32602"
    assert said(failed)["rpc.response.status_code"] == "-32602"
    assert (failed.status.code, failed.status.message) == (
        Status.STATUS_CODE_ERROR,
        "Unknown tool: exprt",
    )
    assert made["tools/call search"].status.code == Status.STATUS_CODE_UNSET
    traffic = Traffic()
    traffic.call("soft", {**done("no"), "isError": True})
    assert said(of(traffic.records)[0])["error.type"] == "tool_error"


def test_a_notification_is_a_span_of_its_own_and_what_is_open_lasts_to_the_end():
    made = of(story().records)
    (note,) = [s for s in made if said(s).get("mcp.method.name") == "notifications/cancelled"]
    assert (note.name, note.parent_span_id) == ("POST", b"")
    waiting = next(s for s in made if s.name == "tools/call book")
    assert waiting.end_time_unix_nano >= max(s.end_time_unix_nano for s in made[:-3])


def test_the_clients_own_span_is_linked():
    parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    for given, links in ((parent, 1), (parent.replace("4bf9", "----"), 0), (7, 0)):
        traffic = Traffic()
        traffic.call("x", done("y"), _meta={**META["_meta"], "traceparent": given})
        # `call` puts META last, so write what was wanted over it
        text = bytes(traffic.records[2].body).replace(
            b'"_meta": {', b'"_meta": {"traceparent": %s, ' % json.dumps(given).encode(), 1
        )
        traffic.records[2] = type(traffic.records[2])(
            seq=2, t=0.04, sender="client", exchange=1, body=type(traffic.records[2].body)(text)
        )
        (root, *_) = of(traffic.records)
        assert [link.span_id.hex() for link in root.links] == ["00f067aa0ba902b7"] * links


def test_no_state_argument_or_answer_is_in_a_trace():
    traffic = Traffic()
    traffic.call("t", done("the-result"), arguments={"a": "the-argument"})
    records = story().records
    for each in (records, traffic.records):
        data = b"".join(otlp_document(each[0], gathered(each), "1.0"))
        for private in (STATE, "the-argument", "the-result"):
            assert private.encode() not in data


def test_hostile_texts_and_times_are_data():
    assert len(of(hostile().records)) == 90
    for started, upstream in (("nonsense", "http://[x"), ("9999-12-31T23:59:59Z", "x")):
        traffic = Traffic(started=started, upstream=upstream)
        traffic.t = 1e12
        traffic.call("x", done("y"))
        assert len(of(traffic.records)) == 3


def test_a_run_without_traffic_is_a_document_without_spans():
    assert of([header()]) == []
