"""The bridge between the commands' options and the files and variables that set them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from mcp_tap import config
from mcp_tap.cli.common import PREFIX, TapCommand, TapContext, TapOption
from mcp_tap.config_places import user_file
from mcp_tap.errors import ConfigError

_NEVER = ("help", "version", "config", "no-config")
"""Options that no file can set: they say which files are read, or end the command at once."""

_ALL = "config"
"""The command that is concerned by every setting, since it prints them."""
NO_CONFIG = "--no-config goes on without files"

OTHER_VARIABLES = {
    "MCP_TAP_HOME": "folder of the captures",
    "MCP_TAP_URL": "set for the command that `mcp-tap http URL -- COMMAND` runs",
}
"""Variables that belong to no option."""


class Commands:
    """What may be set, asked of the commands themselves; a module is imported when it is asked."""

    def __init__(self, ctx: click.Context) -> None:
        """Start from the context of any command."""
        self._root = ctx.find_root()

    def commands(self) -> Sequence[str]:
        """Name every command."""
        group = self._root.command
        if isinstance(group, click.Group):
            return group.list_commands(self._root)
        return [self._root.info_name or ""]

    def command(self, name: str) -> click.Command | None:
        """Give one command."""
        group = self._root.command
        return group.get_command(self._root, name) if isinstance(group, click.Group) else group

    def options(self, command: str) -> Mapping[str, config.Setting]:
        """Give the settings of one command, by key."""
        found = self.command(command)
        params = found.params if found else []
        return {
            param.key: setting(param)
            for param in params
            if isinstance(param, TapOption) and param.key not in _NEVER
        }

    def tables(self, command: str) -> Mapping[str, Callable[[Any, str], object]]:
        """Give what one command's table holds beside options, each with its reader."""
        found = self.command(command)
        return found.tables() if isinstance(found, TapCommand) else {}


def setting(param: TapOption) -> config.Setting:
    """Describe an option as something a file may set."""
    return config.Setting(
        key=param.key,
        param=param.name or param.key,
        shape="count"
        if param.count
        else "flag"
        if param.is_flag
        else "many"
        if param.multiple
        else "one",
        path=isinstance(param.type, click.Path),
        adds_up=param.adds_up,
    )


def read(ctx: TapContext, *, explicit: str | None) -> None:
    """Read the files and hand what they say for this command to click, as defaults."""
    known = Commands(ctx)
    try:
        ctx.files = config.load(
            known,
            cwd=Path.cwd(),
            user=user_file(),
            explicit=None if explicit is None else Path(explicit).absolute(),
            command=None if ctx.info_name == _ALL else ctx.info_name,
        )
    except ConfigError as error:
        if explicit is None and NO_CONFIG not in error.help:
            error.help = f"{error.help} ({NO_CONFIG})" if error.help else NO_CONFIG
        raise
    ctx.found = config.settings(ctx.files, known, ctx.info_name or "")
    ctx.default_map = {param: found.value for param, found in ctx.found.items()}


def origins(ctx: click.Context) -> Iterator[tuple[int, str]]:
    """Say where a command's settings come from: files first, then each setting with its origin.

    Yields:
        How often `-v` has to be given to be told, and a sentence.  No value is in it.
    """
    files = ctx.files if isinstance(ctx, TapContext) else []
    for file in files:
        yield 1, f"settings from {file.where()}"
    if not files:
        yield 1, "settings from no file"
    for param in ctx.command.params:
        origin = getattr(ctx, "origins", {}).get(param.name, "default")
        if isinstance(param, TapOption) and origin != "default":
            yield 2, f"--{param.key} set by {origin}"


def unread(ctx: TapContext) -> Iterator[str]:
    """Yield a sentence for each name in a file that no command reads."""
    return config.unread(ctx.files, Commands(ctx), ctx.info_name or "")


def unknown_variables(ctx: click.Context, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each variable that looks like ours and that nothing reads."""
    known = Commands(ctx)
    running = _variables(known, ctx.info_name or "")
    for name in sorted(n for n in environ if n.startswith(f"{PREFIX}_")):
        of = next((c for c in known.commands() if name.startswith(_variable(c, ""))), "")
        read = [*running, *(_variables(known, of) if of else []), *OTHER_VARIABLES]
        if name not in read:
            hint = config.nearest(name, read)
            yield f"nothing reads {name}" + (f"; did you mean {hint}?" if hint else "")


def _variables(known: Commands, command: str) -> list[str]:
    """Name the variables that a command reads: its own, and those for every command."""
    found = known.command(command)
    names = []
    for param in found.params if found else []:
        if isinstance(param, TapOption):
            names.append(_variable(command, param.key))
            names += [param.envvar] if isinstance(param.envvar, str) else []
    return names


def _variable(command: str, key: str) -> str:
    """Name the variable of a setting of one command."""
    return f"{PREFIX}_{command}_{key}".upper().replace("-", "_")
