# ruff: noqa: INP001 - a script, not a package
"""Print the parts of check-json.md that come from code: its tables, and check.schema.json.

`python docs/check_json.py` writes the schema; `python -m cogapp -r docs/check-json.md` the page.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from mcp_tap.views import check_doc, show_doc
from mcp_tap.views.reports import as_json

sys.path.insert(0, str(Path(__file__).parent))

import show_json

SCHEMA = Path(__file__).parent / "check.schema.json"
PARTS = (
    ("Document", check_doc.CheckDoc),
    ("Finding", check_doc.CheckFindingDoc),
    ("Summary", check_doc.CheckSummaryDoc),
    ("Capture", show_doc.CaptureDoc),
    ("Torn", show_doc.TornDoc),
)


def fields(struct: type) -> list[tuple[str, str, str]]:
    """List name, type and description of a struct's fields."""
    return show_json.fields(struct, as_json.schema(), PARTS)


def all_tables() -> str:
    """Describe every part of the document."""
    return show_json.all_tables(PARTS, as_json.schema())


def schema_text() -> str:
    """Render the JSON Schema as it stands in the file."""
    return json.dumps(as_json.schema(), indent=2) + "\n"


if __name__ == "__main__":
    SCHEMA.write_text(schema_text(), encoding="utf-8")
