from __future__ import annotations

import json

import pytest
from msgspec import Raw

from mcp_tap.core.records import (
    Body,
    Closed,
    Decision,
    Digest,
    HttpRequest,
    HttpResponse,
    Mask,
    Message,
    Sse,
    Stderr,
    encode,
)
from mcp_tap.core.redact import Redactor
from mcp_tap.core.redact_records import RecordRedactor
from tests.captures import header

KEY = b"k" * 32
SECRET = "hunter2-hunter2"


def redacting(*specs: str, default: bool = True, key: bytes = KEY) -> RecordRedactor:
    return RecordRedactor(Redactor(key, default=default, specs=specs), specs, default=default)


def message(value, **fields) -> Message:
    return Message(
        seq=7, t=0.5, sender="client", exchange=1, body=Raw(json.dumps(value).encode()), **fields
    )


def request(**fields) -> HttpRequest:
    given = {"method": "POST", "path": "/mcp", "headers": [], "conn": 1, "peer": "127.0.0.1"}
    return HttpRequest(seq=1, t=0.1, exchange=1, **{**given, **fields})


CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"password": SECRET}}


@pytest.mark.parametrize("spec", ["key:pass*", "path:$.params.password", "value:hunter2"])
def test_a_message_is_masked_as_a_live_run_would_have_masked_it(spec):
    job, redactor = redacting(spec), Redactor(KEY, specs=[spec])
    payload = json.dumps(CALL).encode()
    live, _, masks = redactor.message(payload, CALL)
    masked = job.masked_record(message(CALL))
    assert (masked.payload(), masked.masked) == (live, masks)
    assert (masked.seq, masked.t, job.masked, job.records) == (7, 0.5, 1, 1)


def test_a_record_without_anything_to_mask_is_given_back_itself():
    record = message({**CALL, "params": {}})
    spaced = Message(seq=1, t=0, sender="client", text='{ "jsonrpc":"2.0",\n"id":1.0 }')
    job = redacting("key:password", "value:hunter2", "header:x-none")
    for each in (record, spaced, request(), header_less()):
        assert job.masked_record(each) is each
    assert job.masked == 0


def header_less() -> Closed:
    none = Digest(bytes=0, sha256="0" * 64)
    return Closed(seq=3, t=1, exchange=1, how="complete", request=none, response=none)


def test_what_is_masked_already_stays_with_all_that_is_known_of_it():
    first = redacting("key:password").masked_record(message(CALL))
    job = redacting("key:password", "value:mcp-tap", "value:[0-9a-f]{16}", key=b"o" * 32)
    again = job.masked_record(first)
    assert again is first
    assert again.masked[0].length == len(SECRET)
    assert job.masked == 0


def test_credentials_masked_before_keep_their_facts_and_others_are_masked_beside_them():
    raw = request(
        path="/mcp?token=abc",
        headers=[("Authorization", "Bearer abcdef"), ("Cookie", "a=b; c=d"), ("X-Team", "blue")],
    )
    once = redacting().masked_record(raw)
    assert len(once.masked) == 3
    twice = redacting("header:x-team", key=b"o" * 32).masked_record(once)
    assert twice.masked[:3] == once.masked
    assert [m.at for m in twice.masked] == ["/path", "/headers/0/1", "/headers/1/1", "/headers/2/1"]
    assert twice.headers[:2] == once.headers[:2]
    assert "blue" not in str(twice.headers)


def test_the_same_secret_elsewhere_in_a_text_is_masked_though_its_tag_is_known():
    text = f"token={SECRET}&user={SECRET}"
    once = redacting("key:token").masked_record(Stderr(seq=1, t=0, sender="server", text=text))
    assert once.text.count(SECRET) == 1
    job = redacting(f"value:{SECRET}")
    twice = job.masked_record(once)
    assert SECRET not in twice.text
    assert job.masked == 1


def test_masks_inside_of_what_is_now_masked_whole_are_dropped():
    once = redacting("key:password").masked_record(message(CALL))
    whole = redacting("path:$.params").masked_record(once)
    assert [mask.at for mask in whole.masked] == ["/body/params"]
    assert json.loads(whole.payload())["params"].startswith("mcp-tap:")


@pytest.mark.parametrize(
    "record",
    [
        request(path=f"/mcp/{SECRET}"),
        request(headers=[("X-A", SECRET)]),
        HttpResponse(seq=1, t=0, exchange=1, status=200, headers=[], reason=SECRET),
        HttpResponse(seq=1, t=0, exchange=1, status=200, headers=[("Location", f"/{SECRET}")]),
        message({"jsonrpc": "2.0", "result": [{"a": SECRET}]}),
        message(CALL, sse=Sse(id=SECRET, event=SECRET)),
        Message(seq=1, t=0, sender="client", text=f'{{"jsonrpc": "{SECRET}', truncated=True),
        Message(seq=1, t=0, sender="client", b64=b"\xff" + SECRET.encode()),
        Body(seq=1, t=0, sender="client", text=f"a={SECRET}", content_type="text/plain"),
        Body(seq=1, t=0, sender="client", text="a", content_type=f"multipart/x; boundary={SECRET}"),
        Stderr(seq=1, t=0, sender="server", text=SECRET),
        Decision(seq=1, t=0, hook="h", verdict="v", why=f"since {SECRET}"),
        Decision(seq=1, t=0, hook="h", verdict="v", why="", entry=f"say {SECRET}"),
        header(label=SECRET),
        header(listen=f"http://{SECRET}:7777/mcp"),
        header(upstream=f"http://h/{SECRET}"),
        header(upstream=f"server --name {SECRET}", transport="stdio"),
    ],
)
def test_a_value_is_masked_wherever_it_stands(record):
    job = redacting("value:hunter2[-a-z0-9]*")
    masked = job.masked_record(record)
    assert SECRET.encode() not in encode(masked)
    assert type(masked) is type(record)
    assert (job.masked > 0, job.records) == (True, 1)
    assert job.masked_record(masked) == masked


def test_oauth_fields_of_other_payloads_are_masked_by_default_only():
    form = Body(
        seq=2, t=0, sender="client", exchange=1, text=f"grant_type=x&code={SECRET}",
        content_type="application/x-www-form-urlencoded",
    )  # fmt: skip
    assert SECRET not in redacting().masked_record(form).text
    assert redacting(default=False).masked_record(form) is form


def test_what_cannot_be_read_on_the_way_to_tokens_is_masked_whole():
    job = redacting()
    job.masked_record(request(path="/oauth/token"))
    packed = Body(seq=2, t=0, sender="client", exchange=1, b64=b"\x01\x02\xff\xfe" * 9)
    assert job.masked_record(packed).payload().startswith(b"mcp-tap:")


def test_the_header_says_what_is_masked_and_names_a_key_only_where_it_is_that_of_all_tags():
    job = redacting("value:hunter2", "key:x")
    plain = job.masked_record(header(redaction=[], key=None))
    assert plain.redaction == ["default", "value:mcp-tap:" + Redactor(KEY).tag("hunter2"), "key:x"]
    own = Redactor(KEY).fingerprint
    assert plain.key == own
    assert job.masked_record(header(redaction=["default"], key=own)).key == own
    assert job.masked_record(header(redaction=["default"], key="another")).key is None
    assert job.masked_record(header(redaction=[], key="another")).key == own
    assert job.masked_record(header(redaction=["default", "key:x"])).redaction.count("key:x") == 1


def test_a_large_message_is_looked_through_to_its_end():
    body = json.dumps({**CALL, "pad": "x" * (1 << 20), "deep": {"password": SECRET}})
    masked = redacting("key:password").masked_record(
        Message(seq=1, t=0, sender="client", text=body)
    )
    assert SECRET not in masked.text
    assert len(masked.masked) == 2


def test_a_header_field_no_wire_could_have_carried_hinders_nothing():
    masked = redacting("value:hunter2").masked_record(request(headers=[("ж", "hunter2 ж")]))
    assert isinstance(masked.masked[0], Mask)
