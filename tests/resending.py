"""A recorded client sent again to a server in the same process: rounds without a socket."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp_tap.bridge.messages import Said, read
from mcp_tap.replay.client.lane import Limits
from mcp_tap.replay.client.peers import Reply, Unreachable
from mcp_tap.replay.client.plan import Plan
from mcp_tap.replay.client.run import ClientRun
from mcp_tap.replay.index import Index
from tests.bounds import BOUND
from tests.traffic import STATE, Traffic, asks, done

LIMITS = Limits(timeout=BOUND, rounds=4, stream=0.2)
YES = {"action": "accept", "content": {"ok": True}}


class Served:
    """A server: a function from a request's method and parameters to a result."""

    over_http = True

    def __init__(self, answer: Callable[[str, dict[str, Any]], Any]) -> None:
        self.answer = answer
        self.requests: list[dict[str, Any]] = []
        self.told: list[dict[str, Any]] = []
        self.gone = ""
        self.listening = False
        self.closed = False

    async def ask(self, said: Said, heard: Callable[[Said], None]) -> Reply:
        if self.gone:
            raise Unreachable(self.gone)
        self.requests.append(said.value)
        result = self.answer(said.method, said.params)
        if callable(result):
            result = await result(heard)
        if isinstance(result, Reply):
            return result
        key = "error" if "code" in result else "result"
        return Reply(message({"jsonrpc": "2.0", "id": said.id, key: result}))

    async def tell(self, said: Said) -> None:
        self.told.append(said.value)

    async def listen(self, heard: Callable[[Said], None]) -> None:
        self.listening = True

    async def close(self) -> None:
        self.closed = True

    @property
    def params(self) -> list[dict[str, Any]]:
        """Parameters of the calls that came."""
        return [r["params"] for r in self.requests if r["method"] == "tools/call"]


def message(value: dict[str, Any]) -> Said:
    said = read(json.dumps(value).encode())
    assert said is not None
    return said


def deployed(path: Path, **header: Any) -> str:
    """Record a call of two rounds; give the capture."""
    traffic = Traffic(**header)
    traffic.call("deploy", asks("confirm", "Sure?"), arguments={"to": "prod"})
    traffic.call(
        "deploy",
        done("shipped"),
        arguments={"to": "prod"},
        inputResponses={"confirm": YES},
        requestState=STATE,
    )
    return str(traffic.write(path))


async def resent(
    capture: str,
    answer: Callable[[str, dict[str, Any]], Any] | Served,
    *,
    wanted: set[int] | None = None,
    **options: Any,
) -> tuple[ClientRun, Served]:
    """Send a capture again; give the run and the server."""
    server = answer if isinstance(answer, Served) else Served(answer)

    async def connect(lane, tools):
        return server

    options = {"yes": True, "limits": LIMITS} | options
    with Index.of([capture]) as index:
        plan = Plan(index, wanted, answered=options.get("book") is not None)
        run = ClientRun(plan, index, connect, **options)
        await run.run()
    return run, server
