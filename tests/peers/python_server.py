"""A server of the Python SDK that asks in the middle of calls, in either era.

Prints `{"url": ...}` once it listens, on a port the system chose; ends on SIGTERM.  With `--stdio`
it serves on its standard streams instead.
"""

from __future__ import annotations

import json
import socket
import sys
from typing import Annotated, Literal

import uvicorn
from mcp.server.mcpserver import (
    AcceptedElicitation,
    Context,
    Elicit,
    ElicitationResult,
    MCPServer,
    Resolve,
)
from mcp.types import ElicitRequest, ElicitRequestURLParams, InputRequiredResult
from pydantic import BaseModel

PAGE = "https://id.example.test/start"
server = MCPServer("peer-py", version="1.0", log_level="ERROR")


class Day(BaseModel):
    day: Literal["mon", "tue"]


class Seat(BaseModel):
    seat: str
    window: bool = False


def ask_day(guests: int) -> Elicit[Day]:
    return Elicit(f"Which day for {guests} guests?", Day)


DayAnswer = Annotated[ElicitationResult[Day], Resolve(ask_day)]


def ask_seat(day: DayAnswer) -> Seat | Elicit[Seat]:
    if not isinstance(day, AcceptedElicitation):
        return Seat(seat="-")
    return Elicit(f"Which seat on {day.data.day}?", Seat)


@server.tool()
def book(
    guests: int, day: DayAnswer, seat: Annotated[ElicitationResult[Seat], Resolve(ask_seat)]
) -> str:
    """Ask for a day and then for a seat."""
    for answer in (day, seat):
        if not isinstance(answer, AcceptedElicitation):
            return f"not booked: {answer.action}"
    return f"{guests} guests on {day.data.day}, seat {seat.data.seat}"


@server.tool()
async def sign_in(user: str, ctx: Context) -> str | InputRequiredResult:
    """Ask for a visit to a page."""
    if (ctx.protocol_version or "") < "2026-07-28":
        answer = await ctx.elicit_url("Sign in", PAGE, "visit-1")
        return f"{user}: {answer.action}"
    answers = ctx.input_responses or {}
    if "page" not in answers:
        page = ElicitRequestURLParams(message="Sign in", url=PAGE)
        return InputRequiredResult(
            request_state=f"page for {user}", input_requests={"page": ElicitRequest(params=page)}
        )
    return f"{user}: {answers['page'].action}"


@server.tool()
def add(a: int, b: int) -> int:
    """Ask nothing."""
    return a + b


def main() -> None:
    if "--stdio" in sys.argv:
        server.run("stdio")
        return
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        print(json.dumps({"url": f"http://127.0.0.1:{port}/mcp"}), flush=True)
        config = uvicorn.Config(server.streamable_http_app(), log_level="error")
        uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
