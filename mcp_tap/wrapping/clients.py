"""Which clients there are, where their configuration files lie, and how they write of servers.

Each is as the client's own documentation has it; docs/wrap.md names the pages.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from mcp_tap.wrapping import notation
from mcp_tap.wrapping.entry import Shape, at
from mcp_tap.wrapping.jsonc import Jsonc
from mcp_tap.wrapping.notation import Notation
from mcp_tap.wrapping.toml import Toml

EVERY: Final = "*"
"""In the path of a table: every name."""


class Client(Struct, frozen=True, kw_only=True):
    """A client, as far as its configuration goes."""

    name: str
    title: str
    user: tuple[str, ...]
    """Files of the user: `~` is the home, `{config}` where programs of this system keep theirs,
    `{xdg}` the same on Linux and macOS alike."""
    project: str | None = None
    """File of a project, from its folder."""
    tables: tuple[notation.Path, ...] = (("mcpServers",),)
    """Tables whose members are servers."""
    shape: Shape = Shape()
    variable: tuple[str, str] | None = None
    """A variable that names the folder of the user's file, and the file in it."""


CLIENTS: Final = (
    Client(
        name="claude-desktop",
        title="Claude Desktop",
        user=("{config}/Claude/claude_desktop_config.json",),
    ),
    Client(
        name="claude-code",
        title="Claude Code",
        user=("~/.claude.json",),
        project=".mcp.json",
        tables=(("mcpServers",), ("projects", EVERY, "mcpServers")),
        variable=("CLAUDE_CONFIG_DIR", ".claude.json"),
    ),
    Client(name="cursor", title="Cursor", user=("~/.cursor/mcp.json",), project=".cursor/mcp.json"),
    Client(
        name="vscode",
        title="VS Code",
        user=("{config}/Code/User/mcp.json", "{config}/Code - Insiders/User/mcp.json"),
        project=".vscode/mcp.json",
        tables=(("servers",),),
    ),
    Client(
        name="windsurf",
        title="Windsurf",
        user=("~/.codeium/windsurf/mcp_config.json",),
        shape=Shape(("serverUrl", "url")),
    ),
    Client(
        name="gemini",
        title="Gemini CLI",
        user=("~/.gemini/settings.json",),
        project=".gemini/settings.json",
        shape=Shape(("httpUrl", "url"), url_first=True),
    ),
    Client(
        name="codex",
        title="Codex",
        user=("~/.codex/config.toml",),
        project=".codex/config.toml",
        tables=(("mcp_servers",),),
        variable=("CODEX_HOME", "config.toml"),
    ),
    Client(
        name="zed",
        title="Zed",
        user=("{xdg}/zed/settings.json",),
        project=".zed/settings.json",
        tables=(("context_servers",),),
    ),
    Client(name="lm-studio", title="LM Studio", user=("~/.lmstudio/mcp.json",)),
)
OTHER: Final = Client(
    name="other",
    title="a client",
    user=(),
    tables=tuple({table: None for client in CLIENTS for table in client.tables}),
    shape=Shape(("httpUrl", "serverUrl", "url")),
)
"""For a file that is named without its client."""


def places(
    client: Client,
    *,
    home: Path,
    env: Mapping[str, str],
    projects: Sequence[Path],
    system: str = sys.platform,
) -> Iterator[Path]:
    """Name the files in which a client may have servers, of which not all need exist.

    Args:
        client: whose files.
        home: folder of the user.
        env: variables of the environment.
        projects: folders in which a project's files may lie.
        system: name of the platform.
    """
    folder = env.get(client.variable[0]) if client.variable else None
    if folder and client.variable:
        yield Path(folder) / client.variable[1]
    else:
        xdg = env.get("XDG_CONFIG_HOME") or str(home / ".config")
        config = {
            "win32": env.get("APPDATA") or str(home / "AppData" / "Roaming"),
            "darwin": str(home / "Library" / "Application Support"),
        }.get(system, xdg)
        for path in client.user:
            named = path.format(config=config, xdg=config if system == "win32" else xdg)
            yield home / named[2:] if named.startswith("~/") else Path(named)
    if client.project:
        yield from (project / client.project for project in projects)


def read_notation(path: Path, data: bytes) -> Notation:
    """Read what is in a file.

    Raises:
        Unreadable: it is not in the notation its name tells.
    """
    return Toml(data) if path.suffix.lower() == ".toml" else Jsonc(data)


def servers(
    client: Client, value: Any, projects: Sequence[Path] | None = None
) -> list[notation.Path]:
    """List the paths of all servers in what a file says.

    Args:
        client: whose file it is.
        value: what it says.
        projects: of tables that belong to one project, take those of these folders; None: all.
    """
    found: list[notation.Path] = []
    for table in client.tables:
        for path in _tables(value, table, projects):
            entries = at(value, path)
            if isinstance(entries, dict):
                found += [(*path, name) for name, one in entries.items() if isinstance(one, dict)]
    return found


def _tables(
    value: Any, table: notation.Path, projects: Sequence[Path] | None
) -> list[notation.Path]:
    if EVERY not in table:
        return [table]
    index = table.index(EVERY)
    names = at(value, table[:index])
    if not isinstance(names, dict):
        return []
    wanted = None if projects is None else {os.path.normcase(path) for path in projects}
    return [
        (*table[:index], name, *table[index + 1 :])
        for name in names
        if wanted is None or os.path.normcase(name) in wanted
    ]
