"""Requests to one HTTP endpoint."""

from __future__ import annotations

import io
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

import aiohttp
from msgspec import Struct
from multidict import CIMultiDict
from yarl import URL

from mcp_tap import __version__
from mcp_tap.net.target import parse_target, tls_context
from mcp_tap.net.upstream import CONNECT_TIMEOUT, IDLE

MOST_HEAD: Final = 1 << 20
"""Bytes of a line of a response's head."""
LARGE: Final = 1 << 20
"""Bytes from which on a body is written in pieces."""
MOST_REDIRECTS: Final = 5
"""Places a request is sent on to, one after the other."""
_REDIRECTS: Final = frozenset({307, 308})
"""Statuses that ask for the same request at another place."""


class Remote(Struct, frozen=True, kw_only=True):
    """Where the server is, and how it is spoken to."""

    url: str
    headers: list[tuple[str, str]] = []
    """Fields put into each request, replacing those of the same name."""
    insecure: bool = False
    """Do not verify its certificate."""
    cacert: str | None = None
    """File of CA certificates to trust instead of the system's."""


class Wire:
    """Sends requests; nothing is sent again but where the server redirects within its origin."""

    def __init__(self, remote: Remote) -> None:
        """Connect to nothing yet.

        Raises:
            UsageError: the URL or the CA file cannot be used.
        """
        tls: ssl.SSLContext | bool = True
        if parse_target(remote.url).tls:
            tls = tls_context(insecure=remote.insecure, cacert=remote.cacert)
        self._url = URL(remote.url)
        self._extra = remote.headers
        self._http = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=tls, limit=0, keepalive_timeout=IDLE),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT),
            headers={"User-Agent": f"mcp-tap/{__version__}"},
            max_line_size=MOST_HEAD,
            max_field_size=MOST_HEAD,
        )

    @asynccontextmanager
    async def request(
        self, method: str, head: Mapping[str, str], body: bytes | None = None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a request and give its response; the connection is closed if that is left unread.

        Raises:
            aiohttp.ClientError, OSError: the server cannot be reached, or breaks off.
        """
        fields = CIMultiDict(head)
        for name, value in self._extra:
            fields[name] = value
        url = self._url
        for left in range(MOST_REDIRECTS, -1, -1):
            async with self._http.request(
                method, url, data=_payload(body), headers=fields, allow_redirects=False
            ) as response:
                to = self._redirected(response)
                if to is None or not left:
                    yield response
                    return
                url = to

    async def close(self) -> None:
        """Close all connections."""
        await self._http.close()

    def _redirected(self, response: aiohttp.ClientResponse) -> URL | None:
        """Give the place within its origin where a server wants the request."""
        place = response.headers.get("Location")
        if response.status not in _REDIRECTS or not place:
            return None
        try:
            to = self._url.join(URL(place))
        except ValueError:
            return None
        return to if to.origin() == self._url.origin() else None


def _payload(body: bytes | None) -> bytes | io.BytesIO | None:
    """Give a body as aiohttp wants it: it writes a large one in pieces."""
    return body if body is None or len(body) <= LARGE else io.BytesIO(body)
