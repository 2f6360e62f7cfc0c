"""Model objects for tests, made by hand: what the correlator would make of a real run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from mcp_tap.core.finding import Finding
from mcp_tap.core.model import Ask, Call, Exchange, Fault, Identity, Round, Said
from mcp_tap.core.records import Header

STARTED = "2026-07-28T12:04:00+00:00"
SERVER = "billing"
CLIENT = Identity(name="demo-client/1.0", user_agent="python-httpx2/2.16")


def header(**given: Any) -> Header:
    fields: dict[str, Any] = {
        "seq": 0,
        "t": 0.0,
        "format": 1,
        "tool": "mcp-tap/0.1.0",
        "run": "20260728T120400-billing-7f3a",
        "started": STARTED,
        "transport": "http",
        "upstream": "http://localhost:3000/mcp",
        "listen": "http://127.0.0.1:7777/mcp",
        "label": SERVER,
    }
    return Header(**(fields | given))


def read(head: Header | None = None, **given: Any) -> SimpleNamespace:
    """Make what a reader says of a capture, once it was read to its end."""
    fields = {"header": head or header(), "lost": 0, "torn": None, "clean": True}
    return SimpleNamespace(**(fields | given))


def ask(key: str, **given: Any) -> Ask:
    kind = given.pop("kind", "form")
    methods = {"sampling": "sampling/createMessage", "roots": "roots/list"}
    fields: dict[str, Any] = {
        "key": key,
        "kind": kind,
        "method": methods.get(kind, "elicitation/create"),
        "params": given.pop("params", {"message": f"What about {key}?"}),
        "seq": 3,
        "t": given.pop("t", 7.229),
    }
    return Ask(**(fields | given))


def answered(key: str, action: str = "accept", **given: Any) -> Ask:
    made = ask(key, **given)
    made.action = action
    if made.answered_by == "none":
        made.answered_by = "client"
    if "answer_t" not in given:
        made.answer_t = made.t + 2.0
    if made.answer is None:
        made.answer = {"action": action} | ({"content": {"ok": True}} if action == "accept" else {})
    return made


def round_(number: int, t: float, end: float | None, **given: Any) -> Round:
    fields: dict[str, Any] = {
        "number": number,
        "exchange": given.pop("exchange", number),
        "request_id": given.pop("request_id", number),
        "t": t,
        "end": end,
        "request_seq": number * 5,
        "status": None if end is None else 200,
        "result_type": None if end is None else "complete",
        "conn": 1,
        "size": 312,
    }
    return Round(**(fields | given))


def call(number: int, name: str | None = "search", **given: Any) -> Call:
    t = given.pop("t", 3.0)
    end = given.pop("end", t + 0.21)
    rounds = given.pop("rounds", None)
    if rounds is None:
        fault = given.pop("fault", None)
        rounds = [round_(1, t, end, fault=fault, exchange=number, request_id=number)]
    fields: dict[str, Any] = {
        "number": number,
        "method": given.pop("method", "tools/call"),
        "name": name,
        "t": t,
        "end": end,
        "era": "stateless",
        "version": "2026-07-28",
        "identity": CLIENT,
        "client": "demo-client/1.0",
        "server": SERVER,
        "outcome": "ok",
        "rounds": rounds,
        "server_s": 0.0 if end is None else end - t,
    }
    return Call(**(fields | given))


def deploy(number: int = 16) -> Call:
    """Three rounds, two asks answered by the client, the second state changed on its way back."""
    schema = {
        "type": "object",
        "properties": {"proceed": {}, "reason": {}},
        "required": ["proceed"],
    }
    confirm = answered(
        "confirm",
        params={"message": "Deploy billing 2026.7.1?", "requestedSchema": schema},
        t=7.229,
        answer={"action": "accept", "content": {"proceed": True}},
    )
    window = answered("window", params={"message": "Когда? いつ?"}, t=7.39)
    confirm.answer_t, window.answer_t = 7.23, 13.204
    arguments = {"service": "billing", "version": "2026.7.1"}
    rounds = [
        round_(1, 7.218, 7.229, request_id=7, result_type="input_required", state="s1" * 156,
               echo="same", asks=[confirm], arguments=arguments, exchange=20),
        round_(2, 7.23, 7.39, request_id="t1", result_type="input_required", state="s2" * 156,
               echo="changed", asks=[window], arguments=arguments, link="state", exchange=21,
               sent_state="s1" * 156, answers={"confirm": confirm.answer}),
        round_(3, 13.204, 13.338, request_id=8, arguments=arguments, link="keys", exchange=22,
               sent_state="s2" * 20 + "xx" + "s2" * 135, answers={"window": window.answer},
               result=Said(text="billing 2026.7.1 is out", more=1)),
    ]  # fmt: skip
    return call(
        number,
        "deploy",
        t=7.218,
        end=13.338,
        rounds=rounds,
        server_s=0.305,
        client_s=5.815,
    )


def booking(number: int = 17) -> Call:
    """Two rounds; the second waits for its answer."""
    seat = ask(
        "seat",
        params={
            "message": "Which seat do you want?",
            "requestedSchema": {"properties": {"seat": {}, "bags": {}}, "required": ["seat"]},
        },
        t=15.3,
    )
    rounds = [
        round_(1, 15.0, 15.01, request_id=9, result_type="input_required", state="a" * 40,
               echo="same", asks=[answered("who", t=15.01, answer_t=None)], exchange=23),
        round_(2, 15.2, 15.3, request_id=10, result_type="input_required", state="b" * 40,
               asks=[seat], link="state", sent_state="a" * 40, exchange=24),
    ]  # fmt: skip
    return call(number, "book_flight", t=15.0, end=None, outcome="waiting", rounds=rounds)


def failed(number: int = 18) -> Call:
    fault = Fault(code=-32602, message="Unknown tool: exprt")
    return call(number, "exprt", t=16.0, end=16.009, outcome="error", fault=fault)


def stream(number: int = 19) -> Call:
    rounds = [round_(1, 17.0, None, request_id=12, exchange=26, status=200)]
    return call(
        number, None, method="subscriptions/listen", t=17.0, end=None, outcome="open",
        kind="stream", rounds=rounds,
    )  # fmt: skip


def run() -> list[Call]:
    """The run the drawings of the manual show."""
    return [
        call(14, None, method="tools/list", t=1.0, end=1.012),
        call(15, "search"),
        deploy(),
        booking(),
        failed(),
        stream(),
    ]


def exchange(number: int = 30, **given: Any) -> Exchange:
    fields: dict[str, Any] = {
        "number": number,
        "t": given.pop("t", 2.0),
        "conn": 3,
        "verb": "POST",
        "path": "/mcp",
        "status": 202,
        "identity": CLIENT,
        "era": "stateless",
        "kind": "notification",
        "method": "notifications/cancelled",
        "how": "complete",
        "end": 2.003,
    }
    return Exchange(**(fields | given))


def finding(rule: str = "MRTR-016", severity: str = "error", **given: Any) -> Finding:
    fields: dict[str, Any] = {
        "name": "retry-state-modified",
        "level": "must",
        "blame": "client",
        "message": "client echoed another requestState",
        "seq": 7,
        "t": 1.5,
        "call": 16,
        "round": 3,
        "exchange": 4,
    }
    return Finding(rule=rule, severity=severity, **(fields | given))
