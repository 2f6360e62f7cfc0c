"""Kinds of values that options take."""

from __future__ import annotations

import re
from typing import Any

import click

_SIZES = {
    "": 1,
    **{unit: 1024**n for n, unit in enumerate("kmgt", 1)},
    **{f"{unit}ib": 1024**n for n, unit in enumerate("kmgt", 1)},
    **{f"{unit}b": 1000**n for n, unit in enumerate("kmgt", 1)},
    "b": 1,
}
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)", re.IGNORECASE)
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[smhdw])", re.IGNORECASE)


class Size(click.ParamType[int]):
    """Bytes: `16MiB`, `10k` (1024 each), `5MB` (1000 each), or a number."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read a size; a number, as files may hold, is bytes."""
        match = _SIZE.fullmatch(str(value).strip())
        unit = _SIZES.get(match[2].lower()) if match else None
        if match is None or unit is None:
            self.fail(f"'{value}' is not a size like 16MiB, 10k or 5MB", param, ctx)
        whole = match[1]
        return int(whole) * unit if whole.isdigit() else int(float(whole) * unit)


class Duration(click.ParamType[float]):
    """Seconds: `30d`, `1h30m`, `250ms`, or a number."""

    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read a duration; a bare number is seconds."""
        text = str(value).strip()
        if re.fullmatch(r"\d+(\.\d+)?", text):
            return float(text)
        parts = _PART.findall(text)
        if not parts or "".join(n + unit for n, unit in parts) != text:
            self.fail(f"'{value}' is not a duration like 30d, 2h, 90s or 250ms", param, ctx)
        return float(sum(float(n) * _SECONDS[unit.lower()] for n, unit in parts))


SIZE = Size()
DURATION = Duration()
FILE = click.Path(dir_okay=False)
"""A path that need not exist."""
