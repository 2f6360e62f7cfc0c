"""The words of `--upstream-command`, and what is wrong with them before anything is started."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from typing import Final

from mcp_tap.errors import UsageError

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=", re.ASCII)
_SHELL_ONLY: Final = frozenset({"&&", "||", "|", ";", "&", ">", ">>", "<", "2>&1"})


_SHELL: Final = "/bin/sh"
_GUARD: Final = (
    "exec 3<&0; "
    "( (cat <&3; kill -TERM 0) >/dev/null 2>&1 & ); "  # no child of the server's, which may count
    'exec "$@" 3<&-'
)
"""Begins the command in its place, beside something that waits for the end of stdin and then ends
the group: stdin ends when the tap does, even where that is killed outright."""


def guarded(words: list[str]) -> list[str]:
    """Give the words of a command that does not outlive us, to be run as a group of its own.

    As they are where there is no shell for that.
    """
    if not (os.access(_SHELL, os.X_OK) and shutil.which("cat")):
        return words
    return [_SHELL, "-c", _GUARD, words[0], *words]


def words_of(command: str, option: str = "--upstream-command") -> list[str]:
    """Divide a command into words as a shell does, and see that it can be started.

    Args:
        command: that was given.
        option: it was given with.

    Raises:
        UsageError: it has no words, needs a shell, or names no program there is.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        why = str(error).lower()
        raise UsageError("usage", f"{option} cannot be read", why=why) from None
    if not words:
        raise UsageError("usage", f"{option} is empty", help="write the command there")
    for_shell = next((word for word in words if word in _SHELL_ONLY), None)
    if for_shell is not None:
        raise UsageError(
            "usage",
            f"{option} has {for_shell} in it, which only a shell understands",
            why="it is run without a shell",
            help=f"{option} {shlex.quote('sh -c ' + shlex.quote(command))}",
        )
    if _ASSIGNMENT.match(words[0]):
        raise UsageError(
            "usage",
            f"{option} begins with a variable, not with a program",
            why="it is run without a shell",
            help=f"{option} {shlex.quote('env ' + command)}",
        )
    if shutil.which(words[0]) is None:
        raise UsageError(
            "command-not-found",
            f"there is no command {words[0]}",
            where=option,
            why="it is not on PATH, or not executable",
        )
    return words
