"""Scripts on disk become one book; what cannot be read is said with its path."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_tap.cli import scripting
from mcp_tap.cli.scripting import load_script, look_through, open_book
from mcp_tap.errors import CaptureError, ScriptError, UsageError

ROOT = Path(__file__).parents[3]
CAPTURE = ROOT / "captures" / "py-py-2026.jsonl"
ANSWER = '[[answer]]\naction = "decline"\n'


def write(folder, text, name="a.toml"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def test_scripts_are_put_together_in_the_order_they_are_named(tmp_path):
    paths = [write(tmp_path, ANSWER, "a.toml"), write(tmp_path, 'unmatched = "cancel"', "b.toml")]
    found = open_book(paths, env={})
    assert [e.script for e in found.entries] == [paths[0]]
    assert found.unmatched == "cancel"


@pytest.mark.parametrize(
    ("env", "how"), [({}, "pass"), ({"CI": ""}, "pass"), ({"CI": "true"}, "fail")]
)
def test_in_ci_what_is_unmatched_fails(tmp_path, env, how):
    assert open_book([write(tmp_path, ANSWER)], env=env).unmatched == how
    told = open_book([write(tmp_path, 'unmatched = "ask"')], env=env)
    assert told.unmatched == "ask"


def test_the_command_line_may_say_what_is_advertised(tmp_path):
    path = write(tmp_path, ANSWER)
    assert open_book([path], advertise=["elicitation.url"], env={}).kinds() == {"url"}
    assert open_book([path], advertise=[], env={}).advertised() == {}
    with pytest.raises(UsageError, match="no capability"):
        open_book([path], advertise=["tools"], env={})


@pytest.mark.parametrize("text", ["\ufeff" + ANSWER, ANSWER.replace("\n", "\r\n")])
def test_files_of_any_editor_are_read(tmp_path, text):
    assert len(load_script(write(tmp_path, text)).entries) == 1


@pytest.mark.parametrize(
    ("data", "what", "why"),
    [
        (b"a = '\xff'", "is not in UTF-8", "byte 6"),
        (b"# " + b"x" * scripting.MOST, "is too large", ""),
        (b"acton = 1", 'has no setting "acton"', ""),
    ],
)
def test_what_is_no_script_is_said(tmp_path, data, what, why):
    path = write(tmp_path, data)
    with pytest.raises(ScriptError) as caught:
        load_script(path)
    assert what in caught.value.what
    assert path in caught.value.what
    assert why in caught.value.why


def test_a_script_that_is_not_there_is_said(tmp_path):
    with pytest.raises(ScriptError) as caught:
        load_script(str(tmp_path / "nope.toml"))
    assert caught.value.code == "script-missing"
    assert "answers new" in caught.value.help
    with pytest.raises(ScriptError) as caught:
        load_script(str(tmp_path))
    assert caught.value.code == "script-unreadable"


def test_a_capture_is_seen_from_the_folder_of_its_script(tmp_path, monkeypatch):
    (tmp_path / "captures").mkdir()
    (tmp_path / "captures" / "c.jsonl").write_bytes(CAPTURE.read_bytes())
    monkeypatch.chdir(ROOT)
    text = '[[answer]]\nname = "again"\nfill = ["capture"]\ncapture = "captures/c.jsonl"'
    found = open_book([write(tmp_path, text)], env={})
    assert found.kinds() == {"form", "url", "sampling", "roots"}


def test_a_capture_that_is_not_there_is_said_with_the_answer_that_wants_it(tmp_path):
    text = '[[answer]]\nname = "again"\nfill = ["capture"]\ncapture = "c.jsonl"'
    path = write(tmp_path, text)
    with pytest.raises(CaptureError) as caught:
        open_book([path], env={})
    assert caught.value.where == f'{path}, answer 1 "again"'
    errors, remarks, entries = look_through([path], {})
    assert (errors, entries) == ([], 1)
    assert [(r.severity, r.code) for r in remarks] == [("warning", "capture-unreadable")]


def test_scripts_are_looked_through_whatever_is_wrong_with_one(tmp_path):
    paths = [write(tmp_path, "a = ", "a.toml"), str(tmp_path / "b.toml"),
             write(tmp_path, ANSWER * 2, "c.toml")]  # fmt: skip
    errors, remarks, entries = look_through(paths, {})
    assert [error.code for error in errors] == ["script-unreadable", "script-missing"]
    assert [remark.code for remark in remarks] == ["never-wins"]
    assert entries == 2
