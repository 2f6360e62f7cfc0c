"""What came of it: tables for people, one document for machines, goals beside each ratio."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Goal:
    """One thing the tap has to reach."""

    what: str
    got: float
    want: float
    unit: str = ""
    at_most: bool = False

    @property
    def met(self) -> bool:
        """Tell whether it is reached."""
        return self.got <= self.want if self.at_most else self.got >= self.want

    def line(self) -> str:
        """Write it as one line."""
        word = "<=" if self.at_most else ">="
        figures = f"{number(self.got)}{self.unit} ({word} {number(self.want)}{self.unit})"
        return f"  {'met    ' if self.met else 'NOT MET'}  {self.what:<58} {figures}"


@dataclass(kw_only=True)
class Table:
    """Figures of one measure; the first column names a target."""

    title: str
    columns: list[str]
    rows: list[list[Any]] = field(default_factory=list)
    note: str = ""

    def lines(self) -> list[str]:
        """Write it in columns."""
        cells = [self.columns] + [
            [c if isinstance(c, str) else number(c) for c in row] for row in self.rows
        ]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        out = [self.title]
        for row in cells:
            rest = "  ".join(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))
            out.append(f"  {row[0].ljust(widths[0])}  {rest}".rstrip())
        return [*out, *([f"  ({self.note})"] if self.note else [])]


@dataclass
class Report:
    """Everything one run of the benchmark found."""

    about: dict[str, Any]
    tables: list[Table] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)

    def text(self) -> str:
        """Write it for people."""
        out = [" ".join(f"{key} {value}" for key, value in self.about.items())]
        for table in self.tables:
            out += ["", *table.lines()]
        out += ["", "Goals", *(goal.line() for goal in self.goals)]
        return "\n".join(out)

    def document(self) -> dict[str, Any]:
        """Write it for machines."""
        goals = [{**asdict(goal), "met": goal.met} for goal in self.goals]
        return {
            "version": 1,
            "about": self.about,
            "tables": [asdict(table) for table in self.tables],
            "goals": goals,
        }


def number(value: float | None) -> str:
    """Write a figure with as many digits as mean something."""
    if value is None:
        return "-"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
