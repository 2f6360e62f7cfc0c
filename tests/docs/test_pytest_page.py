"""docs/pytest.md: its example runs with its captures and with its server; its tables are whole."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_tap import plugin
from mcp_tap.capture.reader import open_path
from mcp_tap.plugin.options import MODES, NAMES
from tests.bounds import TEST

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "pytest.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "docs" / "pytest"


@pytest.fixture
def clone(tmp_path):
    shutil.copytree(
        EXAMPLE, tmp_path / "docs" / "pytest", ignore=shutil.ignore_patterns("__pycache__")
    )
    return tmp_path


def run(clone, *words):
    line = [sys.executable, "-m", "pytest", "-p", "anyio", "-p", "mcp_tap.pytest_plugin"]
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    env |= {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(
        [*line, "docs/pytest", *words],
        cwd=clone,
        env=env,
        capture_output=True,
        text=True,
        timeout=TEST,
    )


def test_the_example_passes_from_its_captures_without_its_server(clone):
    server = clone / "docs" / "pytest" / "shop_server.py"
    server.write_text("raise SystemExit(9)\n")
    done = run(clone)
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


def test_the_example_passes_with_its_server_and_is_recorded_as_it_is_kept(clone):
    done = run(clone, "--tap-record-mode=all")
    assert done.returncode == 0, done.stdout
    folder = Path("captures") / "test_deploy"
    kept = sorted(path.name for path in (EXAMPLE / folder).iterdir())
    made = clone / "docs" / "pytest" / folder
    assert sorted(path.name for path in made.iterdir()) == kept
    upstreams = {open_path(path).header.upstream for path in made.iterdir()}
    assert upstreams == {open_path(EXAMPLE / folder / name).header.upstream for name in kept}


def test_captures_of_the_example_name_no_folder_of_whoever_recorded_them():
    for path in EXAMPLE.rglob("*.jsonl"):
        assert not re.search(r'"/(home|root|tmp|work|Users)\b', path.read_text()), path


def test_the_pages_commands_run_the_example():
    lines = re.findall(r"^\$ (.*)$", PAGE, re.MULTILINE)
    assert lines == ["python -m pytest docs/pytest", lines[0] + " --tap-record-mode=once"]
    assert f"$ {lines[0]}\n" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
def test_the_pages_code_is_the_examples_or_stands_for_itself(block):
    files = "\n".join(path.read_text(encoding="utf-8") for path in EXAMPLE.glob("*.py"))
    if block in files:
        return
    assert re.search(r"^from mcp_tap|tap_allow|vcr_config", block, re.MULTILINE)
    compile(block if "tap_allow" not in block else f"{block}def f(): ...\n", "page", "exec")


def test_the_page_lists_every_setting_mode_and_field():
    table = PAGE.partition("## Settings")[2]
    assert set(
        re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)))
    ) == set(NAMES)
    modes = re.findall(r"^\| `(\w+)`.*\| record \||^\| `(none)`", PAGE, re.MULTILINE)
    assert {one or other for one, other in modes} == set(MODES)
    for name in ("Call", "Round", "Ask", "Finding"):
        (row,) = re.findall(rf"^\| `{name}` \| (.*) \|$", PAGE, re.MULTILINE)
        for field in getattr(plugin, name).__struct_fields__:
            assert f"`{field}`" in row, f"{name}.{field}"
    rows = set(re.findall(r"^\| `(\w+)(?:\(.*?\))?` \|", PAGE, re.MULTILINE))
    assert {name for name in dir(plugin.Tap) if not name.startswith("_")} - {
        "wait_for_async"
    } <= rows


def test_the_pages_options_are_the_plugins():
    from mcp_tap import pytest_plugin

    source = Path(pytest_plugin.__file__).read_text(encoding="utf-8")
    for option in re.findall(r'"(--tap-[\w-]+)"', source):
        assert f"`{option}" in PAGE, option
    for word in shlex.split(" ".join(re.findall(r"`(--tap-[^`]*)`", PAGE))):
        if word.startswith("--"):
            assert f'"{word.partition("=")[0]}"' in source
