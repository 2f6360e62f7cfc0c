# ruff: noqa: INP001 - a script, not a package
"""Print the parts of show-json.md that come from code: its tables, and show.schema.json.

`python docs/show_json.py` writes the schema; `python -m cogapp -r docs/show-json.md` the page.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, TypeAlias

from mcp_tap.views import machine, show_doc

sys.path.insert(0, str(Path(__file__).parent))

from struct_tables import members, summary, table

SCHEMA = Path(__file__).parent / "show.schema.json"
PARTS = (
    ("Document", show_doc.ShowDoc),
    ("Capture", show_doc.CaptureDoc),
    ("Torn", show_doc.TornDoc),
    ("Call", show_doc.CallDoc),
    ("Round", show_doc.RoundDoc),
    ("State", show_doc.StateDoc),
    ("Ask", show_doc.AskDoc),
    ("Fault", show_doc.FaultDoc),
    ("Blame", show_doc.BlameDoc),
    ("Finding", show_doc.FindingDoc),
    ("Exchange", show_doc.ExchangeDoc),
)


Parts: TypeAlias = tuple[tuple[str, type], ...]


def fields(
    struct: type, schema: dict[str, Any] | None = None, parts: Parts = PARTS
) -> list[tuple[str, str, str]]:
    """List name, type and description of a struct's fields."""
    schema = machine.schema() if schema is None else schema
    described = schema["$defs"][struct.__name__]["properties"]
    return [(name, _shown(described[name], parts), text) for _, name, text in members(struct)]


def _shown(schema: dict[str, object], parts: Parts) -> str:
    match schema:
        case {"anyOf": [*several]}:
            return " or ".join(_shown(one, parts) for one in several if isinstance(one, dict))
        case {"enum": [*values]}:
            return " or ".join(f"`{value}`" for value in values)
        case {"type": "array", "items": dict(items)}:
            return f"list of {_shown(items, parts)}"
        case {"$ref": str(ref)}:
            return next(title for title, part in parts if part.__name__ == ref.rpartition("/")[2])
        case {"type": str(kind)}:
            return {"boolean": "true or false"}.get(kind, kind)
    return "any JSON"


def all_tables(parts: Parts = PARTS, schema: dict[str, Any] | None = None) -> str:
    """Describe every part of the document."""
    out = []
    for title, struct in parts:
        out += [f"### {title}", "", summary(struct), "", table(fields(struct, schema, parts)), ""]
    return "\n".join(out).rstrip()


def schema_text() -> str:
    """Render the JSON Schema as it stands in the file."""
    return json.dumps(machine.schema(), indent=2) + "\n"


if __name__ == "__main__":
    SCHEMA.write_text(schema_text(), encoding="utf-8")
