"""The pages of docs/, the scripts that make parts of them, and what the pages show."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def script(name: str) -> ModuleType:
    """Load a program that stands in docs/."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


def text_of(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def example_of(page: str) -> str:
    """Give the first document that a page shows."""
    found = re.search(r"```json\n(.*?)```", text_of(page), re.DOTALL)
    assert found is not None
    return found[1]
