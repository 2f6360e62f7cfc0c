"""Unit tests stand where their module stands: mcp_tap/a/b.py -> tests/unit/a/test_b.py.

A topic too big for one file continues as test_b_<topic>.py.  A module b_<part>.py, split off from
b.py for its length, may be tested by b's tests.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent
UNIT = ROOT / "tests" / "unit"

EXEMPT: dict[str, str] = {}
"""Module -> why it has no unit tests of its own.  This list may only shrink."""


def modules() -> set[str]:
    package = ROOT / "mcp_tap"
    return {
        path.relative_to(package).with_suffix("").as_posix()
        for path in package.rglob("*.py")
        if not path.name.startswith("__")
    }


def mirrors(module: str) -> list[Path]:
    folder, _, name = module.rpartition("/")
    here = UNIT / folder
    return [p for p in (here / f"test_{name}.py", *here.glob(f"test_{name}_*.py")) if p.exists()]


def is_tested(module: str, known: set[str]) -> bool:
    family = {m for m in known if m != module and module.startswith(m + "_")}
    return any(mirrors(m) for m in (module, *family))


def test_every_module_has_its_unit_tests():
    known = modules()
    without = sorted(m for m in known if m not in EXEMPT and not is_tested(m, known))
    assert not without, f"no tests/unit/.../test_<module>.py for {without}"


def test_every_unit_test_file_has_its_module():
    wanted = {path for module in modules() for path in mirrors(module)}
    orphans = sorted(str(p.relative_to(ROOT)) for p in UNIT.rglob("test_*.py") if p not in wanted)
    assert not orphans, f"unit tests of no module: {orphans}"


def test_exemptions_are_still_needed():
    known = modules()
    stale = sorted(m for m in EXEMPT if m not in known or mirrors(m))
    assert not stale, f"take these off the list: {stale}"
