"""`mcp-tap config`: what every option is set to, and where that came from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from mcp_tap import config
from mcp_tap.cli.common import EVERYWHERE, TapCommand, TapContext, TapOption, output, spoken
from mcp_tap.cli.output import dumped, printable
from mcp_tap.cli.settings import Commands
from mcp_tap.config_places import user_file
from mcp_tap.core.text import safe
from mcp_tap.errors import UsageError


class Row(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One setting of one command."""

    command: str
    name: str
    value: Any
    source: str
    """`default`, a variable, or a file and its table."""
    unset: str = ""
    """What it means that there is no value."""


@click.command("config", cls=TapCommand)
@click.argument("named", metavar="[COMMAND]", nargs=-1)
@click.pass_context
def command(ctx: click.Context, /, named: tuple[str, ...]) -> None:
    """Print the settings in force, each with where it came from.

    They are those of every command, or of COMMAND.  A flag beats a variable (MCP_TAP_HTTP_LISTEN),
    a variable beats a file, a file beats the default.  Values that may be secret are not printed.
    """
    assert isinstance(ctx, TapContext)
    known = Commands(ctx)
    names, name = known.commands(), "-".join(named)
    if name and name not in names:
        near = spoken(config.nearest(name, names) or "")
        raise UsageError(
            "unknown-command",
            f"mcp-tap has no command {' '.join(named)}",
            help=f"did you mean mcp-tap config {near}?" if near else "mcp-tap --help lists them",
        )
    rows = [row for each in ([name] if name else names) for row in _rows(ctx, known, each)]
    out = output()
    if out.json:
        files = [{"path": printable(path), "used": used} for path, used in _files(ctx)]
        settings = [msgspec.to_builtins(row) for row in rows]
        document = {"version": 1, "files": files, "settings": settings}
        out.document(dumped(document))
        return
    out.write("files")
    for path, used in _files(ctx):
        out.write(f"  {safe(str(path))}  ({used})")
    shown = [row for row in rows if not (_is_shared(known, row) and row.source == "default")]
    widths = [max(len(row.name) for row in shown), max(len(_words(row)) for row in shown)]
    last = ""
    for row in shown:
        if row.command != last:
            out.write(f"\n{row.command}")
            last = row.command
        words = _words(row)
        out.write(f"  {row.name:{widths[0]}}  {words:{min(widths[1], 30)}}  {safe(row.source)}")


def _rows(ctx: TapContext, known: Commands, name: str) -> list[Row]:
    """Work out one command's settings as if it were run without arguments."""
    found = known.command(name)
    if found is None:
        return []
    own = TapContext(found, info_name=name, parent=ctx.parent)
    own.found = config.settings(ctx.files, known, name)
    own.default_map = {param: value.value for param, value in own.found.items()}
    rows = []
    keys = known.options(name)
    for param in found.params:
        if not isinstance(param, TapOption) or param.key not in keys:
            continue
        raw, _ = param.consume_value(own, {})
        value = param.process_value(own, raw)  # refuses what the command itself would refuse
        if not param.is_flag:  # as it is written, not as it is understood
            value = raw if isinstance(raw, str | int | float | list | tuple) else None
        if param.secret and value:
            value = "(set, not shown)"
        source = own.origins.get(param.name or "", "default")
        unset = "" if value else param.unset
        rows.append(Row(command=name, name=param.key, value=value, source=source, unset=unset))
    return [*rows, *_tables(ctx, known, name)]


def _tables(ctx: TapContext, known: Commands, name: str) -> list[Row]:
    """List what the command's table holds beside options."""
    file = ctx.files[0] if ctx.files else None
    table = file.table.get(name, {}) if file else {}
    if file is None or not isinstance(table, dict):
        return []
    return [
        Row(command=name, name=key, value=msgspec.to_builtins(table[key]), source=file.where(name))
        for key in known.tables(name)
        if key in table
    ]


def _files(ctx: TapContext) -> list[tuple[Path, str]]:
    """List the files that were looked at, each with its part in the matter."""
    rows = [
        (file.path, "decides" if number == 0 else "only what adds up: redact")
        for number, file in enumerate(ctx.files)
    ]
    if user_file() not in [path for path, _ in rows]:
        rows.append((user_file(), "not read" if user_file().is_file() else "not there"))
    return rows


def _is_shared(known: Commands, row: Row) -> bool:
    found = known.command(row.command)
    return found is not None and any(
        isinstance(p, TapOption) and p.key == row.name and p.panel == EVERYWHERE
        for p in found.params
    )


def _words(row: Row) -> str:
    match row.value:
        case None | "" | () | []:
            return row.unset or "-"
        case bool():
            return "yes" if row.value else "no"
        case dict():
            return safe(", ".join(f"{key} = {value}" for key, value in row.value.items()))
        case list() | tuple():
            return safe(", ".join(_entry(value) for value in row.value))
    return safe(str(row.value))


def _entry(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(str(part) for part in value.values())
    return str(value)
