"""`mcp-tap diff` on real sessions: recorded twice, or with one thing changed in one of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_tap.cli.main import run
from tests.bounds import BOUND

GOLDEN = sorted((Path(__file__).parents[2] / "captures").glob("*.jsonl"))
TAP = [sys.executable, "-m", "mcp_tap.cli.main"]


def texts(lines):
    """Give the index of each line with a result that has text, and that line's record."""
    for index, line in enumerate(lines):
        record = json.loads(line)
        body = record.get("body")
        if record["kind"] != "message" or record["sender"] != "server" or type(body) is not dict:
            continue
        content = body.get("result", {}).get("content")
        if content and content[0].get("type") == "text":
            yield index, record


@pytest.mark.parametrize("capture", GOLDEN, ids=lambda path: path.stem)
def test_one_text_changed_in_a_session_is_exactly_that_difference(capture, tmp_path, capsys):
    lines = capture.read_text(encoding="utf-8").splitlines()
    found = list(texts(lines))
    if not found:
        assert run(["diff", str(capture), str(capture)]) == 0
        return
    index, record = found[len(found) // 2]
    content = record["body"]["result"]["content"][0]
    before, content["text"] = content["text"], "planted"
    lines[index] = json.dumps(record, ensure_ascii=False)
    changed = tmp_path / "changed.jsonl"
    changed.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert run(["diff", str(capture), str(changed), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    told = [
        (d["what"], d["change"], d["at"], d["left"], d["right"])
        for d in document["differences"]
        if d["what"] != "finding"  # a rule may compare the text with structuredContent
    ]
    assert told == [("result", "changed", "/result/content/0/text", before, "planted")]
    assert document["summary"]["differ"] == 1


def test_the_same_session_recorded_twice_differs_in_nothing_but_what_is_made_up(tmp_path):
    home = {**os.environ, "MCP_TAP_HOME": str(tmp_path), "PYTHONIOENCODING": "utf-8"}
    names = ("one.jsonl", "two.jsonl")
    demos = [
        subprocess.Popen([*TAP, "demo", "-q", "--view", "none", "-w", name], cwd=tmp_path, env=home,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for name in names
    ]  # fmt: skip
    for demo in demos:
        assert demo.communicate(timeout=BOUND) is not None
        assert demo.returncode == 0

    def diff(*arguments):
        return subprocess.run(
            [*TAP, "diff", *names, *arguments],
            cwd=tmp_path,
            env=home,
            timeout=BOUND,
            capture_output=True,
            text=True,
            encoding="utf-8",
        )

    done = diff()
    assert done.returncode == 1
    assert "1 difference (1 ask)" in done.stdout  # its link has another token each time
    assert "/result/inputRequests/consent/params/url" in done.stdout
    done = diff("--ignore-path", "/result/inputRequests/*/params/url")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("taken for equal: 1 ignored\n")
