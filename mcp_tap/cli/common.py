"""What every command shares: its options, its settings, and how it speaks.

Rules of this file:

- A command is `@click.command(cls=TapCommand)` in a function called `command`; it gets the options
  of every command added, and the answers to them by `output()`.  It returns its exit code, or
  None for 0.  Its own options are `@option(...)`.
- An option's value comes from the command line, else `MCP_TAP_<COMMAND>_<OPTION>`, else a file
  (`mcp_tap.config`), else its default; `TapContext.origins` says which.
- Nothing heavy is imported here at the top: `mcp-tap --help` must start as fast as click does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
from click.core import ParameterSource

from mcp_tap import __version__
from mcp_tap.cli.output import Output
from mcp_tap.cli.values import DURATION, FILE, SIZE
from mcp_tap.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from mcp_tap.config import ConfigFile, Found

__all__ = ["DURATION", "FILE", "SIZE", "Output", "TapCommand", "TapOption", "option", "output"]

PREFIX = "MCP_TAP"
EVERYWHERE = "Everywhere"
JSON_FORMS = ("json", "jsonl")
"""Values of a command's `--format` with which errors are JSON, too."""
SHARED = ("quiet", "verbose", "json", "color", "ascii", "config", "no_config", "debug")
"""Parameters of every command; `Output` answers for them."""

_F = TypeVar("_F", bound=Callable[..., Any])


def output() -> Output:
    """Give the running command's `Output`."""
    return cast("Output", click.get_current_context().find_object(Output))


def spoken(name: str) -> str:
    """Write a command's name as people type it: that of `replay-server` is two words."""
    return name.replace("-", " ")


class TapContext(click.Context):
    """A context that knows where each value came from."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Start with nothing read."""
        super().__init__(*args, **kwargs)
        self.files: list[ConfigFile] = []
        """The files read, the one that decides first."""
        self.found: dict[str, Found] = {}
        """What the files say for this command, by parameter."""
        self.origins: dict[str, str] = {}
        """Where each parameter's value came from, in words."""
        self.command_line: list[str] | None = None
        """What stood after `--`, for a command that runs another."""

    @property
    def command_path(self) -> str:
        """The words that lead to the command."""
        return super().command_path.replace("replay-", "replay ")


def typed(ctx: click.Context, name: str) -> bool:
    """Tell whether an option stands on the command line: not in a file or variable, nor nowhere."""
    settings = (ParameterSource.ENVIRONMENT, ParameterSource.DEFAULT_MAP, ParameterSource.DEFAULT)
    return ctx.get_parameter_source(name) not in settings


class TapOption(click.Option):
    """An option that can be set by variable and file, and names its origin when it is refused."""

    def __init__(
        self,
        *args: Any,
        panel: str = "Options",
        adds_up: bool = False,
        secret: bool = False,
        **kwargs: Any,
    ) -> None:
        """Add to click's own arguments.

        `panel` is the heading under which the help shows it; an option that `adds_up` is
        repeatable and no origin's values hide another's; of a `secret` one `mcp-tap config` shows
        that it is set, not what to.
        """
        super().__init__(*args, **kwargs)
        self.panel = panel
        self.adds_up = adds_up
        self.secret = secret
        longs = [o for o in self.opts if o.startswith("--")]
        self.key = max(longs, key=len)[2:] if longs else (self.name or "")
        """Name of the setting: the long option without its dashes."""
        self.unset = (self.help or "").partition("[default: ")[2].removesuffix("]")
        """What no value means, in the words of the help."""

    def variable(self, ctx: click.Context) -> str:
        """Name the environment variable that sets this option."""
        return f"{ctx.auto_envvar_prefix or PREFIX}_{self.key.upper().replace('-', '_')}"

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Leave out the range of a number: metavar or words say it better than `0<=x<=4`."""
        return {k: v for k, v in super().get_help_extra(ctx).items() if k != "range"}

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """Read the command's own variable, else the one for every command."""
        return os.environ.get(self.variable(ctx)) or click.Parameter.resolve_envvar_value(self, ctx)

    def value_from_envvar(self, ctx: click.Context) -> Any:
        """Split a repeatable option's variable into lines: values may hold spaces."""
        if not self.multiple:
            return super().value_from_envvar(ctx)
        text = self.resolve_envvar_value(ctx)
        return None if text is None else [line for line in text.splitlines() if line.strip()]

    def consume_value(
        self, ctx: click.Context, opts: Mapping[str, Any]
    ) -> tuple[Any, ParameterSource]:
        """Take the value of the nearest origin and remember which that was."""
        value, source = super().consume_value(ctx, opts)
        if not isinstance(ctx, TapContext) or self.name is None:
            return value, source
        found = ctx.found.get(self.name)
        variable = self.variable(ctx)
        if not os.environ.get(variable) and isinstance(self.envvar, str):
            variable = self.envvar
        words = {
            ParameterSource.COMMANDLINE: "command line",
            ParameterSource.ENVIRONMENT: variable,
            ParameterSource.DEFAULT_MAP: found.where if found else "",
        }
        ctx.origins[self.name] = words.get(source, "default")
        given = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
        if self.adds_up and source in given:
            value, parts = list(value), [words[source]]
            variables = self.value_from_envvar(ctx)
            if source is ParameterSource.COMMANDLINE and variables:
                value, parts = [*value, *variables], [*parts, variable]
            if found:
                value, parts = [*value, *found.value], [*parts, found.where]
            value = list(dict.fromkeys(value))
            ctx.origins[self.name] = ", ".join(parts)
        return value, source

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """Convert the value; where it cannot be, say which origin it has."""
        try:
            return super().process_value(ctx, value)
        except click.MissingParameter:
            raise
        except click.BadParameter as error:
            origin = getattr(ctx, "origins", {}).get(self.name, "command line")
            kind = UsageError if origin == "command line" else ConfigError
            found = getattr(ctx, "found", {}).get(self.name)
            from_file = found is not None and origin == found.where
            raise kind(
                "bad-value",
                f"--{self.key}: {error.message.rstrip('.')}",
                where="" if origin == "command line" else origin,
                help="--no-config goes on without files" if from_file else "",
            ) from error


def option(*names: str, **kwargs: Any) -> Callable[[_F], _F]:
    """Declare an option of a command: `click.option` with `TapOption`'s arguments."""
    return click.option(*names, cls=TapOption, **kwargs)


def several(*options: Callable[[_F], _F]) -> Callable[[_F], _F]:
    """Declare options together, in the order in which the help lists them."""

    def add(function: _F) -> _F:
        for each in reversed(options):
            function = each(function)
        return function

    return add


def shared_options() -> list[click.Option]:
    """Make the options that every command has."""

    def make(*names: str, **kwargs: Any) -> TapOption:
        key = max(names, key=len)[2:].upper().replace("-", "_")
        return TapOption(list(names), panel=EVERYWHERE, envvar=f"{PREFIX}_{key}", **kwargs)

    return [
        make("-q", "--quiet", is_flag=True, help="Print only what was asked for."),
        make(
            "-v",
            "--verbose",
            count=True,
            help="Say which files settings come from; twice, where each was set.",
        ),
        make("--json", is_flag=True, help="Print JSON, errors included."),
        make(
            "--color",
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            help="Colour the output (auto: on a terminal).",
        ),
        make("--ascii", is_flag=True, help="Draw with ASCII characters only."),
        make("--config", type=FILE, metavar="FILE", help="Read this file, not the project's."),
        make("--no-config", is_flag=True, help="Read no configuration file."),
        make("--debug", is_flag=True, help="Show a traceback when mcp-tap itself fails."),
        _version(),
    ]


def _version() -> click.Option:
    def show(ctx: click.Context, _: click.Parameter, value: object) -> None:
        if value and not ctx.resilient_parsing:
            click.echo(f"mcp-tap {__version__}")
            ctx.exit()

    return click.Option(
        ["-V", "--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Print the version and exit.",
    )


class TapCommand(click.Command):
    """A command with the shared options, settings from files, and help in sections."""

    context_class = TapContext

    def __init__(self, *args: Any, takes_command: bool = False, **kwargs: Any) -> None:
        """Add the shared options.

        With `takes_command`, what stands after `--` is another command's line; it is kept in
        `TapContext.command_line` and not read here.
        """
        kwargs.setdefault("context_settings", {}).setdefault("help_option_names", ["-h", "--help"])
        super().__init__(*args, **kwargs)
        self.takes_command = takes_command
        self.params += shared_options()

    def tables(self) -> Mapping[str, Callable[[Any, str], object]]:
        """Give what the command's table in a file holds beside options, each with its reader."""
        return {}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the files the command line asks for, then the command line itself."""
        assert isinstance(ctx, TapContext)
        if self.takes_command and "--" in args:
            at = args.index("--")
            args, ctx.command_line = args[:at], args[at + 1 :]
        if not ctx.resilient_parsing:
            self._read_files(ctx, args)
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as error:
            if self.takes_command and "unexpected extra argument" in error.message:
                raise UsageError(
                    "usage",
                    f"{ctx.command_path} takes one argument",
                    why=error.message.rstrip(".").lower(),
                    help="a command to run stands after --",
                ) from error
            raise
        answers = {name: ctx.params.pop(name, None) for name in SHARED}
        for name in ("config", "no_config"):
            del answers[name]
        ctx.obj = ctx.find_root().obj = Output(**{k: v for k, v in answers.items() if v})
        ctx.obj.json_errors = ctx.obj.json or ctx.params.get("form") in JSON_FORMS
        ctx.color = None if ctx.obj.color == "auto" else ctx.obj.color == "always"
        return rest

    def _read_files(self, ctx: TapContext, args: list[str]) -> None:
        given, _, _ = self.make_parser(ctx).parse_args(list(args))
        help_option = self.get_help_option(ctx)
        if given.get("version") or (help_option and given.get(help_option.name)):
            return  # these are answered whatever the files hold
        asked = {p.name: p for p in self.params if isinstance(p, TapOption)}
        switch = asked["no_config"]
        explicit = given.get("config") or asked["config"].resolve_envvar_value(ctx)
        no_files = switch.type_cast_value(ctx, switch.value_from_envvar(ctx))
        if given.get("no_config") or no_files or not (explicit or _may_be_files()):
            return
        from mcp_tap.cli.settings import read

        read(ctx, explicit=explicit)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, after a word about variables that nothing reads."""
        if any(name.startswith(f"{PREFIX}_") for name in os.environ):
            from mcp_tap.cli.settings import unknown_variables

            for text in unknown_variables(ctx, os.environ):
                ctx.obj.warn(text)
        if isinstance(ctx, TapContext) and ctx.files:
            from mcp_tap.cli.settings import unread

            for text in unread(ctx):
                ctx.obj.warn(text)
        if ctx.obj.verbose:
            from mcp_tap.cli.settings import origins

            for level, text in origins(ctx):
                ctx.obj.log(text, level)
        return super().invoke(ctx)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Show the other command's line at the end of the usage line."""
        return super().collect_usage_pieces(ctx) + ["[-- COMMAND...]"] * self.takes_command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings, those of every command last."""
        write_panels(self, ctx, formatter)


def _may_be_files() -> bool:
    """Tell whether a file is there that may have settings; reading it takes much longer."""
    from pathlib import Path

    from mcp_tap.config_places import project_files, user_file

    return any(project_files(Path.cwd())) or user_file().is_file()


def write_panels(
    command: click.Command, ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    """Write a command's options in sections."""
    panels: dict[str, list[tuple[str, str]]] = {}
    for param in (p for p in command.get_params(ctx) if isinstance(p, click.Option)):
        record = param.get_help_record(ctx)
        if record is not None:
            panels.setdefault(getattr(param, "panel", EVERYWHERE), []).append(record)
    last = panels.pop(EVERYWHERE, [])
    for name, rows in [*panels.items(), (EVERYWHERE, last)]:
        if rows:
            with formatter.section(name):
                formatter.write_dl(rows)
