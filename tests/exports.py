"""Exporting captures in tests: what the command writes, without its process."""

from __future__ import annotations

from pathlib import Path

from mcp_tap.capture.reader import open_path
from mcp_tap.cli.gather import Found, Shelf, gather
from mcp_tap.core.records import AnyRecord, Header
from mcp_tap.pipeline.spine import Pipeline
from tests.traffic import Traffic, asks, done

GOLDEN = sorted((Path(__file__).parents[1] / "captures").glob("??-*.jsonl"))

HOSTILE = [
    "</script><script>document.documentElement.dataset.owned=1</script>",
    '<img src=x onerror="document.documentElement.dataset.owned=2">',
    "javascript:document.documentElement.dataset.owned=3",
    "\u2028document.documentElement.dataset.owned=4\u2029",
    "\u202eevil\u202c \u2066x\u2069 \x1b[2J \u200b",
    "<!--<script>",
    '"><svg onload=document.documentElement.dataset.owned=6>',
    "&lt;b&gt; ${document.documentElement.dataset.owned=7} `x` {{x}} ]]>",
    "</style><style>*{display:none}</style></title></head>",
    "a;b#c%%d\nend\n  C->>S: forged",
]
"""Texts that mean something to a browser or a diagram, where they are let through as they are."""


def hostile() -> Traffic:
    """A run in which every name, value, key and message is one of these."""
    traffic = Traffic(label=HOSTILE[0], upstream=f"http://h/{HOSTILE[1]}")
    for bad in HOSTILE:
        traffic.call(bad, done(bad), arguments={bad: bad})
        traffic.call(bad, asks(bad, bad), arguments={bad: bad})
        traffic.call(bad, {"code": -32602, "message": bad})
    return traffic


def gathered(records: list[AnyRecord]) -> list[tuple[Found, list[AnyRecord]]]:
    """Give calls and exchanges of a run with their records."""
    shelf = Shelf()
    found = gather(records, Pipeline(), shelf=shelf, see=lambda _: None)
    return [(each, shelf.of(each)) for each in found]


def golden(path: Path) -> tuple[Header, list[tuple[Found, list[AnyRecord]]]]:
    """Read a golden capture."""
    records = list(open_path(path))
    assert isinstance(records[0], Header)
    return records[0], gathered(records)
