from __future__ import annotations

import base64
import json

import pytest
from msgspec import Raw

from mcp_tap.core.records import (
    Body,
    Decision,
    HttpRequest,
    HttpResponse,
    Message,
    Sse,
    Stderr,
    encode,
)
from mcp_tap.core.redact import Redactor
from mcp_tap.core.redact_records import RecordRedactor
from mcp_tap.exporting.suspects import suspects
from tests.captures import header


def _b64(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


JWT = f"{_b64(json.dumps({'alg': 'HS256'}))}.{_b64(json.dumps({'sub': 'ada'}))}.c2lnbmF0dXJl"
GITHUB = "ghp_" + "a1B2" * 9
AWS = "AKIA" + "Q7R4" * 4
SLACK = "xoxb-" + "12ab34cd56ef"
STRIPE = "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
PEM = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\n-----END PRIVATE KEY-----"
CARD = "4242 4242 4242 4242"
RANDOM = "q9Zk2-Lw8vXr"


def found(record) -> list[tuple[str, str]]:
    return [(each.at, each.kind) for each in suspects(record)]


def message(params) -> Message:
    value = {"jsonrpc": "2.0", "id": 1, "method": "x", "params": params}
    return Message(seq=4, t=0, sender="client", body=Raw(json.dumps(value).encode()))


def request(headers=(), path="/mcp") -> HttpRequest:
    return HttpRequest(
        seq=1, t=0, exchange=1, conn=1, peer="::1", method="POST", path=path, headers=list(headers)
    )


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (JWT, "a JWT"),
        (GITHUB, "a GitHub token"),
        (AWS, "an AWS key id"),
        (SLACK, "a Slack token"),
        (STRIPE, "a Stripe key"),
        (PEM, "a private key"),
        (CARD, "a card number"),
        (f"use Bearer {RANDOM}{RANDOM}", "an Authorization header"),
    ],
)
def test_values_of_well_known_make_are_found_wherever_they_stand(value, kind):
    assert found(message({"note": value})) == [("/body/params/note", kind)]
    assert found(message({"list": [1, f"it is {value}."]})) == [("/body/params/list/1", kind)]
    assert (("/text", kind)) in found(Stderr(seq=1, t=0, sender="server", text=f"got: {value} ok"))
    if "\n" not in value:
        assert found(request([("X-Note", value)])) == [("/headers/0/1", kind)]


def test_what_is_named_a_secret_counts_where_its_value_looks_like_one():
    kind = "a secret by its name"
    assert found(message({"apiKey": RANDOM})) == [("/body/params/apiKey", kind)]
    assert found(request([("X-Auth-Token", RANDOM)])) == [("/headers/0/1", kind)]
    assert found(request(path=f"/mcp?api_key={RANDOM}")) == [("/path", kind)]
    assert found(Stderr(seq=1, t=0, sender="server", text=f"PASSWORD={RANDOM}")) == [
        ("/text", kind)
    ]
    form = Body(seq=1, t=0, sender="client", text=f"a=b&client_secret={RANDOM}")
    assert found(form) == [("/text", kind)]


@pytest.mark.parametrize(
    "value",
    ["", "string", "changed", "${TOKEN}", "<your token>", "****************", "mcp-tap:" + "a" * 16,
     "the password that you chose before", 7, True, None, {"type": "string"}, "aaaaaaaaaaaaaaaa"],
)  # fmt: skip
def test_names_of_secrets_without_a_secret_are_nothing(value):
    assert found(message({"password": value, "next_page_token": RANDOM})) == []


def test_credentials_in_headers_count_unless_they_are_masked():
    raw = [("Authorization", "Bearer hunter2"), ("Cookie", "a=b"), ("x-api-key", GITHUB)]
    assert found(request(raw)) == [
        ("/headers/0/1", "a credential"),
        ("/headers/1/1", "a credential"),
        ("/headers/2/1", "a GitHub token"),
    ]
    masked = RecordRedactor(Redactor(b"k" * 32), (), default=True).masked_record(request(raw))
    assert found(masked) == []


def test_a_password_in_a_url_is_found_also_in_the_header_of_the_capture():
    kind = "a password in a URL"
    assert found(header(upstream="http://ada:swordfish@host/mcp")) == [("/upstream", kind)]
    response = HttpResponse(
        seq=1, t=0, exchange=1, status=302, headers=[("Location", "http://ada:swordfish@host/")]
    )
    assert found(response) == [("/headers/0/1", kind)]
    assert found(header(upstream="http://host/a@b?c=d")) == []
    assert found(header(upstream="http://[bad?a=b")) == []


@pytest.mark.parametrize(
    "text", ["4242 4242 4242 4243", "1234567890123456789012345", "1.4242424242424242", "2026-07-28"]
)
def test_numbers_that_are_no_card_are_nothing(text):
    assert found(message({"number": text})) == []


def test_a_card_number_may_be_a_number():
    assert found(message({"n": 4242424242424242})) == [("/body/params/n", "a card number")]


def test_values_of_large_and_deep_messages_are_looked_at():
    text = '{"jsonrpc":"2.0","params":' + "[" * 3000 + f'"{GITHUB}"' + "]" * 3000 + "}"
    assert len(found(Message(seq=1, t=0, sender="client", body=Raw(text.encode())))) == 1
    text = '{"jsonrpc":"2.0","params":{"pad":"' + "x" * (1 << 20) + f'","k":"{GITHUB}"}}}}'
    large = Message(seq=1, t=0, sender="client", text=text)
    assert found(large) == [("/body/params/k", "a GitHub token")]


def test_no_suspect_holds_the_value_and_each_place_is_told_once():
    record = message({"token": f"{GITHUB} {GITHUB}"})
    told = list(suspects(record))
    assert len(told) == 1
    assert (told[0].seq, told[0].key) == (4, "token")
    assert GITHUB.encode() not in encode(record).replace(GITHUB.encode(), b"") + repr(told).encode()


@pytest.mark.parametrize(
    ("record", "at"),
    [
        (request(path=f"/mcp/{GITHUB}"), "/path"),
        (request(path=f"/mcp?state={GITHUB.replace('_', '%5F')}"), "/path"),
        (header(label=GITHUB), "/label"),
        (HttpResponse(seq=1, t=0, exchange=1, status=400, headers=[], reason=GITHUB), "/reason"),
        (Message(seq=1, t=0, sender="server", text="x", sse=Sse(id=GITHUB)), "/sse/id"),
        (Decision(seq=1, t=0, hook="tap", verdict="x", why=f"no {GITHUB}"), "/why"),
    ],
)
def test_heads_events_and_words_of_the_tap_are_looked_through(record, at):
    assert found(record) == [(at, "a GitHub token")]


def test_a_secret_that_is_a_name_is_found_and_stands_in_no_pointer():
    record = message({GITHUB: {"password": RANDOM, AWS: [RANDOM]}})
    told = [(each.at, each.kind) for each in suspects(record)]
    assert told == [
        ("/body/params", "a GitHub token for a name"),
        ("/body/params/***", "an AWS key id for a name"),
        ("/body/params/***/password", "a secret by its name"),
    ]
    assert GITHUB not in repr(list(suspects(request(path=f"/?{GITHUB}={GITHUB}"))))


def test_json_in_a_text_is_looked_through_as_json():
    text = json.dumps({"user": "ada", "login": json.dumps([{"password": RANDOM}])})
    assert found(message({"text": f" {text}"})) == [("/body/params/text", "a secret by its name")]
    assert found(message({"text": f"{{{text}"})) == []


def test_a_password_in_a_url_is_found_in_running_text_unless_it_stands_for_one():
    kind = "a password in a URL"
    assert found(message({"db": "at postgres://app:swordfish@db/x."})) == [
        ("/body/params/db", kind)
    ]
    for given in (
        "postgres://user:password@db",
        "redis://:<secret>@db",
        "http://h:80/a@b",
        "a:b@c",
    ):
        assert found(message({"db": given})) == []
