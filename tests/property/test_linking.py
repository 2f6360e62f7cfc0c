"""Linking under any interleaving: several clients, equal ids, one tool called in parallel.

A small world with a known truth plays a drawn sequence of events: calls begin, the server asks or
finishes, clients answer, responses get lost and answers are sent again.  Two things must hold:

- no call of the pipeline ever holds exchanges of two true calls;
- a true call is in one piece, unless one of its answers looked exactly like an answer to another
  call that was waiting at that moment.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw, Struct

from mcp_tap.core.model import Call
from mcp_tap.core.records import (
    AnyRecord,
    Closed,
    Digest,
    HttpRequest,
    HttpResponse,
    Message,
)
from mcp_tap.pipeline import Pipeline
from tests.talk import packed

NOTHING = Digest(bytes=0, sha256="")
VERSION = "2026-07-28"


class Tool(Struct, frozen=True):
    name: str
    method: str
    states: str
    """unique, constant, per_step, none"""
    asks: bool
    rounds: int


TOOLS = [
    Tool("book", "tools/call", "unique", asks=True, rounds=2),
    Tool("const", "tools/call", "constant", asks=True, rounds=2),
    Tool("steps", "tools/call", "per_step", asks=True, rounds=3),
    Tool("bare", "tools/call", "none", asks=True, rounds=2),
    Tool("poll", "tools/call", "unique", asks=False, rounds=3),
    Tool("spin", "tools/call", "constant", asks=False, rounds=2),
    Tool("brief", "prompts/get", "none", asks=True, rounds=1),
    Tool("lab://vault", "resources/read", "constant", asks=True, rounds=1),
]


class TrueCall(Struct, eq=False):
    number: int
    client: int
    tool: Tool
    arguments: Any
    step: int = 0
    flying: int | None = None
    """Exchange in progress."""
    waits: tuple[str | None, tuple[str, ...]] | None = None
    """State and keys of the round that waits for its answer."""
    resend: bool = False
    over: bool = False


class World:
    def __init__(self) -> None:
        self.pipeline = Pipeline(judging=False)
        self.calls: list[TrueCall] = []
        self.truth: dict[int, int] = {}
        self.ids: dict[int, int] = {}
        self.seq = 0
        self.t = 0.0
        self.exchanges = 0
        self.fresh = 0
        self.seen: dict[int, Call] = {}
        self.excused: set[int] = set()
        self.blurred: set[Any] = set()

    def feed(self, kind: type, **facts: Any) -> None:
        self.seq += 1
        self.t += 0.01
        record: AnyRecord = kind(seq=self.seq, t=self.t, **facts)
        for change in self.pipeline.feed(record):
            if isinstance(change, Call):
                self.seen[change.number] = change

    def message(self, exchange: int, sender: str, value: Any) -> None:
        self.feed(Message, exchange=exchange, sender=sender, body=Raw(packed(value)))

    def request(self, call: TrueCall, extra: dict[str, Any]) -> None:
        self.exchanges += 1
        number = self.exchanges
        self.truth[number] = call.number
        call.flying = number
        # Clients 0 and 1 are two processes nobody can tell apart; client 2 has another name.
        name = "twin" if call.client < 2 else "other"
        request_id = self.ids.get(call.client, 0)
        self.ids[call.client] = request_id + 1
        key = "uri" if call.tool.method == "resources/read" else "name"
        params: dict[str, Any] = {
            key: call.tool.name,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": VERSION,
                "io.modelcontextprotocol/clientInfo": {"name": name, "version": "1"},
            },
            **extra,
        }
        if call.arguments is not None:
            params["arguments"] = call.arguments
        self.feed(
            HttpRequest,
            exchange=number,
            conn=number,
            peer="127.0.0.1",
            method="POST",
            path="/mcp",
            headers=[("MCP-Protocol-Version", VERSION), ("User-Agent", "sdk/1")],
        )
        body = {"jsonrpc": "2.0", "id": request_id, "method": call.tool.method, "params": params}
        self.message(number, "client", body)
        self.ids[-number] = request_id

    def begin(self, client: int, tool: Tool, arguments: Any) -> None:
        if tool.method == "resources/read":
            arguments = None
        call = TrueCall(len(self.calls), client, tool, arguments)
        self.calls.append(call)
        self.request(call, {})

    def respond(self, call: TrueCall, how: str) -> None:
        number = call.flying
        assert number is not None
        call.flying = None
        retried = call.waits
        if how == "lost":
            self.close(number, "upstream_cut")
            call.resend = retried is not None
            call.over = retried is None
            return
        call.resend = False
        value: dict[str, Any] = {"jsonrpc": "2.0", "id": self.ids[-number]}
        if how == "error":
            call.over, call.waits = True, None
            value["error"] = {"code": -32603, "message": "no"}
        elif call.step >= call.tool.rounds:
            call.over, call.waits = True, None
            value["result"] = {"resultType": "complete", "content": []}
        else:
            call.step += 1
            state, keys = self.state_of(call), (f"k{call.step}",) if call.tool.asks else ()
            call.waits = (state, keys)
            value["result"] = result = {"resultType": "input_required"}
            if state is not None:
                result["requestState"] = state
            if keys:
                result["inputRequests"] = {k: {"method": "roots/list"} for k in keys}  # type: ignore[assignment]
        self.feed(HttpResponse, exchange=number, status=200, headers=[])
        self.message(number, "server", value)
        self.close(number, "complete")

    def close(self, number: int, how: str) -> None:
        self.feed(Closed, exchange=number, how=how, request=NOTHING, response=NOTHING)

    def state_of(self, call: TrueCall) -> str | None:
        self.fresh += 1
        return {
            "unique": f"state-{self.fresh}",
            "constant": "always",
            "per_step": f"step-{call.step}",
            "none": None,
        }[call.tool.states]

    def looks(self, call: TrueCall) -> Any:
        who = min(call.client, 1) if call.client < 2 else call.client
        return (who == 2, call.tool.name, repr(call.arguments), call.waits)

    def retry(self, call: TrueCall) -> None:
        assert call.waits is not None
        state, keys = call.waits
        like = self.looks(call)
        for other in self.calls:
            # Waiting, or lost on the way: open. Answered and in flight: not a candidate any more.
            open_ = other.waits is not None and other.flying is None
            if other is not call and open_ and self.looks(other) == like:
                self.blurred.add(like)
        if like in self.blurred:
            self.excused.add(call.number)
        extra: dict[str, Any] = {}
        if state is not None:
            extra["requestState"] = state
        if keys:
            extra["inputResponses"] = {k: {"roots": []} for k in keys}
        self.request(call, extra)

    def check(self) -> None:
        whole: dict[int, set[int]] = {}
        for call in self.seen.values():
            owners = {self.truth[r.exchange] for r in call.rounds}
            assert len(owners) == 1, f"call {call.number} holds exchanges of {owners}"
            whole.setdefault(owners.pop(), set()).add(call.number)
        for number, pieces in whole.items():
            if number not in self.excused:
                assert len(pieces) == 1, f"true call {number} is in pieces {pieces}"


def live(world: World, data: Any, *, tools: int, ends: list[str]) -> Iterator[None]:
    """Let happen one thing after the other that may happen, and look at the world after each.

    It has so many tools at the most, and requests end in these ways.
    """
    there = data.draw(st.lists(st.sampled_from(TOOLS), min_size=1, max_size=tools))
    for _ in range(data.draw(st.integers(5, 40))):
        flying = [c for c in world.calls if c.flying is not None]
        waiting = [c for c in world.calls if c.flying is None and c.waits is not None]
        moves = ["begin"] if len(world.calls) < 8 else []
        moves += ["respond"] * bool(flying) + ["retry"] * bool(waiting)
        if not moves:
            break
        move = data.draw(st.sampled_from(moves))
        if move == "begin":
            client, arguments = data.draw(st.integers(0, 2)), {"n": data.draw(st.integers(0, 1))}
            world.begin(client, data.draw(st.sampled_from(there)), arguments)
        elif move == "respond":
            call = data.draw(st.sampled_from(flying))
            world.respond(call, data.draw(st.sampled_from(ends)))
        else:
            world.retry(data.draw(st.sampled_from(waiting)))
        yield


@settings(max_examples=settings.default.max_examples * 2)
@given(st.data())
def test_calls_are_never_fused_and_never_torn_without_a_reason(data):
    world = World()
    for _ in live(world, data, tools=2, ends=["go", "go", "go", "error", "lost"]):
        world.check()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
WORDS = [
    "jsonrpc", "id", "method", "params", "result", "error", "_meta", "inputRequests",
    "inputResponses", "requestState", "resultType", "taskId", "status", "arguments", "name",
    "requestId", "elicitationId", "isError", "content", "code", "message",
]  # fmt: skip
METHODS = [
    "tools/call", "tasks/get", "tasks/update", "tasks/cancel", "initialize", "subscriptions/listen",
    "notifications/cancelled", "notifications/tasks", "notifications/progress", "ping",
    "notifications/elicitation/complete", "elicitation/create", "sampling/createMessage",
]  # fmt: skip
KINDS = ["input_required", "task", "complete", "working", "completed", "failed", "t1", 1, "1"]
HOSTILE: Any = st.recursive(
    JSON | st.sampled_from(METHODS) | st.sampled_from(KINDS),
    lambda inner: st.dictionaries(st.sampled_from(WORDS), inner, max_size=6),
    max_leaves=20,
)
MESSAGE = st.fixed_dictionaries(
    {},
    optional={
        "id": st.sampled_from([0, 1, "1", None, True, 1.5]) | JSON,
        "method": st.sampled_from(METHODS) | JSON,
        "params": HOSTILE,
        "result": HOSTILE,
        "error": HOSTILE,
    },
)


@settings(max_examples=settings.default.max_examples * 2)
@given(st.data())
def test_no_message_and_no_order_of_records_raises(data):
    pipeline = Pipeline(judging=False)
    for seq in range(data.draw(st.integers(1, 25))):
        exchange = data.draw(st.integers(1, 4))
        kind = data.draw(st.sampled_from(["request", "message", "message", "head", "closed"]))
        facts: dict[str, Any] = {"seq": seq, "t": float(seq), "exchange": exchange}
        if kind == "request":
            record: AnyRecord = HttpRequest(
                **facts,
                conn=1,
                peer="::1",
                method=data.draw(st.sampled_from(["POST", "GET", "DELETE"])),
                path="/mcp",
                headers=data.draw(
                    st.lists(
                        st.tuples(
                            st.sampled_from(
                                ["MCP-Protocol-Version", "mcp-session-id", "last-event-id", "x"]
                            ),
                            st.sampled_from(["2026-07-28", "2025-11-25", "s", "1", ""]),
                        ),
                        max_size=3,
                    )
                ),
            )
        elif kind == "head":
            record = HttpResponse(
                **facts, status=data.draw(st.sampled_from([100, 200, 202, 404])), headers=[]
            )
        elif kind == "closed":
            record = Closed(
                **facts,
                how=data.draw(st.sampled_from(["complete", "client_gone", "upstream_cut"])),
                request=NOTHING,
                response=NOTHING,
                held=data.draw(st.sampled_from([0.0, 0.5])),
            )
        else:
            value = data.draw(MESSAGE | JSON)
            if data.draw(st.booleans()) and data.draw(st.booleans()):
                facts["exchange"] = None
            sender = data.draw(st.sampled_from(["client", "server", "tap"]))
            record = Message(**facts, sender=sender, text=repr(value))
            pipeline.feed(record, value)
            continue
        pipeline.feed(record)
    pipeline.advance(1e9)
    pipeline.finish()
