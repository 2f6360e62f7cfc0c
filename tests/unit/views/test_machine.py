from __future__ import annotations

import json
from hashlib import sha256

import msgspec
import pytest

from mcp_tap.capture.reader import Torn
from mcp_tap.core.model import Fault
from mcp_tap.views import machine
from mcp_tap.views.show_doc import CallDoc, ShowDoc
from tests import builders as b


def told(call):
    return json.loads(machine.encode(machine.call_doc(call)))


def document(calls=(), exchanges=(), **given):
    shown = {"path": given.pop("path", "run.jsonl"), "records": 9}
    capture = machine.capture_doc(b.read(**given), **shown)
    return machine.document_bytes(
        machine.show_document(
            capture,
            [machine.encode(machine.call_doc(c)) for c in calls],
            [machine.encode(machine.exchange_doc(e)) for e in exchanges],
        )
    )


def test_a_call_is_told_with_its_rounds():
    doc = told(b.deploy())
    assert {k: v for k, v in doc.items() if k != "rounds"} == {
        "call": 16,
        "method": "tools/call",
        "name": "deploy",
        "era": "stateless",
        "version": "2026-07-28",
        "kind": "call",
        "client": "demo-client/1.0",
        "server": "billing",
        "outcome": "ok",
        "why": None,
        "task": None,
        "started_ms": 7218.0,
        "duration_ms": 6120.0,
        "server_ms": 305.0,
        "client_ms": 5815.0,
        "tap_ms": 0.0,
        "fault": None,
        "blame": None,
        "findings": [],
        "dropped": 0,
        "other_exchanges": [],
    }
    assert [(r["round"], r["exchange"], r["request_id"], r["link"]) for r in doc["rounds"]] == [
        (1, 20, 7, "none"),
        (2, 21, "t1", "state"),
        (3, 22, 8, "keys"),
    ]
    assert [r["result_type"] for r in doc["rounds"]] == [
        "input_required",
        "input_required",
        "complete",
    ]


def test_a_state_is_told_by_its_size_digest_and_echo():
    first, second, last = (r["request_state"] for r in told(b.deploy())["rounds"])
    assert first == {
        "bytes": 312,
        "sha256": sha256(b"s1" * 156).hexdigest(),
        "echo": "same",
    }
    assert second["echo"] == "changed"
    assert last == {"bytes": 0, "sha256": None, "echo": "none"}
    assert "s1s1" not in json.dumps(told(b.deploy()))


def test_an_ask_stands_in_the_round_that_asked_with_the_answer_of_the_next():
    first, second, last = (r["asks"] for r in told(b.deploy())["rounds"])
    assert first == [
        {
            "key": "confirm",
            "kind": "form",
            "method": "elicitation/create",
            "mode": "form",
            "message": "Deploy billing 2026.7.1?",
            "action": "accept",
            "answered_by": "client",
            "entry": None,
            "waited_ms": 1.0,
        }
    ]
    assert [a["key"] for a in second] == ["window"]
    assert last == []


def test_an_ask_that_waits_has_no_action():
    asks = told(b.booking())["rounds"][1]["asks"]
    assert [(a["action"], a["answered_by"], a["waited_ms"]) for a in asks] == [(None, "none", None)]


@pytest.mark.parametrize(
    ("kind", "mode"), [("form", "form"), ("url", "url"), ("sampling", None), ("roots", None)]
)
def test_the_mode_is_that_of_an_elicitation(kind, mode):
    call = b.booking()
    call.rounds[1].asks = [b.ask("x", kind=kind, params={})]
    ask = told(call)["rounds"][1]["asks"][0]
    assert (ask["mode"], ask["message"]) == (mode, None)


@pytest.mark.parametrize("request_id", [7, "7", 12345678901234567890, -(2**70), 1.5, None, [1]])
def test_ids_are_exact(request_id):
    call = b.call(1)
    call.rounds[0].request_id = request_id
    found = told(call)["rounds"][0]["request_id"]
    assert (type(found), found) == (type(request_id), request_id)


def test_a_fault_is_told_for_the_round_and_for_the_call():
    doc = told(b.failed())
    assert doc["fault"] == {"code": -32602, "message": "Unknown tool: exprt", "sender": "server"}
    assert doc["rounds"][0]["fault"] == doc["fault"]
    call = b.call(1, outcome="error", fault=Fault(code="timeout", message="", sender="tap"))
    assert told(call)["fault"]["code"] == "timeout"


def test_what_has_not_ended_has_no_duration():
    doc = told(b.booking())
    assert (doc["duration_ms"], doc["outcome"]) == (None, "waiting")
    assert told(b.stream())["rounds"][0]["duration_ms"] is None


def test_the_document_has_the_shape_of_the_contract():
    raw = document(b.run(), [b.exchange()])
    doc = msgspec.json.decode(raw, type=ShowDoc)
    assert [call.call for call in doc.calls] == [14, 15, 16, 17, 18, 19]
    assert list(json.loads(raw)) == ["version", "capture", "calls", "exchanges"]
    assert json.loads(raw)["exchanges"] == [
        {
            "number": 30,
            "verb": "POST",
            "path": "/mcp",
            "kind": "notification",
            "method": "notifications/cancelled",
            "status": 202,
            "how": "complete",
            "why": None,
            "findings": [],
            "started_ms": 2000.0,
            "duration_ms": 3.0,
        }
    ]


def test_the_capture_says_what_is_wrong_with_it():
    doc = json.loads(document(torn=Torn(4112, 17, "run.jsonl"), clean=False, lost=3, path=None))
    assert doc["capture"] == {
        "run": "20260728T120400-billing-7f3a",
        "path": None,
        "started": b.STARTED,
        "tool": "mcp-tap/0.1.0",
        "transport": "http",
        "upstream": "http://localhost:3000/mcp",
        "label": "billing",
        "format": 1,
        "records": 9,
        "lost": 3,
        "torn": {"line": 4112, "bytes": 17},
        "clean": False,
    }


def test_every_call_fits_the_struct_that_describes_it():
    for call in b.run():
        msgspec.json.decode(machine.encode(machine.call_doc(call)), type=CallDoc)


def test_what_a_terminal_would_obey_is_escaped_and_stays_what_it_is():
    nasty = "\x1b[2J\x9b\x7f\u202e東京"
    call = b.call(1, nasty, client=nasty)
    raw = machine.encode(machine.call_doc(call))
    assert not {"\x1b", "\x9b", "\x7f", "\u202e"} & set(raw.decode())
    assert json.loads(raw)["name"] == nasty
    assert b"\n" not in raw


def test_the_schema_knows_every_part():
    assert set(machine.schema()["$defs"]) == {
        "ShowDoc", "CaptureDoc", "TornDoc", "CallDoc", "RoundDoc", "StateDoc", "AskDoc",
        "FaultDoc", "ExchangeDoc", "BlameDoc", "FindingDoc",
    }  # fmt: skip
