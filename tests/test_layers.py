"""The direction of the arrows: who may import whom, and which rooms know no outside world.

Read from the syntax trees, so an import inside a function or under TYPE_CHECKING counts too.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "mcp_tap"

ARROWS: dict[str, set[str]] = {
    "errors": set(),
    "core": {"errors"},
    "rules": {"core", "errors"},
    "answers": {"core", "errors"},
    "capture": {"core", "errors"},
    "config": {"core", "answers", "errors", "rules.policy", "config_check", "config_places"},
    "config_places": set(),
    "config_check": {"config", "errors"},
    "pipeline": {"core", "errors", "rules"},
    "net": {"core", "errors"},
    "addons": {"core", "answers", "capture", "errors"},
    "bridge": {"core", "errors", "net", "proxy.stdio"},
    "proxy": {"core", "addons", "answers", "capture", "errors", "net", "pipeline", "rules"},
    "replay": {
        "core",
        "answers",
        "bridge",
        "capture",
        "errors",
        "net",
        "pipeline",
        "proxy",
        "rules",
    },
    "plugin": {
        "core",
        "answers",
        "capture",
        "cli.bridged",
        "cli.closing",
        "cli.replayed",
        "cli.scripting",
        "cli.upstream",
        "errors",
        "net",
        "proxy",
        "replay",
        "rules",
        "views",
    },
    "pytest_plugin": {"errors", "plugin"},
    "views": {"core", "errors", "rules"},
    "exporting": {"core", "errors", "rules", "views"},
    "demo": {"core", "errors"},
    "wrapping": {"core", "answers.toml", "capture", "errors"},
    "testing": {"core", "net", "pipeline", "proxy"},
    "cli": {"*"},
    "__main__": {"cli"},
}
"""Room -> what it may import of ours, beside itself and the bare package (`__version__`)."""

PURE_ROOMS = (
    "core",
    "exporting",
    "rules",
    "answers",
    "pipeline",
    "replay.compare",
    "replay.keys",
    "views.timeline",
    "views.machine",
    "wrapping.entries",
    "wrapping.entry",
    "wrapping.jsonc",
    "wrapping.notation",
    "wrapping.toml",
)
OUTSIDE_WORLD = {
    "asyncio",
    "time",
    "random",
    "os",
    "pathlib",
    "socket",
    "logging",
    "aiohttp",
    "rich",
    "click",
}


def modules() -> list[tuple[str, Path]]:
    """Dotted names below `mcp_tap` (a package's `__init__` counts as the package) and files."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = list(path.relative_to(PACKAGE).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        found.append((".".join(parts), path))
    return found


@cache
def imports(name: str, path: Path) -> set[str]:
    """Absolute dotted names of all modules (or names in modules) that a file imports."""
    here = ["mcp_tap", *name.split(".")] if name else ["mcp_tap"]
    if path.name != "__init__.py":
        here.pop()
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            found.update(f"{module}.{alias.name}" for alias in node.names)
    return found


def within(name: str, room: str) -> bool:
    return name == room or name.startswith(room + ".")


MODULES = modules()
OURS = [pytest.param(n, p, id=n or "mcp_tap") for n, p in MODULES]


@pytest.mark.parametrize(("name", "path"), OURS)
def test_imports_follow_the_arrows(name, path):
    room = name.split(".")[0]
    if not room:
        allowed: set[str] = set()
    else:
        assert room in ARROWS, f"mcp_tap/{room} has no row in ARROWS: decide what it may import"
        allowed = ARROWS[room] | {room}
    if "*" in allowed:
        return
    of_ours = {i.removeprefix("mcp_tap.") for i in imports(name, path) if i.startswith("mcp_tap.")}
    against = sorted(
        i for i in of_ours if i != "__version__" and not any(within(i, a) for a in allowed)
    )
    assert not against, f"{path.relative_to(ROOT)} imports against the arrows: {against}"


@pytest.mark.parametrize(
    ("name", "path"), [p for p in OURS if any(within(p.values[0], r) for r in PURE_ROOMS)]
)
def test_pure_rooms_know_no_outside_world(name, path):
    touched = {i.split(".")[0] for i in imports(name, path)} & OUTSIDE_WORLD
    assert not touched, f"{path.relative_to(ROOT)} is pure but imports {sorted(touched)}"


@pytest.mark.parametrize(("name", "path"), OURS)
def test_modules_stay_within_350_lines(name, path):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= 350, f"{path.relative_to(ROOT)} has {lines} lines: split it"


def test_the_sdk_and_test_tools_are_never_imported_at_run_time():
    banned = {"mcp", "mcp_types", "pytest", "hypothesis", "cogapp"}
    guilty = {
        name: sorted({i.split(".")[0] for i in imports(name, path)} & banned)
        for name, path in MODULES
        if name not in ("pytest_plugin", "testing")
    }
    assert {name: found for name, found in guilty.items() if found} == {}
