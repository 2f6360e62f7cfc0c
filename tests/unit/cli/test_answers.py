"""Scripts are drafted, tried and looked through from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcp_tap.cli.main import run

ROOT = Path(__file__).parents[3]
CAPTURES = ROOT / "captures"
RUN = str(CAPTURES / "py-py-2026.jsonl")
PARALLEL = str(CAPTURES / "py-py-2026-parallel.jsonl")
SILENT = str(CAPTURES / "py-py-2026-auth.jsonl")


@pytest.fixture
def answers(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)

    def do(*args, code=0):
        assert run(["answers", *args]) == code
        return capsys.readouterr()

    return do


@pytest.fixture
def drafted(answers, tmp_path):
    (tmp_path / "a.toml").write_text(answers("new", RUN).out)
    return answers


def write(text, name="a.toml"):
    Path(name).write_text(text)
    return name


def test_a_draft_goes_to_stdout_and_what_is_said_of_it_to_stderr(answers):
    out, err = answers("new", RUN)
    assert out.startswith("# Drafted from py-py-2026.jsonl.\nversion = 1\n")
    assert err == "17 answers for 17 asks\n"
    assert answers("new", RUN, "-q").err == ""


def test_a_draft_of_one_call_is_added_to_a_script(drafted, tmp_path):
    out, err = drafted("new", PARALLEL, "--call", "3")
    assert "version" not in out
    assert "call 3" in out.splitlines()[0]
    assert err == "2 answers for 2 asks\n"
    with (tmp_path / "a.toml").open("a") as script:
        script.write(out)
    assert "nothing to say against them" in drafted("lint", "a.toml").err


def test_what_nobody_answered_is_drafted_and_told(answers):
    out, err = answers("new", str(CAPTURES / "py-py-2026-ambiguous.jsonl"), "--call", "17")
    assert "# nobody answered this one" in out
    assert err == "1 answer for 1 ask; 1 of them nobody had answered\n"


def test_a_draft_answers_the_capture_it_was_drafted_from(drafted):
    out, err = drafted("test", "a.toml", RUN)
    assert "as the client did" in out
    assert err == "17 asks, 17 answered\n"
    assert '  + "book_table seat"  accept {seat: "4A", window: true}  as the client did\n' in out
    assert '    "book_table day (2)" wants message "^Which day for 3 guests\\\\?$"\n' not in out
    assert '    "onboard motto" wants tool "onboard"\n' in out


def test_a_trial_has_colours_where_these_are_wanted_in_a_pipe_too(drafted, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in drafted("test", "a.toml", RUN).out


def test_quiet_says_only_what_won(drafted):
    out, err = drafted("test", "a.toml", RUN, "--call", "6", "-q")
    assert out == (
        '#6 tools/call book_table, round 1  day (form)  "Which day for 3 guests?"\n'
        '  + "book_table day (2)"  accept {day: "tue"}  as the client did\n'
        '#6 tools/call book_table, round 2  seat (form)  "Seat on tue?"\n'
        '  + "book_table seat (2)"  decline  as the client did\n'
    )
    assert err == ""


def test_an_ask_without_an_answer_fails_the_test_and_says_why(answers):
    script = write('[[answer]]\nname = "days"\nmatch = { key = "day" }\ncontent = { day = "mon" }')
    out, err = answers("test", script, RUN, "--call", "6", code=1)
    assert '  + "days"  accept {day: "mon"}  the client: accept {day: "tue"}\n' in out
    assert '  ! no answer: nothing in a.toml answers ask "seat" of tools/call book_table' in out
    assert '    "days" wants key "day"\n' in out
    assert err == "2 asks, 1 answered, 1 not; 1 not as the client did\n"


def test_a_misfit_and_what_it_holds_up_are_told(answers):
    script = write(
        '[[answer]]\nname = "who"\nmatch = { key = "profile" }\ncontent = { nam = "x" }\n'
        '[[answer]]\nname = "web"\nmatch = { mode = "url" }\naction = "accept"\n'
    )
    out, _ = answers("test", script, RUN, "--call", "14", code=1)
    assert '  ! answer-misfit: answer "who" does not fit the schema it was asked to fill\n' in out
    assert "content.nam" in out
    assert '  ! "web" would answer it, but not all asks of the round have answers\n' in out


def test_entries_that_never_matched_are_told(answers):
    every = ['fill = ["default", "generate"]', 'action = "decline"', 'text = "y"', "roots = []"]
    never = '[[answer]]\nname = "x"\nmatch = { key = "x" }\naction = "decline"\n'
    script = write(never + "".join(f"[[answer]]\n{lines}\n" for lines in every))
    assert '; never matched: "x"\n' in answers("test", script, RUN).err


def test_programs_get_a_document(drafted):
    doc = json.loads(drafted("test", "a.toml", RUN, "--call", "6", "--json").out)
    assert (doc["version"], doc["answered"], doc["failed"]) == (1, 2, 0)
    assert doc["asks"][1]["entry"] == "book_table seat (2)"
    assert doc["asks"][1]["answer"] == doc["asks"][1]["client"] == {"action": "decline"}
    assert [t["won"] for t in doc["asks"][1]["tried"]].count(True) == 1
    script = write("[[answer]]\ncontent = { day = 1 }")
    doc = json.loads(drafted("test", script, RUN, "--call", "7", "-f", "json", code=1).out)
    (ask,) = doc["asks"]
    assert (ask["error"]["code"], ask["answer"], ask["same"]) == ("answer-misfit", None, None)


def test_no_value_of_the_environment_is_printed(answers, monkeypatch):
    monkeypatch.setenv("DAY", "hunter2")
    script = write('[[answer]]\ncontent = { day = { env = "DAY" } }\ncheck = false')
    for form in ("text", "json"):
        out, err = answers("test", script, RUN, "--call", "7", "-f", form)
        assert "hunter2" not in out + err
        assert "(from the environment)" in out


def test_a_variable_that_is_missing_fails_the_test(answers):
    script = write('[[answer]]\ncontent = { day = { env = "NO_SUCH_VARIABLE" } }')
    out, _ = answers("test", script, RUN, "--call", "7", code=1)
    assert "needs NO_SUCH_VARIABLE, which is not in the environment" in out


def test_what_is_declined_for_want_of_an_entry_is_answered(answers):
    script = write('unmatched = "decline"\n[[answer]]\nmatch = { key = "day" }\naction = "cancel"')
    out, err = answers("test", script, RUN, "--call", "6", "-q")
    assert "  - unmatched  decline  as the client did\n" in out
    assert err == ""


def test_several_scripts_are_tried_as_one(answers):
    write('[[answer]]\nname = "day"\nmatch = { key = "day" }\naction = "cancel"', "a.toml")
    write('[[answer]]\nname = "rest"\naction = "decline"', "b.toml")
    out, _ = answers("test", "a.toml", "b.toml", RUN, "--call", "6", "-q")
    assert [line.split('"')[1] for line in out.splitlines() if line.startswith("  +")] == [
        "day", "rest",
    ]  # fmt: skip


def test_a_script_may_be_called_anything(answers):
    write('[[answer]]\naction = "cancel"', "script")
    assert "1 answered" in answers("test", "script", RUN, "--call", "7").err


# lint


def test_a_sound_script_has_nothing_against_it(drafted):
    out, err = drafted("lint", "a.toml")
    assert (out, err) == ("", "17 answers, nothing to say against them\n")


def test_warnings_fail_and_notes_do_not(answers):
    note = write('[[answer]]\nname = "otp"\ncontent = { a = { env = "NO_SUCH_VARIABLE" } }')
    assert answers("lint", note).out == (
        'N a.toml, answer 1 "otp": content.a needs NO_SUCH_VARIABLE,'
        " which is not in the environment now  [env-missing]\n"
    )
    twice = write('[[answer]]\naction = "decline"\n' * 2)
    out, _ = answers("lint", twice, code=1)
    assert out.startswith('W a.toml, answer 2: answer 1 "answer 1" matches all that it does')


def test_all_mistakes_are_told_and_a_script_with_some_cannot_be_used(answers):
    bad = write('[[answer]]\nacton = "decline"\n[[answer]]\ncontent = { a = 2026-12-31 }')
    out, _ = answers("lint", bad, code=2)
    assert out == (
        'error[unknown-setting]: a.toml, answer 1 has no setting "acton"\n'
        '  help: did you mean "action"?\n'
        "error[value-unusable]: a.toml, answer 2, content.a: TOML reads 2026-12-31 as a date,"
        " which JSON has not\n"
        '  help: quote it: "2026-12-31"\n'
    )
    doc = json.loads(answers("lint", bad, "--json", code=2).out)
    assert [remark["severity"] for remark in doc["remarks"]] == ["error", "error"]


def test_a_call_that_a_file_names_is_no_matter_of_lint(drafted):
    write("[answers]\ncall = 5\n", "mcp-tap.toml")
    assert "nothing to say" in drafted("lint", "a.toml").err
    assert drafted("test", "a.toml", RUN).err == "2 asks, 2 answered\n"


# usage


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["tst"], 2, "'tst' is not one of"),
        ([], 2, "mcp-tap answers needs new|test|lint"),
        (["new", "a", "b"], 2, "answers new takes one capture"),
        (["lint"], 2, "answers lint takes a script"),
        (["lint", "a.toml", "--call", "1"], 2, "--call is for new and test"),
        (["test"], 2, "answers test takes a script"),
        (["test", "a.toml", "b", "c"], 2, "answers test takes a script"),
        (["test", "nope.toml", RUN], 2, "there is no script nope.toml"),
        (["new", RUN, "--call", "999"], 2, "has no call 999"),
        (["new", "nope.jsonl"], 2, "there is no capture nope.jsonl"),
        (["new", SILENT], 4, "nothing is asked in py-py-2026-auth.jsonl"),
        (["new", RUN, "--call", "3"], 4, "nothing is asked in call 3 of py-py-2026.jsonl"),
    ],
)
def test_what_cannot_be_done_is_said(answers, args, code, words):
    assert words in answers(*args, code=code).err


def test_a_torn_capture_cannot_say_that_all_is_answered(drafted, tmp_path):
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(Path(RUN).read_bytes()[:-40])
    assert "torn.jsonl is not whole" in drafted("test", "a.toml", str(torn), code=4).err
    Path("b.toml").write_text("")
    assert "not whole" not in drafted("test", "b.toml", str(torn), code=1).err


def session_asks():
    """A capture of a server that lists the roots between calls, and its client."""
    fields = [["MCP-Protocol-Version", "2025-11-25"], ["Mcp-Session-Id", "s1"]]
    request = {"kind": "http_request", "path": "/mcp", "headers": fields, "peer": "127.0.0.1"}
    stream = [["content-type", "text/event-stream"]]
    folders = {"roots": [{"uri": "file:///srv/a"}]}
    records = [
        {"kind": "header", "format": 1, "tool": "t", "run": "r", "transport": "http",
         "started": "2026-11-30T00:00:00.000Z", "upstream": "http://127.0.0.1:1/mcp"},
        {**request, "exchange": 1, "conn": 1, "method": "GET"},
        {"kind": "http_response", "exchange": 1, "status": 200, "headers": stream},
        {"kind": "message", "sender": "server", "exchange": 1, "sse": {"event": "message"},
         "body": {"method": "roots/list", "jsonrpc": "2.0", "id": 0}},
        {**request, "exchange": 2, "conn": 2, "method": "POST"},
        {"kind": "message", "sender": "client", "exchange": 2,
         "body": {"jsonrpc": "2.0", "id": 0, "result": folders}},
        {"kind": "footer", "how": "signal", "exchanges": 2},
    ]  # fmt: skip
    lines = [{"seq": seq, "t": seq / 10, **record} for seq, record in enumerate(records)]
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_what_a_server_asks_between_calls_is_drafted_and_tried_too(answers):
    capture = write(session_asks(), "run.jsonl")
    draft = answers("new", capture).out
    assert 'match = { ask = "roots" }' in draft
    out, err = answers("test", write(draft), capture)
    assert out.startswith("for no call  0 (roots)")
    assert "as the client did" in out
    assert err == "1 ask, 1 answered\n"
    (ask,) = json.loads(answers("test", "a.toml", capture, "--json").out)["asks"]
    assert (ask["call"], ask["round"], ask["same"]) == (None, 1, True)
    write("version = 1\n", "none.toml")
    assert "nothing in none.toml answers" in answers("test", "none.toml", capture, code=1).out
