"""What one run of the tap around a server process is told to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StdioSettings:
    """Settings of a run over stdio; the command line and the library fill them in.

    A dataclass and no `Struct`, since the server is started before anything slow is imported.
    """

    command: Sequence[str]
    """The server's command line."""
    shown: str | None = None
    """What the server is called where it is shown and recorded; None: its command line."""
    label: str | None = None
    sync: bool = False
    """Write the record of a line before its last bytes go on."""
    rotate: int | None = None
    """Bytes after which a capture goes on in a further part."""
    max_body: int = 16 << 20
    """Bytes of a line that are recorded; traffic is never cut."""
    redact: Sequence[str] = ()
    default_redaction: bool = True
    redact_key: str | None = None
    """File whose content is the masking key."""
