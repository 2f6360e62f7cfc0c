"""The command `mcp-tap`: finds the command that is meant and imports only that one."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import IO, Any

import click

from mcp_tap.cli import streams
from mcp_tap.cli.common import (
    PREFIX,
    Output,
    TapContext,
    TapOption,
    shared_options,
    spoken,
    write_panels,
)
from mcp_tap.errors import UsageError

PROGRAM = "mcp-tap"
COMPLETE = "_MCP_TAP_COMPLETE"

COMMANDS = {
    "http": "Reverse proxy in front of a Streamable HTTP server.",
    "stdio": "The tap around a server process, for the configuration of a client.",
    "watch": "Live console on all that is being recorded, or on one run.",
    "show": "Print the calls of a capture.",
    "check": "Judge captures by the rules; for CI, too.",
    "diff": "What differs between two captures.",
    "replay-server": "Captures in place of the server, for any client.",
    "replay-client": "What a recorded client sent, sent again and compared.",
    "export": "A capture in other formats: HAR, a web page, diagrams, traces.",
    "redact": "Mask more in a capture, or list what in it looks like a secret.",
    "answers": "Draft, try out or check a script that answers for clients.",
    "wrap": "Put the tap into clients' configuration files.",
    "unwrap": "Take it out of them again.",
    "rules": "List the rules, or print the page of one.",
    "list": "List captures.",
    "prune": "Delete old captures.",
    "demo": "A small real server and client through the tap.",
    "config": "Effective settings, each with where it came from.",
    "completion": "Print the line that completes commands in your shell.",
}
"""Every command with its line in the help; `mcp_tap.cli.<name>` holds it as `command`.

`replay-server` is written as two words: `mcp-tap replay server`.
"""

DEFAULT = "watch"
AROUND = "stdio"
"""What `mcp-tap -- COMMAND...` means."""
_FORMAT = ("--format ", "--format=", "-f ", "-f")


class TapGroup(click.Group):
    """A group that imports a command's module when it is asked for."""

    context_class = TapContext

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Name the commands in the order of the help."""
        return list(COMMANDS)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        cmd_name: str,
    ) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        import importlib

        module = importlib.import_module(f"mcp_tap.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        command.short_help = COMMANDS[cmd_name]
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Let options of every command stand before it; add the command that none means."""
        split = None if ctx.resilient_parsing else self._split(args)
        if ctx.resilient_parsing:
            args = _joined(args)
        if split is not None:
            front, rest = split
            rest = _joined(rest)
            if rest[:1] == ["--"]:
                rest = [AROUND, *rest]
            args = [*rest[:1], *front, *rest[1:]] if rest else [DEFAULT, *front]
        return super().parse_args(ctx, args)

    def _split(self, args: list[str]) -> tuple[list[str], list[str]] | None:
        """Divide the options before the command from what follows.

        None where click shall read them itself: help, version, and what is no option of ours.
        """
        valued = {
            name: not (param.is_flag or param.count)
            for param in self.params
            if isinstance(param, TapOption)
            for name in param.opts
        }
        at = 0
        while at < len(args) and args[at].startswith("-") and args[at] not in ("-", "--"):
            name = args[at].partition("=")[0]
            flags = [f"-{letter}" for letter in name[1:]]  # -qv is -q -v
            if name in valued:
                at += 2 if valued[name] and name == args[at] else 1
            elif all(flag in valued and not valued[flag] for flag in flags):
                at += 1
            else:
                return None
        return args[:at], args[at:]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; for an unknown one, say what was probably meant."""
        name = args[0]
        if name not in COMMANDS and not ctx.resilient_parsing:
            raise _unknown(name)
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, then the options."""
        with formatter.section("Commands"):
            formatter.write_dl([(spoken(name), words) for name, words in COMMANDS.items()])
        write_panels(self, ctx, formatter)


def _joined(args: list[str]) -> list[str]:
    """Make one name of a command that is written as two words."""
    name = "-".join(args[:2])
    return [name, *args[2:]] if len(args) > 1 and name in COMMANDS else args


def _unknown(name: str) -> UsageError:
    import difflib
    from pathlib import Path

    near = difflib.get_close_matches(name, COMMANDS, 1)
    if near:
        help = f"did you mean {PROGRAM} {spoken(near[0])}?"
    elif name.startswith(("http://", "https://")):
        help = f"did you mean {PROGRAM} http {name}?"
    elif Path(name).exists():
        help = f"did you mean {PROGRAM} show {name}?"
    else:
        help = f"{PROGRAM} --help lists the commands"
    return UsageError("unknown-command", f"{PROGRAM} has no command {name}", help=help)


group = TapGroup(
    PROGRAM,
    params=list(shared_options()),
    help="""\
Record, show and debug what passes between an MCP client and an MCP server.

Without a command: the live console on all that is being recorded (watch).""",
    context_settings={
        "auto_envvar_prefix": PREFIX,
        "help_option_names": ["-h", "--help"],
        "max_content_width": 80,
    },
    subcommand_metavar="COMMAND [ARGS]...",
)


def run(args: Sequence[str]) -> int:
    """Run a command line and give its exit code; whatever goes wrong has been printed."""
    root: click.Context | None = None
    try:
        with group.make_context(PROGRAM, list(args)) as root:
            code: Any = group.invoke(root)
            streams.finish()
            return code if isinstance(code, int) else 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except (KeyboardInterrupt, click.Abort):
        return 130
    except BrokenPipeError:
        return _end_by_pipe()
    except Exception as error:  # noqa: BLE001 - the top door: nothing may pass it unreported
        from mcp_tap.cli.door import report

        shown = streams.explained(error)
        return report(shown, (root and root.find_object(Output)) or _guess(args))


def _guess(args: Sequence[str]) -> Output:
    """Read from the bare command line how to speak of an error in that same command line."""
    own = args[: args.index("--")] if "--" in args else args
    out = Output(json="--json" in own, debug="--debug" in own)
    words = " ".join(own)
    out.json_errors |= any(
        f"{name}{form}" in f"{words} " for name in _FORMAT for form in ("json ", "jsonl ")
    )
    return out


def _end_by_pipe() -> int:
    """End as programs do whose reader has left: without a word, and not as a success."""
    import signal

    streams.drop()
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
    return 0


def _fill_standard_streams() -> None:
    """Put the null device where a standard stream is closed.

    The next file opened would get that number, and a capture or socket what is meant for a person.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdin", "stdout", "stderr"):  # where it is closed, Python has None there
        if getattr(sys, name) is None:
            setattr(sys, name, _nowhere("r" if name == "stdin" else "w"))


def _nowhere(mode: str) -> IO[str]:
    return open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123 - open to the end


COLLECT = (20_000, 20, 50)
"""Thresholds of the garbage collector: an exchange, live or read, makes some dozens of containers,
and hardly any of them is garbage that reference counts do not find."""


def main() -> None:
    """Run `mcp-tap` on this process's command line."""
    gc.set_threshold(*COLLECT)
    _fill_standard_streams()
    if COMPLETE in os.environ:
        group.main(prog_name=PROGRAM, complete_var=COMPLETE)
    streams.note_failures()
    code = run(sys.argv[1:])
    streams.settle()
    sys.exit(code)


if __name__ == "__main__":
    main()
