"""A server-sent event stream as messages, and where it stood when it broke off."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

import aiohttp

from mcp_tap.bridge.messages import Said, read
from mcp_tap.bridge.process import MOST_LINE
from mcp_tap.core.sse import SseBlock, SseParser

WAIT: Final = 1.0
"""Seconds until a broken stream is asked for again, unless the server names a time."""
SHORTEST: Final = 0.1
"""Seconds it is waited at least, whatever the server names."""
LONGEST: Final = 60.0
"""Seconds it is waited at most."""


class TooLong(Exception):
    """An event is longer than is wanted."""


class Events:
    """One stream, over as many connections as it takes."""

    def __init__(self) -> None:
        """Begin at its start."""
        self.last_id: str | None = None
        """Id of the last event that had one."""
        self.wait = WAIT
        """Seconds until it may be asked for again."""

    async def messages(
        self, response: aiohttp.ClientResponse, *, most: int | None = None
    ) -> AsyncIterator[Said]:
        """Give each message that comes on a connection.

        Args:
            response: of that connection.
            most: bytes of an event from which on it is `TooLong`; None: it is passed over.

        Raises:
            aiohttp.ClientError: the connection broke.
            TooLong: an event is.
        """
        parser = SseParser(MOST_LINE)
        size = 0
        async for chunk in response.content.iter_any():
            blocks = parser.feed(chunk)
            size = len(chunk) if blocks else size + len(chunk)
            if most is not None and size > most:
                raise TooLong
            for block in blocks:
                said = self._read(block)
                if said is not None:
                    yield said

    def _read(self, block: SseBlock) -> Said | None:
        if block.kind != "event":
            return None
        fields = block.fields
        if fields is not None:
            if fields.id is not None:
                self.last_id = fields.id
            if fields.retry is not None and fields.retry[:9].isdecimal():
                self.wait = min(max(int(fields.retry[:9]) / 1000, SHORTEST), LONGEST)
            if fields.event not in (None, "", "message"):
                return None
        return read(block.data) if block.data else None
