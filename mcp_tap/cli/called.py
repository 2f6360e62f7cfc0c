"""What this program is called on the command line, so that a command we suggest can be pasted.

Called by a path that the shell would not find by itself (`.venv/bin/mcp-tap demo`), a suggested
command has that path too.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from functools import lru_cache

PROGRAM = "mcp-tap"


def called() -> str:
    """Give what to write for `mcp-tap` in a shell."""
    return _called(sys.argv[0] if sys.argv else "", os.environ.get("PATH", ""))


def as_called(text: str) -> str:
    """Write the commands in `text` as this program was called."""
    name = called()
    if name == PROGRAM or PROGRAM not in text:
        return text
    from mcp_tap.cli.common import spoken
    from mcp_tap.cli.main import COMMANDS

    names = "|".join(map(spoken, COMMANDS))
    command = rf"(?<![\w./-]){PROGRAM}(?= (?:{names}|--help)\b)"
    return re.sub(command, lambda _: name, text)


@lru_cache(maxsize=1)
def _called(argument: str, path: str) -> str:
    if os.sep not in argument or os.path.basename(argument) != PROGRAM:  # noqa: PTH119 - start-up
        return PROGRAM
    found = shutil.which(PROGRAM, path=path)
    try:
        if found is not None and os.path.samefile(found, argument):  # noqa: PTH121 - start-up
            return PROGRAM  # the shell found it there, and gave us the whole path
    except OSError:
        return PROGRAM
    return shlex.quote(argument)
