# ruff: noqa: INP001 - a script, not a package
"""Print the parts of diff-json.md that come from code: its tables, and diff.schema.json.

`python docs/diff_json.py` writes the schema; `python -m cogapp -r docs/diff-json.md` the page.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from mcp_tap.cli import diff_doc
from mcp_tap.views import show_doc

sys.path.insert(0, str(Path(__file__).parent))

import show_json

SCHEMA = Path(__file__).parent / "diff.schema.json"
PARTS = (
    ("Document", diff_doc.DiffDoc),
    ("Difference", diff_doc.DifferenceDoc),
    ("Pair", diff_doc.PairDoc),
    ("Summary", diff_doc.DiffSummaryDoc),
    ("Matched", diff_doc.MatchedDoc),
    ("Capture", show_doc.CaptureDoc),
    ("Torn", show_doc.TornDoc),
)


def fields(struct: type) -> list[tuple[str, str, str]]:
    """List name, type and description of a struct's fields."""
    return show_json.fields(struct, diff_doc.schema(), PARTS)


def all_tables() -> str:
    """Describe every part of the document."""
    return show_json.all_tables(PARTS, diff_doc.schema())


def schema_text() -> str:
    """Render the JSON Schema as it stands in the file."""
    return json.dumps(diff_doc.schema(), indent=2) + "\n"


if __name__ == "__main__":
    SCHEMA.write_text(schema_text(), encoding="utf-8")
