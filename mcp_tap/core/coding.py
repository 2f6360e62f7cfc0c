"""Undoing a Content-Encoding on a copy of a payload, in bounded memory.

The wire keeps the encoded bytes; this is only for what is recorded and judged (RFC 9110, section
8.4.1).  A peer may send a bomb: decoding stops for good when it has given `limit` bytes; of an
event stream, which may go on for ever, when one read has given that many.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Protocol

import brotli
import zstandard

_ZSTD_SLICE = 256
"""zstandard cannot be told where to stop, so it is fed in slices too small for a large surprise."""


class _Step(Protocol):
    def feed(self, data: bytes, room: int) -> bytes: ...


class CodingError(ValueError):
    """The payload is not what its Content-Encoding says."""


class Decoder:
    """Undo the encodings of one payload, chunk by chunk."""

    def __init__(self, encodings: list[str], limit: int, *, stream: bool = False) -> None:
        """Undo `encodings` (in the order the header lists them), giving at most `limit` bytes.

        Args:
            encodings: names of them, lower case.
            limit: how many bytes to give.
            stream: the limit is for one `feed()`, not for all of them.
        """
        self._steps = [_STEPS[name]() for name in reversed(encodings)]
        self._room = limit
        self._stream = stream
        self.stopped = False
        """The limit was reached; nothing more is given."""

    def feed(self, data: bytes) -> bytes:
        """Decode the next bytes; raise `CodingError` where they are not so encoded."""
        for step in self._steps:
            if self.stopped or not data:
                return b""
            try:
                data = step.feed(data, self._room)
            except (zlib.error, brotli.error, zstandard.ZstdError) as error:
                raise CodingError(str(error)) from None
        if len(data) >= self._room:
            self.stopped = True
        elif not self._stream:
            self._room -= len(data)
        return data


def decoder(content_encoding: str, limit: int, *, stream: bool = False) -> Decoder | None:
    """Make a decoder for a header value; None where nothing is to be undone, or it is unknown."""
    names = [n.strip().lower() for n in content_encoding.split(",")]
    names = [n for n in names if n and n != "identity"]
    if not names or len(names) > 3 or any(n not in _STEPS for n in names):
        return None
    return Decoder(names, limit, stream=stream)


class _Zlib:
    """What follows the end of the data is left alone, but for a further member of gzip."""

    def __init__(self, wbits: int, member: bytes = b"") -> None:
        self._wbits = wbits
        self._member = member
        self._z = zlib.decompressobj(wbits)

    def feed(self, data: bytes, room: int) -> bytes:
        out = b""
        while data and len(out) < room:
            if self._z.eof:
                if not self._member or not data.startswith(self._member):
                    self._member = b""
                    break
                self._z = zlib.decompressobj(self._wbits)
            out += self._z.decompress(data, room - len(out))
            data = self._z.unused_data
        return out


class _Deflate:
    """`deflate` is zlib by the book and raw deflate by habit; the first byte tells."""

    def __init__(self) -> None:
        self._z: _Zlib | None = None

    def feed(self, data: bytes, room: int) -> bytes:
        if self._z is None:
            self._z = _Zlib(15 if data[0] & 0x0F == 8 else -15)
        return self._z.feed(data, room)


class _Brotli:
    def __init__(self) -> None:
        self._b = brotli.Decompressor()

    def feed(self, data: bytes, room: int) -> bytes:
        out = self._b.process(data, output_buffer_limit=room)
        while len(out) < room and not self._b.can_accept_more_data():
            out += self._b.process(b"", output_buffer_limit=room - len(out))
        return bytes(out[:room])  # the limit is a soft one


class _Zstd:
    def __init__(self) -> None:
        unpacker = zstandard.ZstdDecompressor(max_window_size=1 << 27)
        self._z = unpacker.decompressobj(read_across_frames=True)

    def feed(self, data: bytes, room: int) -> bytes:
        out = bytearray()
        for i in range(0, len(data), _ZSTD_SLICE):
            out += self._z.decompress(data[i : i + _ZSTD_SLICE])
            if len(out) >= room:
                break
        return bytes(out[:room])


_STEPS: dict[str, Callable[[], _Step]] = {
    "gzip": lambda: _Zlib(31, b"\x1f"),
    "x-gzip": lambda: _Zlib(31, b"\x1f"),
    "deflate": _Deflate,
    "br": _Brotli,
    "zstd": _Zstd,
}
