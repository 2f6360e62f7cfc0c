"""Where settings may stand: in the repository, or in this folder alone; and the user's own."""

from __future__ import annotations

import platformdirs
import pytest

from mcp_tap.config_places import project_files, project_folders, user_file


def test_the_search_ends_at_the_root_of_the_repository(tmp_path):
    deep = tmp_path / "repository" / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    for folder in (tmp_path, tmp_path / "repository", deep):
        (folder / "mcp-tap.toml").touch()
    (deep / "pyproject.toml").touch()
    assert project_folders(deep) == [deep, deep.parent, deep.parent.parent]
    assert [str(path.relative_to(tmp_path)) for path in project_files(deep)] == [
        "repository/a/b/mcp-tap.toml",
        "repository/a/b/pyproject.toml",
        "repository/mcp-tap.toml",
    ]


def test_outside_of_a_repository_only_the_folder_counts(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "mcp-tap.toml").touch()
    assert list(project_files(inner)) == []


@pytest.mark.parametrize("folder", [None, "", " ", "here"])
def test_the_users_file_stands_where_the_platform_keeps_configuration(
    monkeypatch, tmp_path, folder
):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME")
    if folder is not None:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / folder) if folder.strip() else folder)
    assert user_file() == platformdirs.user_config_path("mcp-tap") / "config.toml"
