"""A client that declares nothing, the script that answers for it, and what comes of its calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mcp_tap.cli.main import run
from tests.peers.programs import python

CLIENT = python("python_mute_client.py")
SERVER = python("python_asking_server.py")
SCRIPT = """
version = 1
unmatched = "fail"

[[answer]]
name = "the day"
match = { field = "day" }
content = { day = "tue" }

[[answer]]
name = "the seat"
match = { field = "seat" }
content = { seat = "4A" }

[[answer]]
name = "the page"
match = { mode = "url", url = "https://id.example.test/*" }
action = "accept"

[[answer]]
name = "the model"
match = { ask = "sampling" }
text = "Twice a day."
model = "scripted"

[[answer]]
name = "the roots"
match = { ask = "roots" }
roots = [{ uri = "file:///srv/sea" }]

[[answer]]
name = "any word"
match = { message = "word" }
fill = ["default"]
"""


def scripted(folder: Path, text: str = SCRIPT) -> str:
    """Write a script; give its path."""
    path = folder / "answers.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def saw_all(found: Any, mode: str) -> None:
    """See that the client was given the result of every call, in this mode of the SDK."""
    legacy = mode == "legacy"
    assert found["version"] == ("2025-11-25" if legacy else mode)
    assert found["results"] == [
        [False, "5"],
        [False, "2 guests on tue, seat 4A"],
        [False, "ada: accept"],
        [False, f"Twice a day. ['file:///srv/sea'] {'pushed' if legacy else 'studying tides'}"],
        ["ada: plain"],
        ["ada: plain"],
    ]


def was_answered(path: Path, capsys: Any) -> None:
    """See in a capture that the script answered whatever was asked, and all is well with it."""
    assert run(["show", str(path), "-f", "json"]) == 0
    calls = json.loads(capsys.readouterr().out)["calls"]
    asking = [call for call in calls if len(call["rounds"]) > 1]
    assert [call["name"] for call in asking] == ["book", "sign_in", "study", "greet", "note://ada"]
    assert {call["outcome"] for call in calls} == {"ok"}
    asks = [ask for call in asking for r in call["rounds"] for ask in r["asks"]]
    assert [(ask["answered_by"], ask["entry"]) for ask in asks] == [
        ("tap", "the day"),
        ("tap", "the seat"),
        ("tap", "the page"),
        ("tap", "the model"),
        ("tap", "the roots"),
        ("tap", "any word"),
        ("tap", "any word"),
    ]
    assert {r["by_tap"] for call in asking for r in call["rounds"][1:]} == {True}
    assert run(["check", str(path), "--no-config"]) == 0
