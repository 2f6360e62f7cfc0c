"""Read settings from files, and say of each where it came from.

Rules of this file:

- A setting's name is the long option's name.  At the top of a file it holds for every command
  that has the option; in the command's own table (`[http]`) it holds for that one, and wins.
  `max_body` is read as `max-body`.
- Files are not merged: the file named by `--config`, else the nearest project file up to the
  repository root, else the user's own.  Only settings that add up (`redact`) are taken from all
  of them, for a closer file must not quietly un-redact.
- A project's file comes with a clone, so it is not trusted: it may not set what could run code,
  send credentials or switch a protection off, and its paths stay inside its folder.
- A file is shared by all commands, so one command is not stopped by what is wrong with another's
  settings: only the running command's table, and what it reads above the tables, is checked.
- This module does not know the commands.  What may be set is asked of a `Known`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from mcp_tap.config_places import PROJECT_FILE, PYPROJECT, project_files
from mcp_tap.errors import ConfigError

NOT_FROM_PROJECTS = {
    "script": "it would run code that came with the repository",
    "upstream-command": "it would run code that came with the repository",
    "stdio": "it would run code that came with the repository",
    "to": "it would send what you send to a server that you did not choose",
    "insecure": "it would switch off the check of the server's certificate",
    "header": "it would send headers that you did not choose",
    "no-default-redaction": "it would write credentials to the capture",
    "yes": "it would delete captures without asking you",
    "force": "it would delete captures that are still being written",
    "answers": "a script can send your environment's variables to the server",
    "write-baseline": "it would accept whatever is found",
    "all": "it would change your clients' configuration where you only look at it",
    "client": "it would change your clients' configuration where you only look at it",
    "config-file": "it would change a client's configuration that you did not name",
}
"""Settings a project's file may not hold, each with the reason."""


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One option of one command, as far as a file may set it."""

    key: str
    """The long option's name without its dashes."""
    param: str
    """The name the command knows it by."""
    shape: Literal["flag", "count", "one", "many"] = "one"
    path: bool = False
    adds_up: bool = False


class Known(Protocol):
    """What may be set."""

    def commands(self) -> Sequence[str]:
        """Name every command, hence every table."""

    def options(self, command: str) -> Mapping[str, Setting]:
        """Give the settings of one command, by key."""

    def tables(self, command: str) -> Mapping[str, Callable[[Any, str], object]]:
        """Give what a command's table holds beside options: by key, who reads it.

        A reader gets what stands there, and where that is; it refuses what cannot be meant.
        """


class ConfigFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was found and read."""

    path: Path
    project: bool
    """Found in the project, so not trusted."""
    table: dict[str, Any]
    prefix: str = ""
    """`tool.mcp-tap` in a `pyproject.toml`."""

    def where(self, *scope: str) -> str:
        """Name the file and the table, as an error message does."""
        inside = ".".join(s for s in (self.prefix, *scope) if s)
        return f"{self.path} [{inside}]" if inside else str(self.path)


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The value of a setting and the file (and table) it stands in."""

    value: Any
    where: str


def nearest(word: str, names: Sequence[str]) -> str | None:
    """Give the name that was probably meant, if one is near enough."""
    import difflib  # noqa: PLC0415 - only a mistake needs it

    return next(iter(difflib.get_close_matches(word, names, 1)), None)


def load(
    known: Known,
    *,
    cwd: Path,
    user: Path | None = None,
    explicit: Path | None = None,
    command: str | None = None,
) -> list[ConfigFile]:
    """Find, read and check the files that count: the one that decides first.

    Args:
        known: what may be set.
        cwd: where the search for a project's file begins.
        user: the user's own file, which need not exist.
        explicit: the file named by `--config`; it replaces the project's.
        command: check only what concerns this command; None: check all.

    Raises:
        ConfigError: a file cannot be read, or holds a setting that it may not.
    """
    files = []
    if explicit is not None:
        files.append(_named(explicit))
    else:
        files += _project(cwd)
    if user is not None and user.is_file():
        files.append(ConfigFile(path=user, project=False, table=_read(user)))
    from mcp_tap.config_check import check  # noqa: PLC0415 - it needs this module's classes

    for file in files:
        check(file, known, command)
    return files


def unread(files: Sequence[ConfigFile], known: Known, command: str) -> Iterator[str]:
    """Yield a sentence for each name above the tables that no command reads.

    What the running `command` reads is settled without a look at the others.
    """
    for file in files:
        for key in file.table:
            plain = key.replace("_", "-")
            if plain in known.commands() or plain in known.options(command):
                continue
            names = [*every_setting(known), *known.commands()]
            if plain not in names:
                hint = nearest(plain, names)
                meant = f'; did you mean "{hint}"?' if hint else ""
                yield f'nothing reads "{key}" in {file.where()}{meant}'


def settings(files: Sequence[ConfigFile], known: Known, command: str) -> dict[str, Found]:
    """Give what the files say for one command, by the command's own parameter names."""
    options = known.options(command)
    found: dict[str, Found] = {}
    for file in files[:1]:
        for setting, value, where in _entries(file, options, command):
            found[setting.param] = Found(value=value, where=where)
    for setting in options.values():
        if setting.adds_up:
            parts = [
                (value, where)
                for file in files
                for other, value, where in _entries(file, options, command)
                if other.key == setting.key
            ]
            if parts:
                every = list(dict.fromkeys(spec for value, _ in parts for spec in value))
                found[setting.param] = Found(
                    value=every, where=", ".join(dict.fromkeys(where for _, where in parts))
                )
    return found


def _entries(
    file: ConfigFile, options: Mapping[str, Setting], command: str
) -> Iterator[tuple[Setting, Any, str]]:
    """Yield the settings of one file for one command, the closer scope last."""
    own = file.table.get(command)
    scopes = [((), file.table)] + ([((command,), own)] if isinstance(own, dict) else [])
    for scope, table in scopes:
        for key, value in table.items():
            setting = options.get(key.replace("_", "-"))
            if setting is not None and not isinstance(value, dict):
                yield setting, _placed(setting, value, file), file.where(*scope)


def _placed(setting: Setting, value: Any, file: ConfigFile) -> Any:
    """Take a lone value of a repeatable setting as a list, and paths from the file's folder."""
    if setting.shape == "many":
        values = value if isinstance(value, list) else [value]
        return [placed_path(v, file) for v in values] if setting.path else values
    return placed_path(value, file) if setting.path else value


def placed_path(value: Any, file: ConfigFile) -> str:
    """Take a path from its file's folder.

    Raises:
        ConfigError: no file can have such a name.
    """
    if "\0" in str(value):
        raise ConfigError(
            "bad-value", "a path holds a character that no path can hold", where=str(file.path)
        )
    return str(file.path.parent / Path(str(value)).expanduser())


def _project(cwd: Path) -> list[ConfigFile]:
    """Find the nearest project file that has settings."""
    for path in project_files(cwd):
        if path.name == PROJECT_FILE:
            return [ConfigFile(path=path, project=True, table=_read(path))]
        table = _pyproject(path)
        if table is not None:
            return [ConfigFile(path=path, project=True, table=table, prefix="tool.mcp-tap")]
    return []


def _named(path: Path) -> ConfigFile:
    if path.name != PYPROJECT:
        return ConfigFile(path=path, project=False, table=_read(path))
    return ConfigFile(path=path, project=False, table=_pyproject(path) or {}, prefix="tool.mcp-tap")


def _pyproject(path: Path) -> dict[str, Any] | None:
    """Read `[tool.mcp-tap]`; a file that never names it is not even parsed."""
    if not re.search(rb"mcp[-_]tap", _bytes(path)):
        return None
    tool = _read(path).get("tool")
    if not isinstance(tool, dict):
        return None
    if "mcp_tap" in tool:
        raise ConfigError(
            "unknown-setting",
            "[tool.mcp_tap] is not read",
            where=str(path),
            help="did you mean [tool.mcp-tap]?",
        )
    table = tool.get("mcp-tap")
    return table if isinstance(table, dict) else None


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(
            "config-unreadable",
            f"{path} cannot be read",
            why=(error.strerror or "unknown reason").lower(),
            help="--no-config goes on without files",
        ) from error


def _read(path: Path) -> dict[str, Any]:
    try:
        table: dict[str, Any] = msgspec.toml.decode(_bytes(path))
    except RecursionError as error:
        raise ConfigError(
            "config-syntax", f"{path} cannot be read", why="it is nested too deep"
        ) from error
    except (msgspec.DecodeError, ValueError) as error:  # ValueError: a number of 5,000 digits
        raise ConfigError("config-syntax", f"{path} is not TOML", why=str(error)) from error
    return table


def every_setting(known: Known) -> dict[str, Setting]:
    """Give the settings of all commands, by key."""
    return {k: s for c in known.commands() for k, s in known.options(c).items()}
