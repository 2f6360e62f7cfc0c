# ruff: noqa: INP001 - a script, not a package
"""Print what of replay-client-json.md comes from code: its tables, and replay-client.schema.json.

`python docs/replay_client_json.py` writes the schema; `python -m cogapp -r
docs/replay-client-json.md` the page.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from mcp_tap.cli import diff_doc, replay_client_doc
from mcp_tap.views import show_doc

sys.path.insert(0, str(Path(__file__).parent))

import show_json

SCHEMA = Path(__file__).parent / "replay-client.schema.json"
PARTS = (
    ("Document", replay_client_doc.ReplayDoc),
    ("Call", replay_client_doc.SentDoc),
    ("Difference", diff_doc.DifferenceDoc),
    ("Summary", replay_client_doc.ReplaySummaryDoc),
    ("Matched", diff_doc.MatchedDoc),
    ("Capture", show_doc.CaptureDoc),
    ("Torn", show_doc.TornDoc),
)


def fields(struct: type) -> list[tuple[str, str, str]]:
    """List name, type and description of a struct's fields."""
    return show_json.fields(struct, replay_client_doc.schema(), PARTS)


def all_tables() -> str:
    """Describe every part of the document."""
    return show_json.all_tables(PARTS, replay_client_doc.schema())


def schema_text() -> str:
    """Render the JSON Schema as it stands in the file."""
    return json.dumps(replay_client_doc.schema(), indent=2) + "\n"


if __name__ == "__main__":
    SCHEMA.write_text(schema_text(), encoding="utf-8")
