"""A client of the Python SDK that declares nothing completes what asks, through the tap."""

from __future__ import annotations

import json

from mcp_tap.cli.main import run
from tests.peers.programs import outcome, python, tapping

SERVER = python("python_asking_server.py")
CLIENT = python("python_mute_client.py")
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
RESULTS = [
    [False, "5"],
    [False, "2 guests on tue, seat 4A"],
    [False, "ada: accept"],
    [False, "Twice a day. ['file:///srv/sea'] studying tides"],
    ["ada: plain"],
    ["ada: plain"],
]


async def test_everything_that_asks_completes_for_a_client_that_declares_nothing(
    serving, tmp_path, capsys
):
    script = tmp_path / "answers.toml"
    script.write_text(SCRIPT, encoding="utf-8")
    async with tapping(serving(*SERVER), tmp_path, "-a", str(script)) as tapped:
        (found,) = await outcome(*CLIENT, tapped, "2026-07-28")
    assert found["version"] == "2026-07-28"
    assert found["results"] == RESULTS
    assert found["progress"] == [1, 1]
    assert run(["show", str(tmp_path / "run.jsonl"), "-f", "json"]) == 0
    calls = json.loads(capsys.readouterr().out)["calls"]
    asking = [call for call in calls if len(call["rounds"]) > 1]
    assert [call["name"] for call in asking] == ["book", "sign_in", "study", "greet", "note://ada"]
    assert {call["outcome"] for call in calls} == {"ok"}
    asks = [ask for call in asking for r in call["rounds"] for ask in r["asks"]]
    assert {ask["answered_by"] for ask in asks} == {"tap"}
    assert [ask["entry"] for ask in asks] == [
        "the day",
        "the seat",
        "the page",
        "the model",
        "the roots",
        "any word",
        "any word",
    ]
    assert {r["by_tap"] for call in asking for r in call["rounds"][1:]} == {True}
    assert run(["check", str(tmp_path / "run.jsonl"), "--no-config"]) == 0


async def test_what_a_session_pushes_completes_for_a_client_that_declares_nothing(
    serving, tmp_path, capsys
):
    script = tmp_path / "answers.toml"
    script.write_text(SCRIPT, encoding="utf-8")
    async with tapping(serving(*SERVER), tmp_path, "-a", str(script)) as tapped:
        (found,) = await outcome(*CLIENT, tapped, "legacy")
    assert found["version"] == "2025-11-25"
    expected = [*RESULTS]
    expected[3] = [False, "Twice a day. ['file:///srv/sea'] pushed"]
    assert found["results"] == expected
    assert run(["show", str(tmp_path / "run.jsonl"), "-f", "json"]) == 0
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
    assert run(["check", str(tmp_path / "run.jsonl"), "--no-config"]) == 0
