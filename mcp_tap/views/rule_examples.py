"""The examples of a rule, from the cases it is tested by."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib import resources
from typing import Any

from mcp_tap.rules.base import Rule


@lru_cache(maxsize=4)
def _family(name: str) -> tuple[dict[str, Any], ...]:
    file = resources.files("mcp_tap.rules") / "examples" / f"{name}.jsonl"
    if not file.is_file():
        return ()
    text = file.read_text(encoding="utf-8")
    return tuple(json.loads(line) for line in text.splitlines() if line.strip())


def examples(rule: Rule) -> list[dict[str, Any]]:
    """Give the cases of a rule, bad ones first, the shortest first among them."""
    found = [case for case in _family(rule.family) if case["rule"] == rule.id]
    return sorted(found, key=lambda case: (case["kind"] != "bad", _length(case)))


def _length(case: dict[str, Any]) -> int:
    return len(case.get("exchanges", ())) + len(case.get("lines", ()))
