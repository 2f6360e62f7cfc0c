"""What a run begins with, over HTTP and over stdio: who masks, who looks on, and the header."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol

from mcp_tap import __version__
from mcp_tap.capture.store import run_id_for
from mcp_tap.core.finding import Finding
from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.records import FORMAT, Header
from mcp_tap.core.redact import Redactor
from mcp_tap.core.redact_records import told
from mcp_tap.errors import UsageError


class Feed(Protocol):
    """Who looks on: a view, or a test."""

    def start(self, header: Header) -> None:
        """Take the run's header."""

    def update(self, changes: Sequence[Call | Exchange | Finding], now: float) -> None:
        """Take what changed."""

    def notice(self, text: str) -> None:
        """Take words of the tap's own."""

    def close(self) -> None:
        """See the end."""


class Recorded(Protocol):
    """What settings say about the recording."""

    @property
    def label(self) -> str | None:
        """Name of the server."""

    @property
    def max_body(self) -> int:
        """Bytes of a payload that are recorded."""

    @property
    def redact(self) -> Sequence[str]:
        """What is masked beside the default."""

    @property
    def default_redaction(self) -> bool:
        """Credentials are masked."""

    @property
    def redact_key(self) -> str | None:
        """File whose content is the masking key."""


def redactor_of(settings: Recorded) -> Redactor:
    """Make the redactor of a run.

    Raises:
        UsageError: a specification or the key cannot be used.
    """
    return Redactor(
        masking_key(settings.redact_key),
        default=settings.default_redaction,
        specs=settings.redact,
    )


def header_of(
    settings: Recorded,
    redactor: Redactor,
    *,
    transport: Literal["http", "stdio"],
    upstream: str,
    listen: str = "",
    capture: Path | None,
    wall: datetime,
) -> Header:
    """Make the header of a run that begins at this time of the day."""
    return Header(
        seq=0,
        t=0.0,
        format=FORMAT,
        tool=f"mcp-tap/{__version__}",
        run=run_id_for(capture, settings.label, wall),
        started=wall.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        transport=transport,
        upstream=_legible(upstream),
        listen=listen,
        label=None if settings.label is None else _legible(settings.label),
        redaction=[
            *(["default"] if settings.default_redaction else []),
            *map(_legible, told(settings.redact, redactor)),
        ],
        max_body=settings.max_body,
        key=redactor.fingerprint,
    )


def masking_key(path: str | None) -> bytes:
    """Read the masking key from a file; without one, make a random key.

    Raises:
        UsageError: it cannot be read, or is too short.
    """
    if path is None:
        return secrets.token_bytes(32)
    try:
        key = Path(path).read_bytes().strip()
    except OSError as error:
        raise UsageError(
            "bad-redact-key",
            f"cannot read the masking key {path}",
            why=error.strerror or str(error),
        ) from None
    if len(key) < 16:
        raise UsageError(
            "bad-redact-key",
            f"the masking key {path} has {len(key)} bytes",
            why="short keys can be guessed, and with them what was masked",
            help=f"head -c 32 /dev/urandom | base64 > {path}",
        )
    return key


def _legible(text: str) -> str:
    """Replace what was no UTF-8 on the command line: a capture is."""
    return text.encode(errors="surrogateescape").decode(errors="replace")
