"""What one run of the tap is told to do."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class TapSettings(Struct, frozen=True, kw_only=True):
    """Settings of a live run; the command line and the library fill them in."""

    upstream: str
    """URL of the server."""
    command: list[str] = []
    """Command line of a server behind a bridge; recorded in the place of `upstream`."""
    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = 7777
    """Port to listen on; 0 takes any free one."""
    headers: list[tuple[str, str]] = []
    """Fields put into each request sent upstream, replacing those of the same name."""
    label: str | None = None
    insecure: bool = False
    """Do not verify the upstream's certificate."""
    cacert: str | None = None
    """File of CA certificates to trust instead of the system's."""
    host_header: Literal["keep", "upstream"] | None = None
    """Whose `Host` goes upstream; None keeps the client's where the upstream is on loopback."""
    allow_host: list[str] = []
    allow_origin: list[str] = []
    sync: bool = False
    """Write each record before the bytes go on."""
    rotate: int | None = None
    """Bytes after which a capture goes on in a further part."""
    max_body: int = 16 << 20
    """Bytes of a payload that are recorded; traffic is never cut."""
    redact: list[str] = []
    default_redaction: bool = True
    redact_key: str | None = None
    """File whose content is the masking key."""
