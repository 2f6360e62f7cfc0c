"""A server of the Python SDK that is another one on purpose: each word it gets changes one thing.

`renamed` asks under another key, `required` wants one more field, `result` says something else,
`more` asks once more, `dies` ends in the middle of a call.  Without one it is as it was.

Prints `{"url": ...}` once it listens, on a port the system chose; ends on SIGTERM.  With `--stdio`
it serves on its standard streams instead.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from mcp.server.mcpserver import Context
from mcp.types import (
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    ToolAnnotations,
)
from pydantic import BaseModel

from tests.peers.python_server import main, server

CHANGED = frozenset(sys.argv[1:])
CONFIRM = "approve" if "renamed" in CHANGED else "confirm"


class Yes(BaseModel):
    yes: bool


class YesAndWhy(BaseModel):
    yes: bool
    reason: str


FORM = YesAndWhy if "required" in CHANGED else Yes


def ask(message: str, form: type[BaseModel]) -> ElicitRequest:
    schema = form.model_json_schema()
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


@server.tool()
async def deploy(service: str, ctx: Context) -> str | InputRequiredResult:
    """Ask twice, in either era."""
    if "dies" in CHANGED:
        os._exit(3)
    if (ctx.protocol_version or "") < "2026-07-28":
        first = (await ctx.elicit(f"Deploy {service}?", FORM)).action
        second = (await ctx.elicit("Now?", Yes)).action
    else:
        answers: dict[str, Any] = ctx.input_responses or {}
        state = ctx.request_state or ""
        if CONFIRM in answers:
            state = f"first={answers[CONFIRM].action}"
            return InputRequiredResult(
                request_state=state, input_requests={"now": ask("Now?", Yes)}
            )
        if "now" not in answers and "sure" not in answers:
            asked = {CONFIRM: ask(f"Deploy {service}?", FORM)}
            return InputRequiredResult(request_state="begun", input_requests=asked)
        if "more" in CHANGED and "sure" not in answers:
            asked = {"sure": ask("Sure?", Yes)}
            return InputRequiredResult(request_state=state, input_requests=asked)
        first, second = state.removeprefix("first="), answers["now"].action
    done = "shipped" if "result" in CHANGED else "deployed"
    return f"{service} {done}: {first}, {second}"


@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def look(service: str) -> str:
    """Change nothing."""
    return f"{service} runs"


if __name__ == "__main__":
    main()
