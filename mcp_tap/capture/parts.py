"""How the files of one run are called.

`run.jsonl` is the first part; what follows after a rotation is `run.jsonl.001`, `run.jsonl.002`.
So `run.jsonl*` in a shell gives them in order, `*.jsonl` gives one file a run, and joining the
files gives one sound capture.  Any part may be packed with gzip afterwards (`run.jsonl.001.gz`).
"""

from __future__ import annotations

import re
from pathlib import Path

_PART = re.compile(r"\.(\d{3,})$")


def part_path(base: Path, part: int) -> Path:
    """Name the file of part `part` of the run that begins in `base`; parts count from 1."""
    return base if part == 1 else base.with_name(f"{base.name}.{part - 1:03d}")


def plain_name(name: str) -> str:
    """Take the `.gz` off a file name."""
    return name.removesuffix(".gz")


def part_number(name: str) -> int:
    """Tell from its name which part of a run a file would be; 1 for one that has no number."""
    match = _PART.search(plain_name(name))
    return int(match[1]) + 1 if match else 1


def base_name(name: str) -> str:
    """Name the plain file in which the run of a part begins."""
    return _PART.sub("", plain_name(name))


def later_parts(base: Path) -> list[Path]:
    """Find the files after `base` that belong to its run by their names, in order.

    A part that is there both plain and packed counts once, as the plain one.
    """
    stem = plain_name(base.name) + "."
    found: dict[int, Path] = {}
    for path in base.parent.iterdir():
        plain = plain_name(path.name)
        if not plain.startswith(stem) or not _PART.fullmatch(plain[len(stem) - 1 :]):
            continue
        number = part_number(path.name)
        if number not in found or path.name == plain:
            found[number] = path
    return [found[number] for number in sorted(found)]
