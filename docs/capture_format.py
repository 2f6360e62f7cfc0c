# ruff: noqa: INP001 - a script, not a package
"""Print the tables of capture-format.md from the structs and docstrings of core/records.py."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import get_args

from mcp_tap.core import records

sys.path.insert(0, str(Path(__file__).parent))

from struct_tables import members, summary, table

HELPERS = (records.Mask, records.Digest, records.Sse)
"""Structs that stand inside records."""


def kinds() -> dict[str, type]:
    """Map each kind to its struct, in the order of the file."""
    return {record.__struct_config__.tag: record for record in get_args(records.AnyRecord)}


def fields(struct: type) -> list[tuple[str, str, str]]:
    """List name, type and description of the fields a struct itself declares."""
    return [
        (
            name,
            _json_type(written.annotation) + ("" if written.value is None else ", optional"),
            text,
        )
        for written, name, text in members(struct)
    ]


def all_tables() -> str:
    """Describe every record, then the structs inside them."""
    out = ["### Every record", "", table([("kind", "string", _KIND), *fields(records.Record)])]
    out += ["", "### Payloads", "", summary(records.Payload), "", table(fields(records.Payload))]
    for kind, struct in kinds().items():
        out += ["", f"### `{kind}`", "", summary(struct)]
        if issubclass(struct, records.Payload):
            out += ["", "A payload." if not fields(struct) else "A payload, and:"]
        if fields(struct):
            out += ["", table(fields(struct))]
    for struct in HELPERS:
        out += ["", f"### {struct.__name__}, inside records", "", summary(struct), ""]
        out += [table(fields(struct))]
    return "\n".join(out)


_KIND = "Which of the kinds below it is."

_TYPES = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "true or false",
    "bytes": "string, base64",
    "Raw": "any JSON",
    "Headers": "list of [name, value]",
    "Digest": "Digest",
    "Sse": "Sse",
}


def _json_type(annotation: ast.expr) -> str:
    """Say in the words of JSON what an annotation allows."""
    match annotation:
        case ast.BinOp(left=left, right=right):
            names = [_json_type(part) for part in (left, right)]
            return " or ".join(name for name in names if name)
        case ast.Constant(value=None) | ast.Name(id="UnsetType"):
            return ""
        case ast.Subscript(value=ast.Name(id="list"), slice=inner):
            return f"list of {_json_type(inner)}"
        case ast.Subscript(value=ast.Name(id="Literal"), slice=inner):
            return _words(ast.literal_eval(inner))
        case ast.Name(id="Sender" | "Leg" | "How" as name):
            return _words(get_args(getattr(records, name)))
        case ast.Name(id=name):
            return _TYPES.get(name, name)
    raise TypeError(ast.dump(annotation))


def _words(values: tuple[str, ...]) -> str:
    return " or ".join(f"`{value}`" for value in values)
