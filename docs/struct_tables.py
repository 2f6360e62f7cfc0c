# ruff: noqa: INP001 - a script, not a package
"""What the pages made from structs share: their fields with what they say, laid out as a table."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator


def members(struct: type) -> Iterator[tuple[ast.AnnAssign, str, str]]:
    """Give each field a struct itself declares: as it is written, its name, and its description."""
    body = ast.parse(inspect.getsource(struct)).body[0]
    assert isinstance(body, ast.ClassDef)
    for statement, following in zip(body.body, [*body.body[1:], None], strict=True):
        if not isinstance(statement, ast.AnnAssign):
            continue
        assert isinstance(statement.target, ast.Name)
        text = ""
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            text = " ".join(str(following.value.value).split())
        yield statement, statement.target.id, text


def table(rows: Iterable[tuple[str, str, str]]) -> str:
    """Lay out fields as a table."""
    lines = ["| field | type | what it says |", "|---|---|---|"]
    lines += [
        f"| `{name}` | {kind} | {text.replace('|', chr(92) + '|')} |" for name, kind, text in rows
    ]
    return "\n".join(lines)


def summary(struct: type) -> str:
    """Say in a line what a struct is."""
    return " ".join((struct.__doc__ or "").split())
