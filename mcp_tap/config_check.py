"""Refuse what a configuration file may not say, before any of it is used.

Rules of this file:

- What is not known is an error that names the nearest; what another command reads is its matter.
- What a command's table holds beside options is read by the command's own readers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mcp_tap.config import (
    NOT_FROM_PROJECTS,
    ConfigFile,
    Known,
    Setting,
    every_setting,
    nearest,
    placed_path,
)
from mcp_tap.errors import ConfigError


def check(file: ConfigFile, known: Known, command: str | None) -> None:
    """Refuse what the file may not say to this command (None: to any), before it is used."""
    commands = known.commands()
    for key, value in file.table.items():
        if key in commands and isinstance(value, dict):
            if command in (None, key):
                _check_table(file, value, known, key)
            continue
        listed = isinstance(value, list) and any(isinstance(one, dict) for one in value)
        if key in commands and (listed or key not in every_setting(known)):
            raise ConfigError(
                "setting-type", f'"{key}" takes a table', where=file.where(), help=f"[{key}]"
            )
        own = every_setting(known) if command is None else known.options(command)
        if command is not None and key.replace("_", "-") not in own:
            every = every_setting(known)
            hint = nearest(key.replace("_", "-"), [*every, *commands])
            if key.replace("_", "-") in every or not (hint == command or hint in own):
                continue  # another command's matter, or nobody's: `unread` tells of those
        _check_one(file, key, value, own, hints=[*own, *commands])


def _check_table(file: ConfigFile, table: dict[str, Any], known: Known, command: str) -> None:
    options, readers = known.options(command), known.tables(command)
    for key, value in table.items():
        if key in readers:
            readers[key](value, file.where(command))
        else:
            _check_one(file, key, value, options, command, hints=[*options, *readers])
    plain = [key.replace("_", "-") for key in table]
    for key in plain:
        if plain.count(key) > 1:
            raise ConfigError(
                "setting-twice",
                f'"{key}" is set twice, by two spellings',
                where=file.where(command),
            )


def _check_one(
    file: ConfigFile,
    key: str,
    value: Any,
    options: Mapping[str, Setting],
    *scope: str,
    hints: Sequence[str],
) -> None:
    setting = options.get(key.replace("_", "-"))
    if setting is None:
        hint = nearest(key.replace("_", "-"), hints)
        listed = f"mcp-tap {scope[0]} --help lists them" if scope else "mcp-tap config lists them"
        raise ConfigError(
            "unknown-setting",
            f'there is no setting "{key}"' + (f" for mcp-tap {scope[0]}" if scope else ""),
            where=file.where(*scope),
            help=f'did you mean "{hint}"?' if hint else listed,
        )
    if file.project and setting.key in NOT_FROM_PROJECTS:
        raise ConfigError(
            "setting-not-trusted",
            f'a project\'s file may not set "{setting.key}"',
            where=file.where(*scope),
            why=NOT_FROM_PROJECTS[setting.key],
            help=f"give --{setting.key} on the command line, or set it in your own file",
        )
    _check_value(file, setting, value, *scope)


def _check_value(file: ConfigFile, setting: Setting, value: Any, *scope: str) -> None:
    wanted: dict[str, tuple[str, Any]] = {
        "flag": ("true or false", bool),
        "count": ("a whole number", int),
        "one": ("one value, as text or a number", (str, int, float)),
        "many": ("a list of texts", (str, list)),
    }
    words, kinds = wanted[setting.shape]
    fits = isinstance(value, kinds) and (setting.shape == "flag" or not isinstance(value, bool))
    if isinstance(value, list):
        fits = fits and all(isinstance(v, str) for v in value)
    if not fits:
        raise ConfigError(
            "setting-type", f'"{setting.key}" takes {words}', where=file.where(*scope)
        )
    if file.project and setting.path:
        folder = file.path.parent.resolve()
        for part in value if isinstance(value, list) else [value]:
            if not Path(placed_path(part, file)).resolve().is_relative_to(folder):
                raise ConfigError(
                    "setting-not-trusted",
                    f'a project\'s file may not set "{setting.key}" to a path outside its folder',
                    where=file.where(*scope),
                    help=f"give --{setting.key} on the command line, or set it in your own file",
                )
