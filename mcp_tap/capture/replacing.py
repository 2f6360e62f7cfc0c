"""Files that stand in their place as a whole or not at all."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Write a file that takes the place of `path` in one step: who sees it sees all of it.

    It is for its owner only.  Where writing fails, what stood there before stands still, and
    nothing is left beside it.

    Raises:
        OSError: it cannot be written.
    """
    with tempfile.NamedTemporaryFile(
        dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as file:
        temporary = Path(file.name)
        try:
            yield file
            file.close()
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
