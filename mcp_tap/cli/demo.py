"""`mcp-tap demo`: a real server and a real client, with the tap between them, in one process."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from mcp_tap.cli.called import as_called
from mcp_tap.cli.common import FILE, Output, TapCommand, option, output
from mcp_tap.cli.output import printable
from mcp_tap.core.text import safe

if TYPE_CHECKING:
    from mcp_tap.views.base import View

BOUND = 8.0
"""Seconds after which the story is broken off; it takes about two."""


@click.command("demo", cls=TapCommand)
@option(
    "--view",
    type=click.Choice(["console", "text", "none"]),
    default="text",
    show_default=True,
    help="What to show of the traffic.",
)
@option(
    "-w",
    "--write",
    type=FILE,
    metavar="FILE",
    help="Record to this new file.  [default: one in the captures folder]",
)
def command(view: Literal["console", "text", "none"], write: str | None) -> None:
    """Watch a small MCP server and client through the tap.

    Both are real and speak over loopback; nothing else is needed.  The server asks for a
    confirmation in two rounds, for a form in Russian and for a visit to a page; the client declines
    something; one answer breaks a rule of the protocol.

    It ends by itself, in the console with q, leaves a capture, and says what to try on it.
    """
    from mcp_tap.capture.store import new_path

    out = output()
    if view == "console" and not (sys.stdin.isatty() and sys.stdout.isatty()):
        out.warn("stdin and stdout are no terminals, so --view text")
        view = "text"
    capture = Path(write) if write else new_path("demo", datetime.now(UTC))
    asyncio.run(_run(capture, "none" if out.json else view, out))
    spec = safe(shlex.quote(write)) if write else capture.stem
    _say_what_next(capture, spec, out)


async def _run(capture: Path, view: Literal["console", "text", "none"], out: Output) -> None:
    """Play the story once through a tap of its own."""
    from mcp_tap.cli.looks import make_view, run_stats
    from mcp_tap.demo.server import DemoServer
    from mcp_tap.demo.story import play
    from mcp_tap.proxy.run import STOP_WITHIN, HttpRun
    from mcp_tap.proxy.settings import TapSettings

    loop = asyncio.get_running_loop()
    limit = asyncio.timeout(BOUND)
    left = asyncio.Event()
    finished = False

    def leave() -> None:
        left.set()
        if not finished:
            limit.reschedule(loop.time())

    def quit_() -> None:  # on the console's thread
        loop.call_soon_threadsafe(leave)

    server = DemoServer()
    await server.start()
    try:
        settings = TapSettings(upstream=server.url, port=0)
        shown = make_view(view, out, on_quit=quit_, stats=lambda: run_stats(run, capture))
        run = HttpRun(settings, capture=capture, view=shown)
        await run.start()
        if view != "console":  # which says it in its first line, on this same terminal
            out.say(
                f"mcp-tap  {run.url} -> {server.url}\n         recording {safe(str(capture))}\n"
            )
        try:
            async with limit:
                await play(run.url)
            finished = True
            if view == "console":
                await run.deserted(STOP_WITHIN)
                run.settle()  # what a view is told after its end it does not show
                await _until_left(shown, left)
        except TimeoutError:
            if not left.is_set():
                raise
        finally:
            await run.stop("end" if finished else "signal")
    finally:
        await server.stop()


async def _until_left(view: View, left: asyncio.Event) -> None:
    """Let the console stand until it is left with `q`, or the terminal is taken away."""
    finished: Any = getattr(view, "finished", None)
    if finished is not None:
        finished()
    for name in ("SIGTERM", "SIGHUP"):
        with contextlib.suppress(AttributeError, NotImplementedError):  # not on every system
            asyncio.get_running_loop().add_signal_handler(getattr(signal, name), left.set)
    await left.wait()


def next_steps(spec: str) -> list[tuple[str, str]]:
    """List what to try on the demo's capture: command and what it is for."""
    steps = [
        (f"mcp-tap show {spec}", "its calls"),
        (f"mcp-tap show {spec} tool:deploy -d2", "one call: rounds, asks and answers"),
        (f"mcp-tap show {spec} ask:url,form -f json", "for programs"),
        (f"mcp-tap check {spec}", "what rules found: one server here breaks one"),
        ("mcp-tap rules RPC-010", "what that rule is about"),
        (f"mcp-tap watch {spec}", "the console"),
        ("mcp-tap http http://localhost:3000/mcp", "in front of a server of your own"),
    ]
    return [(as_called(step), purpose) for step, purpose in steps]


def _say_what_next(capture: Path, spec: str, out: Output) -> None:
    steps = next_steps(spec)
    if out.json:
        import msgspec

        document = {
            "version": 1,
            "capture": printable(capture),
            "next": [step for step, _ in steps],
        }
        out.document(msgspec.json.encode(document))
        return
    width = max(len(step) for step, _ in steps)
    out.write("\nThe server and the client were real, and all they said is recorded.  Try:\n")
    for step, purpose in steps:
        out.write(f"  {step.ljust(width)}  # {purpose}")
