"""Collecting a payload in bounded memory: whole up to a limit, else its first part and a digest."""

from __future__ import annotations

import hashlib

PREFIX = 64 << 10
"""Bytes kept of a payload that turned out longer than the limit."""


class Collector:
    """Bytes that arrive in pieces, kept whole up to `limit`."""

    __slots__ = ("_digest", "_pieces", "limit", "size")

    def __init__(self, limit: int, *, expected: int | None = None) -> None:
        """Keep `limit` bytes; of a payload `expected` to be longer only a prefix."""
        self.limit = limit
        self.size = 0
        self._pieces: list[bytes] = []
        self._digest: hashlib._Hash | None = None
        if expected is not None and expected > limit:
            self._cut()

    def add(self, piece: bytes) -> None:
        """Take the next bytes."""
        self.size += len(piece)
        if self._digest is None:
            self._pieces.append(piece)
            if self.size > self.limit:
                self._cut()
            return
        self._digest.update(piece)
        room = self._room() - (self.size - len(piece))
        if room > 0:
            self._pieces.append(piece[:room])

    @property
    def truncated(self) -> bool:
        """Only a prefix is kept."""
        return self._digest is not None and self.size > self._room()

    def kept(self) -> bytes:
        """Give the payload, or its prefix."""
        if len(self._pieces) == 1:
            return self._pieces[0]
        return b"".join(self._pieces)

    def sha256(self) -> str | None:
        """Digest of the whole payload, where only a prefix is kept."""
        return self._digest.hexdigest() if self._digest is not None and self.truncated else None

    def _room(self) -> int:
        return min(PREFIX, self.limit)

    def _cut(self) -> None:
        whole = self.kept()
        self._digest = hashlib.sha256(whole)
        self._pieces = [whole[: self._room()]]
