"""The upstream's URL, taken apart."""

from __future__ import annotations

import re
import ssl
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from mcp_tap.core.text import safe
from mcp_tap.errors import UsageError
from mcp_tap.net.guard import is_loopback


class Target(Struct, frozen=True, kw_only=True):
    """Where the upstream is."""

    host: str
    port: int
    tls: bool
    path: str
    """Path of the URL, as the client's URL gets it."""
    authority: str
    """As a Host field has it."""

    @property
    def origin(self) -> str:
        """Scheme and authority, as people write them."""
        return f"{'https' if self.tls else 'http'}://{self.authority}"

    @property
    def url(self) -> str:
        """The URL without query and user, as it is shown and recorded."""
        return self.origin + self.path

    @property
    def loopback(self) -> bool:
        """The upstream runs on this machine."""
        return is_loopback(self.host.lower())


def parse_target(url: str) -> Target:
    """Take an upstream URL apart; raise `UsageError` where it is none."""
    if any(ch.isspace() or safe(ch) != ch for ch in url):
        # urlsplit drops some of these, and what is left would not be what was written
        raise _bad(url, "it has a space, or a character that does not show, in it")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise _bad(url, str(error)) from None
    if parts.scheme not in ("http", "https"):
        suggestion = _suggestion(url)
        raise _bad(
            url,
            f"the scheme is {parts.scheme!r}" if "://" in url else "it has no http:// in front",
            f"did you mean {suggestion}?" if suggestion else "write http://HOST:PORT/PATH",
        )
    if not parts.hostname:
        raise _bad(url, "it names no host")
    try:
        parts.hostname.encode("idna")
    except UnicodeError:
        raise _bad(url, f"{parts.hostname!r} is no host name") from None
    if "?" in url or "#" in url:
        raise _bad(
            url,
            "a query or fragment belongs to a request, not to the server",
            f"mcp-tap http {parts.scheme}://{_authority(parts)}{parts.path}",
        )
    if parts.username or parts.password:
        raise UsageError(
            "bad-upstream",
            f"the URL of {_authority(parts)} has a user name or password in it",
            why="every record would show it",
            help="give it as a header: -H 'Authorization: Basic ...'",
        )
    tls = parts.scheme == "https"
    return Target(
        host=parts.hostname,
        port=port or (443 if tls else 80),
        tls=tls,
        path=parts.path or "/",
        authority=_authority(parts),
    )


def tls_context(*, insecure: bool, cacert: str | None) -> ssl.SSLContext:
    """Make the TLS settings for upstream; raise `UsageError` for an unusable CA file."""
    try:
        context = ssl.create_default_context(cafile=cacert)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(
            "bad-cacert", f"cannot use {cacert} as a CA file", why=str(error)
        ) from None
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["http/1.1"])
    return context


def _authority(parts: SplitResult) -> str:
    return parts.netloc.rpartition("@")[2]


def _suggestion(url: str) -> str | None:
    shown = _without_secrets(url)
    rest = shown.partition("://")[2] or shown
    port = re.fullmatch(r":?(\d{1,5})(/.*)?", rest, re.ASCII)
    if port:
        return f"http://localhost:{port[1]}{port[2] or '/mcp'}"
    return f"http://{rest}" if rest and not rest.startswith(("/", "-")) else None


def _bad(url: str, why: str, help: str = "write http://HOST:PORT/PATH") -> UsageError:
    return UsageError(
        "bad-upstream", f"{_without_secrets(url)} is no upstream URL", why=why, help=help
    )


def _without_secrets(url: str) -> str:
    """Leave out user, query and fragment, which may hold a password or a token."""
    plain = re.split(r"[?#]", url, maxsplit=1)[0]
    scheme, mark, rest = plain.rpartition("://")
    head, at, tail = rest.rpartition("@")
    return f"{scheme}{mark}{tail}" if at and head else plain
