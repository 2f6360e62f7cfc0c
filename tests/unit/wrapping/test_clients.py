from __future__ import annotations

from pathlib import Path

import pytest

from mcp_tap.wrapping.clients import CLIENTS, OTHER, places, read_notation, servers
from tests.wrapping import FIXTURES, client_of

HOME = Path("/home/ada")
BY_NAME = {client.name: client for client in CLIENTS}


def paths(name, system="linux", env=None, projects=()):
    found = places(BY_NAME[name], home=HOME, env=env or {}, projects=projects, system=system)
    return [path.as_posix() for path in found]


@pytest.mark.parametrize(
    ("name", "system", "wanted"),
    [
        (
            "claude-desktop",
            "darwin",
            "Library/Application Support/Claude/claude_desktop_config.json",
        ),
        ("claude-desktop", "win32", "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("claude-desktop", "linux", ".config/Claude/claude_desktop_config.json"),
        ("claude-code", "linux", ".claude.json"),
        ("cursor", "darwin", ".cursor/mcp.json"),
        ("vscode", "linux", ".config/Code/User/mcp.json"),
        ("vscode", "darwin", "Library/Application Support/Code/User/mcp.json"),
        ("vscode", "win32", "AppData/Roaming/Code/User/mcp.json"),
        ("windsurf", "win32", ".codeium/windsurf/mcp_config.json"),
        ("gemini", "linux", ".gemini/settings.json"),
        ("codex", "linux", ".codex/config.toml"),
        ("zed", "linux", ".config/zed/settings.json"),
        ("zed", "darwin", ".config/zed/settings.json"),
        ("zed", "win32", "AppData/Roaming/zed/settings.json"),
        ("lm-studio", "linux", ".lmstudio/mcp.json"),
    ],
)
def test_the_user_s_file_lies_where_the_client_s_documentation_says(name, system, wanted):
    assert f"/home/ada/{wanted}" in paths(name, system)


def test_variables_move_folders_as_they_do_for_the_clients():
    assert paths("codex", env={"CODEX_HOME": "/c"}) == ["/c/config.toml"]
    assert paths("claude-code", env={"CLAUDE_CONFIG_DIR": "/c"}) == ["/c/.claude.json"]
    assert paths("zed", env={"XDG_CONFIG_HOME": "/x"}) == ["/x/zed/settings.json"]
    assert paths("claude-desktop", "win32", env={"APPDATA": "/r"})[0].startswith("/r/Claude/")


def test_a_project_s_file_is_looked_for_in_its_folders():
    found = paths("vscode", projects=[Path("/p/sub"), Path("/p")])
    assert found[-2:] == ["/p/sub/.vscode/mcp.json", "/p/.vscode/mcp.json"]
    assert paths("lm-studio", projects=[Path("/p")]) == ["/home/ada/.lmstudio/mcp.json"]


def test_servers_of_other_projects_are_left_out_where_projects_are_named():
    path = next(path for path in FIXTURES if path.name == ".claude.json")
    value = read_notation(path, path.read_bytes()).value
    client = client_of(path)
    names = [one[-1] for one in servers(client, value)]
    assert names == ["asana", "playwright", "stripe", "shell"]
    here = servers(client, value, [Path("/home/ada/shop/sub"), Path("/home/ada/shop")])
    assert [one[-1] for one in here] == names
    assert [one[-1] for one in servers(client, value, [Path("/x")])] == names[:2]


def test_a_file_of_no_known_client_has_its_servers_in_any_of_the_tables():
    value = {"servers": {"a": {}}, "mcpServers": {"b": {}, "c": 1}, "context_servers": []}
    assert servers(OTHER, value) == [("mcpServers", "b"), ("servers", "a")]


@pytest.mark.parametrize("value", [[], 1, None, {"mcpServers": 1}, {"projects": {"x": 1}}])
def test_what_holds_no_servers_has_none(value):
    assert servers(BY_NAME["claude-code"], value) == []
