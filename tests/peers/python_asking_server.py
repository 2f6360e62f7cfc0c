"""A server of the Python SDK that asks for everything there is: forms, a page, a model, roots.

In a session it pushes its asks, since 2026-07-28 its results ask.

Prints `{"url": ...}` once it listens, on a port the system chose; ends on SIGTERM.  With `--stdio`
it serves on its standard streams instead.
"""

from __future__ import annotations

from mcp.server.mcpserver import Context
from mcp.types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
)
from pydantic import BaseModel

from tests.peers.python_server import main, server

WORD = {"type": "object", "properties": {"word": {"type": "string", "default": "plain"}}}


class Word(BaseModel):
    word: str = "plain"


def pushes(ctx: Context) -> bool:
    return (ctx.protocol_version or "") < "2026-07-28"


def ask_word(message: str) -> ElicitRequest:
    form = ElicitRequestFormParams(message=message, requested_schema=WORD)
    return ElicitRequest(params=form)


@server.tool()
async def study(topic: str, ctx: Context) -> str | InputRequiredResult:
    """Ask a model and for the roots at once, and report progress in every round."""
    await ctx.report_progress(1, 2, f"studying {topic}")
    prompt = SamplingMessage(role="user", content=TextContent(type="text", text=topic))
    if pushes(ctx):
        said = await ctx.session.create_message([prompt], max_tokens=50)
        folders = [str(root.uri) for root in (await ctx.session.list_roots()).roots]
        return f"{said.content.text} {folders} pushed"
    answers = ctx.input_responses or {}
    if "model" not in answers:
        params = CreateMessageRequestParams(messages=[prompt], max_tokens=50)
        return InputRequiredResult(
            request_state=f"studying {topic}",
            input_requests={
                "model": CreateMessageRequest(params=params),
                "roots": ListRootsRequest(),
            },
        )
    roots = [str(root.uri) for root in answers["roots"].roots]
    return f"{answers['model'].content.text} {roots} {ctx.request_state}"


async def a_word(name: str, question: str, ctx: Context) -> str | InputRequiredResult:
    """Ask for a word before anything is given."""
    if pushes(ctx):
        return f"{name}: {(await ctx.elicit(question, Word)).data.word}"
    answers = ctx.input_responses or {}
    if "word" not in answers:
        return InputRequiredResult(input_requests={"word": ask_word(question)})
    return f"{name}: {answers['word'].content['word']}"


@server.prompt()
async def greet(name: str, ctx: Context) -> str | InputRequiredResult:
    """Ask for a word before a prompt is given."""
    return await a_word(name, "A word for the prompt?", ctx)


@server.resource("note://{name}")
async def note(name: str, ctx: Context) -> str | InputRequiredResult:
    """Ask for a word before a resource is read."""
    return await a_word(name, "A word for the note?", ctx)


if __name__ == "__main__":
    main()
