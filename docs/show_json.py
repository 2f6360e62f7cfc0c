# ruff: noqa: INP001 - a script, not a package
"""Print the parts of show-json.md that come from code: its tables, and show.schema.json.

`python docs/show_json.py` writes the schema; `python -m cogapp -r docs/show-json.md` the page.
"""

from __future__ import annotations

import ast
import inspect
import json
from pathlib import Path

from mcp_tap.views import machine, show_doc

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


def fields(struct: type) -> list[tuple[str, str, str]]:
    """List name, type and description of a struct's fields."""
    body = ast.parse(inspect.getsource(struct)).body[0]
    assert isinstance(body, ast.ClassDef)
    found = []
    for statement, following in zip(body.body, [*body.body[1:], None], strict=True):
        if not isinstance(statement, ast.AnnAssign):
            continue
        assert isinstance(statement.target, ast.Name)
        text = ""
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            text = " ".join(str(following.value.value).split())
        found.append((statement.target.id, _json_type(struct, statement.target.id), text))
    return found


def _json_type(struct: type, name: str) -> str:
    return _shown(machine.schema()["$defs"][struct.__name__]["properties"][name])


def _shown(schema: dict[str, object]) -> str:
    match schema:
        case {"anyOf": [*parts]}:
            return " or ".join(_shown(part) for part in parts if isinstance(part, dict))
        case {"enum": [*values]}:
            return " or ".join(f"`{value}`" for value in values)
        case {"type": "array", "items": dict(items)}:
            return f"list of {_shown(items)}"
        case {"$ref": str(ref)}:
            return next(title for title, part in PARTS if part.__name__ == ref.rpartition("/")[2])
        case {"type": str(kind)}:
            return {"boolean": "true or false"}.get(kind, kind)
    return "any JSON"


def all_tables() -> str:
    """Describe every part of the document."""
    out = []
    for title, struct in PARTS:
        out += [f"### {title}", "", " ".join((struct.__doc__ or "").split()), ""]
        out += ["| field | type | what it says |", "|---|---|---|"]
        out += [f"| `{name}` | {kind} | {text} |" for name, kind, text in fields(struct)]
        out.append("")
    return "\n".join(out).rstrip()


def schema_text() -> str:
    """Render the JSON Schema as it stands in the file."""
    return json.dumps(machine.schema(), indent=2) + "\n"


if __name__ == "__main__":
    SCHEMA.write_text(schema_text(), encoding="utf-8")
