from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs
import pytest
from msgspec import Raw

from mcp_tap.core.records import (
    Body,
    Closed,
    Digest,
    HttpRequest,
    HttpResponse,
    Message,
    Sse,
)
from mcp_tap.core.redact import Redactor
from mcp_tap.core.redact_records import RecordRedactor
from mcp_tap.exporting.har import har_document
from tests.captures import header
from tests.exports import GOLDEN, gathered, golden, hostile
from tests.traffic import story

SCHEMA = Path(__file__).parents[2] / "data" / "har-1.2.schema.json"
VALID = jsonschema_rs.validator_for(json.loads(SCHEMA.read_text()), validate_formats=True)


def har(records) -> dict:
    return log(b"".join(har_document(records[0], gathered(records), "1.0")))


def log(data: bytes) -> dict:
    document = json.loads(data)
    VALID.validate(document)
    return document["log"]


def talk(**fields):
    """One exchange of a run."""
    request = {"method": "POST", "path": "/mcp", "headers": [("Content-Type", "text/plain")]}
    request |= fields.pop("request", {})
    response = {"status": 200, "headers": [], **fields.pop("response", {})}
    out = [header(listen="http://127.0.0.1:7777/mcp")]
    out.append(HttpRequest(seq=1, t=1.0, exchange=1, conn=4, peer="::1", **request))
    out += fields.pop("sent", [])
    out.append(HttpResponse(seq=3, t=1.25, exchange=1, **response))
    out += fields.pop("received", [])
    digests = {"request": Digest(bytes=7, sha256="0" * 64)}
    digests["response"] = Digest(bytes=9, sha256="0" * 64)
    given = {"how": "complete", "sent": 1.1, "first_byte": 1.25, **digests, **fields}
    return [*out, Closed(seq=9, t=2.0, exchange=1, **given)]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_captures_become_valid_archives_with_an_entry_an_exchange(path):
    head, found = golden(path)
    made = log(b"".join(har_document(head, found, "1.0")))
    wanted = {r.exchange for _, rs in found for r in rs if isinstance(r, HttpRequest)}
    assert sorted(e["_mcp"]["exchange"] for e in made["entries"]) == sorted(wanted)
    times = [entry["startedDateTime"] for entry in made["entries"]]
    assert times == sorted(times)


def test_hostile_texts_are_data():
    assert len(har(hostile().records)["entries"]) == 30


def test_an_entry_says_which_call_and_round_it_is_and_what_was_found():
    entries = har(story().records)["entries"]
    assert [(e["_mcp"]["call"], e["_mcp"].get("round")) for e in entries] == [
        (1, 1), (2, 1), (2, 2), (3, 1), (None, None), (4, 1)
    ]  # fmt: skip
    assert entries[2]["_mcp"]["link"] == "state"
    assert entries[1]["_mcp"]["resultType"] == "input_required"
    assert [f["rule"] for f in entries[1]["_mcp"]["findings"]] == ["SEC-021"]
    assert entries[2]["_mcp"]["findings"] == []
    assert entries[4]["_mcp"]["method"] == "notifications/cancelled"


def test_times_are_those_of_the_records():
    (entry,) = har(talk())["entries"]
    assert entry["startedDateTime"] == "2026-07-28T12:04:02.250+00:00"
    timings = {k: v for k, v in entry["timings"].items() if v != -1}
    assert timings == {"blocked": 100.0, "send": 0.0, "wait": 150.0, "receive": 750.0}
    assert entry["time"] == 1000.0
    assert entry["connection"] == "4"


def test_urls_and_queries_are_what_the_client_dialled():
    path = "/mcp?a=1&b=%20x&c=\xe9<"
    request = har(talk(request={"path": path}))["entries"][0]["request"]
    assert request["url"] == "http://127.0.0.1:7777/mcp?a=1&b=%20x&c=%E9%3C"
    assert request["queryString"][:2] == [
        {"name": "a", "value": "1"},
        {"name": "b", "value": " x"},
    ]
    for odd, url in (("*", "http://127.0.0.1:7777/*"), ("http://o/x", "http://o/x")):
        assert har(talk(request={"path": odd}))["entries"][0]["request"]["url"] == url


def test_bodies_are_whole_and_in_base64_where_they_are_no_text():
    sent = [Body(seq=2, t=1, sender="client", exchange=1, b64=b"\xff\x00", truncated=True, size=9)]
    received = [Body(seq=4, t=1, sender="server", exchange=1, b64=b"\x89PNG\xff")]
    (entry,) = har(talk(sent=sent, received=received))["entries"]
    post = entry["request"]["postData"]
    assert (post["text"], post["_encoding"], post["mimeType"]) == ("/wA=", "base64", "text/plain")
    assert post["comment"] == "cut: the first 2 of 9 bytes were recorded"
    content = entry["response"]["content"]
    assert (content["text"], content["encoding"], content["size"]) == ("iVBOR/8=", "base64", 5)
    assert (entry["request"]["bodySize"], entry["response"]["bodySize"]) == (7, 9)


def test_event_streams_are_put_together():
    kind = {"headers": [("content-type", "text/event-stream")]}
    received = [
        Message(seq=n, t=1, sender="server", exchange=1, text=f"{n}", sse=Sse(id=str(n)))
        for n in (4, 5)
    ]
    (entry,) = har(talk(response=kind, received=received))["entries"]
    assert entry["response"]["content"]["text"] == "id: 4\ndata: 4\n\nid: 5\ndata: 5\n\n"


def test_cookies_are_taken_apart_and_nonsense_stays_a_header():
    (entry,) = har(
        talk(
            request={"headers": [("Cookie", "a=b; c=d")]},
            response={
                "headers": [
                    ("Set-Cookie", "s=1; Path=/; HttpOnly; Secure; Domain=h"),
                    ("Set-Cookie", "\x01(="),
                    ("Location", "/next"),
                ]
            },
        )
    )["entries"]
    assert [c["name"] for c in entry["request"]["cookies"]] == ["a", "c"]
    assert entry["response"]["cookies"] == [
        {"name": "s", "value": "1", "path": "/", "domain": "h", "httpOnly": True, "secure": True}
    ]
    assert entry["response"]["redirectURL"] == "/next"
    assert len(entry["response"]["headers"]) == 3


def test_what_is_masked_is_its_tag():
    records = talk(request={"path": "/mcp?token=abc", "headers": [("Authorization", "Bearer x")]})
    job = RecordRedactor(Redactor(b"k" * 32), (), default=True)
    request = har([job.masked_record(r) for r in records])["entries"][0]["request"]
    assert request["headers"][0]["value"].startswith("Bearer mcp-tap:")
    assert "token=mcp-tap:" in request["url"]


def test_an_exchange_that_failed_or_goes_on_has_an_entry_too():
    ping = Raw(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    sent = [Message(seq=2, t=1.0, sender="client", exchange=1, body=ping)]
    failed = talk(sent=sent, how="upstream_down", why="connection refused")
    (entry,) = har([r for r in failed if not isinstance(r, HttpResponse)])["entries"]
    assert entry["response"]["status"] == 0
    assert entry["response"]["_error"] == "upstream_down: connection refused"
    (entry,) = har(failed[:-1])["entries"]
    assert (entry["response"]["bodySize"], entry["time"]) == (-1, 250.0)


def test_a_run_without_traffic_is_an_empty_archive():
    assert har([header()])["entries"] == []
