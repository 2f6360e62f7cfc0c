# ruff: noqa: INP001 - a script, not a package
"""Print what of the pages about JSON documents comes from code: their tables and their schemas.

`python docs/json_pages.py` writes the schemas; `python -m cogapp -r docs/show-json.md` a page.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp_tap.cli import diff_doc, replay_client_doc
from mcp_tap.views import check_doc, machine, show_doc
from mcp_tap.views.reports import as_json

sys.path.insert(0, str(Path(__file__).parent))

from struct_tables import members, summary, table

RUN = (("Capture", show_doc.CaptureDoc), ("Torn", show_doc.TornDoc))
"""The parts that every document has."""


@dataclass(frozen=True)
class Page:
    """A page of one document: the schema that is made of its structs, and these, with titles."""

    name: str
    schema: Callable[[], dict[str, Any]]
    parts: tuple[tuple[str, type], ...]

    @property
    def schema_file(self) -> Path:
        """Where the schema stands."""
        return Path(__file__).parent / f"{self.name}.schema.json"

    def schema_text(self) -> str:
        """Render the JSON Schema as it stands in the file."""
        return json.dumps(self.schema(), indent=2) + "\n"

    def fields(self, struct: type) -> list[tuple[str, str, str]]:
        """List name, type and description of a struct's fields."""
        described = self.schema()["$defs"][struct.__name__]["properties"]
        return [(name, self._shown(described[name]), text) for _, name, text in members(struct)]

    def all_tables(self) -> str:
        """Describe every part of the document."""
        out = []
        for title, struct in self.parts:
            out += [f"### {title}", "", summary(struct), "", table(self.fields(struct)), ""]
        return "\n".join(out).rstrip()

    def _shown(self, schema: dict[str, object]) -> str:
        match schema:
            case {"anyOf": [*several]}:
                return " or ".join(self._shown(one) for one in several if isinstance(one, dict))
            case {"enum": [*values]}:
                return " or ".join(f"`{value}`" for value in values)
            case {"type": "array", "items": dict(items)}:
                return f"list of {self._shown(items)}"
            case {"$ref": str(ref)}:
                name = ref.rpartition("/")[2]
                return next(title for title, part in self.parts if part.__name__ == name)
            case {"type": str(kind)}:
                return {"boolean": "true or false"}.get(kind, kind)
        return "any JSON"


SHOW = Page(
    "show",
    machine.schema,
    (
        ("Document", show_doc.ShowDoc),
        *RUN,
        ("Call", show_doc.CallDoc),
        ("Round", show_doc.RoundDoc),
        ("State", show_doc.StateDoc),
        ("Ask", show_doc.AskDoc),
        ("Fault", show_doc.FaultDoc),
        ("Blame", show_doc.BlameDoc),
        ("Finding", show_doc.FindingDoc),
        ("Exchange", show_doc.ExchangeDoc),
    ),
)
CHECK = Page(
    "check",
    as_json.schema,
    (
        ("Document", check_doc.CheckDoc),
        ("Finding", check_doc.CheckFindingDoc),
        ("Summary", check_doc.CheckSummaryDoc),
        *RUN,
    ),
)
DIFF = Page(
    "diff",
    diff_doc.schema,
    (
        ("Document", diff_doc.DiffDoc),
        ("Difference", diff_doc.DifferenceDoc),
        ("Pair", diff_doc.PairDoc),
        ("Summary", diff_doc.DiffSummaryDoc),
        ("Matched", diff_doc.MatchedDoc),
        *RUN,
    ),
)
REPLAY_CLIENT = Page(
    "replay-client",
    replay_client_doc.schema,
    (
        ("Document", replay_client_doc.ReplayDoc),
        ("Call", replay_client_doc.SentDoc),
        ("Difference", diff_doc.DifferenceDoc),
        ("Summary", replay_client_doc.ReplaySummaryDoc),
        ("Matched", diff_doc.MatchedDoc),
        *RUN,
    ),
)
PAGES = (SHOW, CHECK, DIFF, REPLAY_CLIENT)


if __name__ == "__main__":
    for page in PAGES:
        page.schema_file.write_text(page.schema_text(), encoding="utf-8")
