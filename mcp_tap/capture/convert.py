"""Bring the lines of an older capture up to the format of today, one step a format.

`STEPS[n]` turns a line of format n into one of format n + 1.  A step sees the line as a mapping
from field name to undecoded JSON, so that what it does not touch stays as it was recorded, bodies
above all.  A step may return None: the line has no place in the next format.

There is no step yet: format 1 is the first that was ever written by a release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import msgspec
from msgspec import Raw

from mcp_tap.core.records import FORMAT
from mcp_tap.errors import CaptureError

Fields: TypeAlias = dict[str, Raw]
Step: TypeAlias = Callable[[Fields], Fields | None]
Convert: TypeAlias = Callable[[bytes], bytes | None]

STEPS: dict[int, Step] = {}
"""From the format a step starts at to the step."""

_fields = msgspec.json.Decoder(Fields).decode
_encode = msgspec.json.Encoder().encode


def converter(
    written: int, name: str, *, steps: Mapping[int, Step] = STEPS, target: int = FORMAT
) -> Convert | None:
    """Give the function that brings a line of format `written` up to `target`; None: no need.

    Args:
        written: format of the capture.
        name: the file, for the message.
        steps: the known steps.
        target: the format that is wanted.

    Raises:
        CaptureError: the capture is newer than `target`, or a step of the way is missing.
    """
    if written == target:
        return None
    if written > target:
        raise CaptureError(
            "capture-newer",
            f"{name} has format {written}, this mcp-tap reads up to {target}",
            help="install a newer mcp-tap-proxy",
        )
    missing = [number for number in range(written, target) if number not in steps]
    if missing:
        raise CaptureError(
            "capture-older",
            f"{name} has format {written}, this mcp-tap reads {min((*steps, target))} to {target}",
            why=f"no converter from format {missing[0]} to {missing[0] + 1}",
        )
    chain = [steps[number] for number in range(written, target)]

    def convert(line: bytes) -> bytes | None:
        fields: Fields | None = _fields(line)
        for step in chain:
            if fields is None:
                return None
            fields = step(fields)
        return None if fields is None else _encode(fields)

    return convert
