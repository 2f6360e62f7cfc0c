"""docs/cli.md is what the commands print, and every command is told about."""

from __future__ import annotations

import re
from pathlib import Path

from mcp_tap.cli.common import spoken
from mcp_tap.cli.main import COMMANDS

ROOT = Path(__file__).parents[2]


def test_every_command_has_its_module_and_its_place_in_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert (ROOT / "mcp_tap" / "cli" / f"{name.replace('-', '_')}.py").exists()
        assert f"mcp-tap {spoken(name)}" in readme, f"the README says nothing of mcp-tap {name}"


def test_the_documents_name_no_command_that_does_not_exist():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    named = {
        match[1]
        for page in pages
        for match in re.finditer(
            r"(?m)(?:^\$ |^  +|`)mcp-tap ([a-z]+)", page.read_text(encoding="utf-8")
        )
    }
    known = {name.partition("-")[0] for name in COMMANDS}
    assert named <= known, named - known


def test_links_between_documents_lead_somewhere():
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert not broken, broken
