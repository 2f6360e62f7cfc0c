"""docs/ci.md: its workflow is run as a shell script, its one line as it stands."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest

from tests.bounds import TEST

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def lines_of(page):
    """Give what stands after `$ ` in a page's console blocks."""
    blocks = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def steps():
    """Read the workflow's steps that run something: name and script."""
    (yaml,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    found = {}
    for step in re.split(r"^      - ", yaml, flags=re.MULTILINE)[1:]:
        name = re.search(r"^name: (.*)", step)
        script = re.search(r"^        run: (?:\|\n((?: {10}.*\n?)+)|(.*))", step, re.MULTILINE)
        if name and script:
            block = script[1] or script[2]
            found[name[1]] = "\n".join(line.removeprefix(" " * 10) for line in block.splitlines())
    return found


@pytest.fixture
def clone(tmp_path):
    """Give a folder with what a clone has that the page uses, and the programs on PATH."""
    shutil.copytree(ROOT / "docs" / "ci", tmp_path / "docs" / "ci")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, words in (("python", ""), ("mcp-tap", " -m mcp_tap")):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)}{words} "$@"\n')
        program.chmod(0o755)
    return tmp_path


def run(clone, script, **variables):
    """Run a script as a runner of GitHub does, with a port that is free."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return subprocess.run(
        [
            "bash",
            "--noprofile",
            "--norc",
            "-eo",
            "pipefail",
            "-c",
            script.replace("3000", str(port)),
        ],
        cwd=clone,
        env={
            **{k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")},
            "PATH": f"{clone / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # a clone installs pytest, and no plugins
            **variables,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TEST,
    )


def test_workflow_passes_and_leaves_its_reports(clone):
    script = steps()
    assert list(script) == ["Install", "Test", "Judge"]
    done = run(clone, f"{script['Test']}\n{script['Judge']}", CI="true")
    assert done.returncode == 0, done.stderr
    assert "2 passed" in done.stdout
    ET.parse(clone / "mcp-tap.xml")
    sarif = msgspec.json.decode((clone / "mcp-tap.sarif").read_bytes())
    assert sarif["version"] == "2.1.0"
    assert (clone / "run.jsonl").stat().st_size


def test_workflow_fails_where_a_question_has_no_answer_or_an_entry_is_of_no_use(clone):
    answers = clone / "docs" / "ci" / "answers.toml"
    answers.write_text(answers.read_text().replace('key = "window"', 'key = "windows"'))
    done = run(clone, steps()["Test"], CI="true")
    assert done.returncode == 1
    assert 'nothing in docs/ci/answers.toml answers ask "window"' in done.stdout
    assert 'answer "start as the server suggests" was never used' in done.stderr


def test_one_line_is_the_whole_job(clone):
    line, readme = ([x for x in lines_of(p) if "--upstream-command" in x] for p in (PAGE, README))
    assert line == readme
    done = run(clone, *line, CI="true")
    assert done.returncode == 0, done.stderr
    assert "2 passed" in done.stdout


@pytest.mark.parametrize("line", [line for line in lines_of(PAGE) if line.startswith("mcp-tap ")])
def test_the_pages_commands_are_understood(line):
    from mcp_tap.cli.main import group

    words = shlex.split(line.partition(" > ")[0])[1:]
    with group.make_context("mcp-tap", [words[0]], resilient_parsing=True) as root:
        command = group.get_command(root, words[0])
        assert command, words[0]
        command.make_context(words[0], words[1:], parent=root)


def test_what_the_page_installs_is_what_the_clone_has():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert steps()["Install"] == "python -m pip install -q '.[peers]' pytest"
    assert any(each.startswith("mcp==") for each in project["optional-dependencies"]["peers"])
