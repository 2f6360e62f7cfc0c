"""Kinds of values that options take."""

from __future__ import annotations

import re
from typing import Any

import click

LOOPBACK = "127.0.0.1"
DEFAULT_PORT = 7777
_SIZES = {
    "": 1,
    **{unit: 1024**n for n, unit in enumerate("kmgt", 1)},
    **{f"{unit}ib": 1024**n for n, unit in enumerate("kmgt", 1)},
    **{f"{unit}b": 1000**n for n, unit in enumerate("kmgt", 1)},
    "b": 1,
}
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,18})?)\s*([a-z]*)", re.IGNORECASE | re.ASCII)
_NUMBER = r"(\d{1,18}(?:\.\d{1,18})?)"
_PART = re.compile(rf"{_NUMBER}(ms|[smhdw])", re.IGNORECASE | re.ASCII)


class Size(click.ParamType):  # type: ignore[type-arg]  # generic since 8.5
    """Bytes: `16MiB`, `10k` (1024 each), `5MB` (1000 each), or a number."""

    name = "size"

    def __init__(self, most: int | None = None) -> None:
        """Take at most so many."""
        self.most = most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read a size; a number, as files may hold, is bytes."""
        match = _SIZE.fullmatch(str(value).strip())
        unit = _SIZES.get(match[2].lower()) if match else None
        if match is None or unit is None:
            self.fail(f"'{value}' is not a size like 16MiB, 10k or 5MB", param, ctx)
        whole = match[1]
        size = int(whole) * unit if whole.isdigit() else int(float(whole) * unit)
        if self.most is not None and size > self.most:
            self.fail(f"'{value}' is more than {self.most >> 20}MiB", param, ctx)
        return size


class Duration(click.ParamType):  # type: ignore[type-arg]  # generic since 8.5
    """Seconds: `30d`, `1h30m`, `250ms`, or a number."""

    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read a duration; a bare number is seconds."""
        text = str(value).strip()
        if re.fullmatch(_NUMBER, text, re.ASCII):
            return float(text)
        parts = _PART.findall(text)
        if not parts or "".join(n + unit for n, unit in parts) != text:
            self.fail(f"'{value}' is not a duration like 30d, 2h, 90s or 250ms", param, ctx)
        return float(sum(float(n) * _SECONDS[unit.lower()] for n, unit in parts))


SIZE = Size()
BODY_SIZE = Size(most=256 << 20)
"""So much of a payload still makes a line that readers of captures take for a record."""
DURATION = Duration()
FILE = click.Path(dir_okay=False)
"""A path that need not exist."""
EXISTING_FILE = click.Path(exists=True, dir_okay=False)
"""A path of something to be read."""


class Listen(click.ParamType):  # type: ignore[type-arg]  # generic since 8.5
    """Where to listen: `7777` and `:7777` on loopback, `HOST:PORT`, `[::1]:7777`."""

    name = "listen"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        """Read an address; without a host it is loopback."""
        if isinstance(value, tuple):
            return value
        text = str(value).strip()
        if text.count(":") > 1 and not text.startswith("["):
            self.fail(f"'{text}' is ambiguous; did you mean [{text}]:{DEFAULT_PORT}?", param, ctx)
        match = re.fullmatch(r"(?:(?:\[([0-9A-Fa-f:.%\w]+)\]|([^:\[\]/\s]*)):)?(\d+)", text)
        if match is None or not re.fullmatch(r"\d{1,9}", match[3], re.ASCII):
            named = re.fullmatch(r"localhost|[\d.]*\.[\d.]*|\[[^\[\]]+\]", text)
            hint = f"; did you mean {text}:{DEFAULT_PORT}?" if named else ""
            self.fail(f"{text or 'nothing'} is neither a port nor HOST:PORT{hint}", param, ctx)
        number = int(match[3])
        if number > 65535:
            self.fail(f"there is no port {number}", param, ctx)
        return match[1] or match[2] or LOOPBACK, number


_FRAMING = "the body's own framing is passed on unchanged"
_HOP = "it speaks of one connection, and the tap has two"
_OF_THE_CONNECTION = {
    "host": "--host keep or --host upstream says which one is sent",
    "content-length": _FRAMING,
    "transfer-encoding": _FRAMING,
    "expect": "it would ask for an answer that the client does not wait for",
    **dict.fromkeys(
        ("connection", "keep-alive", "proxy-connection", "te", "trailer", "upgrade"), _HOP
    ),
}
"""Fields that would make another message of the one sent, or none at all; each with the reason."""


class HeaderField(click.ParamType):  # type: ignore[type-arg]  # generic since 8.5
    """A header field, `Name: value`; the value may be a secret and is never repeated."""

    name = "header"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Divide a field at its first colon."""
        if isinstance(value, tuple):
            return value
        name, colon, text = str(value).partition(":")
        if not colon:
            self.fail("a header is written 'Name: value', with a colon", param, ctx)
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
            self.fail("the name before the colon has a character no header may have", param, ctx)
        if re.search(r"[\x00-\x08\x0a-\x1f\x7f]", text) or not _is_latin(text):
            self.fail(f"the value of {name} has a character no header may have", param, ctx)
        if name.lower() in _OF_THE_CONNECTION:
            self.fail(
                f"{name} is not sent this way: {_OF_THE_CONNECTION[name.lower()]}", param, ctx
            )
        return name, text.strip(" \t")


def _is_latin(text: str) -> bool:
    return all(ord(c) < 256 for c in text)


LISTEN = Listen()
HEADER = HeaderField()
