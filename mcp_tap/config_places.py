"""Where settings may stand; apart, since most commands find none and then need no more."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

PROJECT_FILE = "mcp-tap.toml"
PYPROJECT = "pyproject.toml"

_ROOT_MARKS = (".git", ".hg", ".jj")


def project_folders(cwd: Path) -> list[Path]:
    """List the folders a project's files may lie in: this, and those above it in the repository.

    Outside of a repository it is only this one: a parent may belong to others.
    """
    folders = [cwd, *cwd.parents]
    root = next((f for f in folders if any((f / mark).exists() for mark in _ROOT_MARKS)), cwd)
    return folders[: folders.index(root) + 1]


def project_files(cwd: Path) -> Iterator[Path]:
    """Give the files there in which a project's settings may stand, the nearest first."""
    for folder in project_folders(cwd):
        for name in (PROJECT_FILE, PYPROJECT):
            path = folder / name
            if path.is_file():
                yield path


def user_file() -> Path:
    """Say where the user's own file would be."""
    here: str = sys.platform
    if here == "linux":  # as platformdirs has it, which takes longer than all else here
        folder = os.environ.get("XDG_CONFIG_HOME", "").strip() or "~/.config"
        return Path(folder).expanduser() / "mcp-tap" / "config.toml"
    import platformdirs  # noqa: PLC0415 - as said

    return platformdirs.user_config_path("mcp-tap") / "config.toml"
