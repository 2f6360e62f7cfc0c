from __future__ import annotations

import io
import json
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec import Raw

from mcp_tap.cli.main import run
from mcp_tap.cli.show import LEGEND, LISTED
from mcp_tap.core.records import Message
from tests.captures import header, lines_of
from tests.traffic import STATE, Traffic, done, story


@pytest.fixture(autouse=True)
def in_utc(monkeypatch, tmp_path):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def capture(tmp_path):
    return str(story().write(tmp_path / "run.jsonl"))


def show(capsys, *args, code=0):
    assert run(["show", "--ascii", *args]) == code
    out, err = capsys.readouterr()
    return out.splitlines(), err


def test_calls_are_printed_with_rounds_where_there_are_several(capture, capsys):
    out, err = show(capsys, capture)
    assert [line[:76].partition(" state sha")[0] for line in out] == [
        "TIME      CALL METHOD           NAME             ROUNDS  STATE          TOOK",
        "12:04:01     1 tools/call       search           *       ok             40ms",
        "12:04:01     2 tools/call       deploy           ?-*     ok            140ms",
        "               W SEC-021 deceptive-characters  r1  server  server sends the ",
        "               r1  id 2  HTTP 200  input_required  1 ask ",
        '                   arguments  {to: "prod"}',
        '                   ? confirm (form)  "Разрешить? \\x1b[2J"  fields ok',
        "                   > confirm  accept {ok: true}, by client, after 60ms",
        "               r2  id 3  linked by state  HTTP 200  complete  40ms",
        '                   result  "shipped"',
        "12:04:01     3 tools/call       exprt            x       error -32602   40ms",
        "               x -32602: Unknown tool: exprt",
        "               ! cannot tell: the server answered -32602, and no rule says w",
        "12:04:01     4 tools/call       book             _       waiting client     ",
        "               _ the client never answered seat",
        "               r1  id 6  HTTP 200  input_required  1 ask ",
        '                   ? seat (form)  "Which seat?"  fields ok',
        "                   _ seat  never answered",
    ]
    assert err == "4 calls, 31 records, run.jsonl\n"


def test_what_a_run_without_a_footer_left_open_may_still_come(tmp_path, capsys):
    path = story().write(tmp_path / "run.jsonl", clean=False)
    told = [line.strip() for line in show(capsys, str(path), "state:waiting")[0]]
    assert "_ waiting for the client to answer seat" in told
    assert "_ seat  not answered yet" in told


@pytest.mark.parametrize(
    ("depth", "seen", "unseen"),
    [
        ("-d0", "tools/call       deploy", "  r1  "),
        ("-d1", "  r2  id 3  linked by state", "? confirm"),
        ("-d2", "> confirm  accept {ok: true}", '"jsonrpc"'),
        ("-d3", '"text": "shipped"', "POST /mcp"),
        ("-d4", "POST /mcp HTTP/1.1", '  "jsonrpc": "2.0",'),
    ],
)
def test_each_depth_shows_more(capture, capsys, depth, seen, unseen):
    text = "\n".join(show(capsys, capture, depth)[0])
    assert seen in text
    assert unseen not in text


@pytest.mark.parametrize("depth", range(5))
def test_no_depth_shows_a_state_or_an_escape(capture, capsys, depth):
    text = "\n".join(show(capsys, capture, f"-d{depth}")[0])
    assert STATE not in text
    assert "\x1b" not in text


def test_exchanges_outside_of_calls_are_shown_when_asked_for(capture, capsys):
    assert "notifications/cancelled" not in "\n".join(show(capsys, capture)[0])
    for args in (["-d1"], ["kind:notification"], ["status:202"]):
        assert "notifications/cancelled" in "\n".join(show(capsys, capture, *args)[0])


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        (["tool:deploy"], ["2"]),
        (["tool:deploy", "state:waiting"], []),
        (["tool:deploy | state:waiting"], ["2", "4"]),
        (["tool:deploy | state:waiting", "key:seat"], ["4"]),
        (["(tool:deploy", "|", "tool:search)"], ["1", "2"]),
        (["4 results"], ["1"]),
        (['"4 results"'], ["1"]),
        (["text:/ship+ed/"], ["2"]),
        (["разрешить"], ["2"]),
        (["at:12:04"], ["1", "2", "3", "4"]),
        (["at:12:05.."], []),
    ],
)
def test_filters_choose_the_calls(capture, capsys, words, numbers):
    out, err = show(capsys, capture, "-d0", *words)
    assert [line.split()[1] for line in out if "tools/call" in line] == numbers
    assert err == f"{len(numbers)} of 4 calls, 31 records, run.jsonl\n"


def test_json_is_the_documented_document(capture, capsys):
    for flags in (["--json"], ["-f", "json"]):
        assert run(["show", capture, *flags]) == 0
        doc = json.loads(capsys.readouterr().out)
        assert doc["version"] == 1
        assert (doc["capture"]["records"], doc["capture"]["clean"]) == (31, True)
        assert [c["outcome"] for c in doc["calls"]] == ["ok", "ok", "error", "waiting"]
        deploy = doc["calls"][1]
        assert [r["result_type"] for r in deploy["rounds"]] == ["input_required", "complete"]
        assert deploy["rounds"][0]["request_state"]["echo"] == "same"
        assert deploy["rounds"][0]["asks"][0]["action"] == "accept"
        assert [e["method"] for e in doc["exchanges"]] == ["notifications/cancelled"]


def test_jsonl_is_one_call_a_line(capture, capsys):
    assert run(["show", capture, "-f", "jsonl", "!state:ok"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["name"] for line in lines] == ["exprt", "book"]


def test_ids_are_exact_from_the_wire_to_the_document(tmp_path, capsys):
    traffic = Traffic()
    for number in ("12345678901234567890123", '"7"'):
        request = f'{{"jsonrpc":"2.0","id":{number},"method":"tools/list"}}'
        traffic.post(request.encode(), None)
    path = traffic.write(tmp_path / "ids.jsonl")
    assert run(["show", str(path), "--json"]) == 0
    calls = json.loads(capsys.readouterr().out)["calls"]
    assert [c["rounds"][0]["request_id"] for c in calls] == [12345678901234567890123, "7"]


def test_without_a_capture_the_newest_is_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MCP_TAP_HOME", str(tmp_path))
    story(started="2026-07-01T10:00:00Z").write(tmp_path / "20260701T100000-a-0001.jsonl")
    newer = Traffic(started="2026-07-02T10:00:00Z")
    newer.call("newest", done("x"))
    newer.write(tmp_path / "20260702T100000-b-0002.jsonl")
    for args in ([], ["tool:newest"], ["newest"], ["20260702T100000-b-0002"], ["0002", "newest"]):
        assert "newest" in "\n".join(show(capsys, *args)[0])


@pytest.fixture
def newest(tmp_path, monkeypatch):
    monkeypatch.setenv("MCP_TAP_HOME", str(tmp_path))
    return story().write(tmp_path / "20260701T100000-a-0001.jsonl")


@pytest.mark.usefixtures("newest")
def test_a_word_that_is_neither_a_capture_nor_in_one_is_an_error(capsys):
    out, err = show(capsys, "nightly", code=2)
    assert out == []
    assert err.startswith(
        'error[nothing-found]: nothing has the text "nightly", and there is no capture of that name'
    )
    _, err = show(capsys, "nightly", "state:error", code=2)
    assert "there is no capture nightly\n" in err
    for args in (["deploy"], ["tool:nightly"], ["0001", "nightly"], ['"nightly"'], ["cancelled"]):
        show(capsys, *args)


@pytest.mark.usefixtures("newest")
@pytest.mark.parametrize("flags", [["--json"], ["-f", "json"], ["-f", "jsonl"]])
def test_a_script_with_a_wrong_name_gets_an_error_and_no_document(capsys, flags):
    assert run(["show", "nightly", *flags]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "nothing-found" in err


@pytest.mark.usefixtures("newest")
def test_several_words_none_of_which_is_a_capture_are_refused(capsys):
    _, err = show(capsys, "a", "b", "c", code=2)
    assert err.startswith("error[capture-missing]: there is no capture a\n")
    assert "mcp-tap show 'a b c'" in err


def test_rows_are_counted_as_what_they_are(capture, capsys):
    out, err = show(capsys, capture, "kind:notification")
    assert len(out) == 2
    assert err == "0 of 4 calls and 1 exchange, 31 records, run.jsonl\n"
    assert show(capsys, capture, "-d1")[1].startswith("4 calls and 1 exchange, ")
    assert show(capsys, capture, "kind:http") == ([], "0 of 4 calls, 31 records, run.jsonl\n")


def test_what_waits_is_counted_to_now_only_while_the_run_goes_on(tmp_path, capsys):
    fcntl = pytest.importorskip("fcntl")
    started = datetime.now(UTC) - timedelta(hours=2, seconds=30)
    path = story(started=started.isoformat()).write(tmp_path / "live.jsonl", clean=False)
    row = "tools/call       book             _       waiting client"
    (waits,) = [line for line in show(capsys, str(path))[0] if row in line]
    assert waits.endswith(f"{row}       (server 40ms, client 20ms)")
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        (waits,) = [line for line in show(capsys, str(path))[0] if row in line]
    assert waits.endswith(f"{row} 2h00m  (server 40ms, client 2h00m)")


def test_long_strings_are_whole_only_at_the_last_depth(tmp_path, capsys):
    traffic = Traffic()
    traffic.call("big", done("x" * 5000))
    path = str(traffic.write(tmp_path / "big.jsonl"))
    text = "\n".join(show(capsys, path, "-d3")[0])
    assert "3,000 more characters, -d4 prints all" in text
    assert "x" * 5000 in "\n".join(show(capsys, path, "-d4")[0])


def test_arguments_and_results_are_as_wide_as_the_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "70")
    traffic = Traffic()
    traffic.call("big", done("x " * 500), arguments={"a": "y " * 500})
    out, _ = show(capsys, str(traffic.write(tmp_path / "big.jsonl")), "-d2")
    assert [len(line) for line in out if "arguments" in line or "result" in line] == [70, 70]


def test_a_result_without_its_type_is_seen_without_asking(tmp_path, capsys):
    traffic = Traffic()
    traffic.call("odd", {"content": []})
    path = str(traffic.write(tmp_path / "odd.jsonl"))
    assert show(capsys, path)[0][1].endswith("(no resultType)")
    assert run(["show", path, "--json"]) == 0
    (call,) = json.loads(capsys.readouterr().out)["calls"]
    assert (call["rounds"][0]["result_type"], call["outcome"]) == (None, "ok")


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["nowhere.jsonl"], "capture-missing"),
        (["some/where"], "capture-missing"),
        (["too:x"], "unknown-key"),
        (["run.jsonl", "too:x"], "unknown-key"),
        (["run.jsonl", "(a"], "filter-syntax"),
        (["("], "filter-syntax"),
        ([""], "capture-missing"),
    ],
)
def test_what_is_neither_capture_nor_filter_is_refused(capture, capsys, args, code):
    _, err = show(capsys, *args, code=2)
    assert err.startswith(f"error[{code}]: ")


def test_standard_input_is_read(capture, monkeypatch, capsys):
    with Path(capture).open(encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        out, err = show(capsys, "-", "-d3", "tool:deploy")
    assert '"text": "shipped"' in "\n".join(out)
    assert "standard input" in err


def test_a_torn_tail_is_reported_and_the_rest_is_shown(tmp_path, capsys):
    path = story().write(tmp_path / "torn.jsonl", clean=False)
    path.write_bytes(path.read_bytes() + b'{"kind":"message","seq":31,"t"')
    out, err = show(capsys, str(path), "-d0")
    assert "deploy" in "\n".join(out)
    assert err.startswith("warning[capture-torn]: torn.jsonl stops in the middle of line 31\n")
    assert run(["show", str(path), "--json"]) == 0
    capture = json.loads(capsys.readouterr().out)["capture"]
    assert (capture["torn"], capture["clean"]) == ({"line": 31, "bytes": 30}, False)


def test_lost_records_and_a_missing_footer_are_reported(tmp_path, capsys):
    traffic = story()
    del traffic.records[7:9]
    path = traffic.write(tmp_path / "lost.jsonl", clean=False)
    _, err = show(capsys, str(path))
    assert "warning[records-lost]: 2 records of this run are missing" in err
    assert "no footer: the run goes on, or was killed" in err


def test_quiet_prints_only_the_calls(capture, capsys):
    out, err = show(capsys, capture, "-q", "-d0")
    assert len(out) == 5 + 2
    assert err == ""


def test_colour_changes_no_word(capture, capsys):
    import re

    plain, _ = show(capsys, capture)
    coloured, _ = show(capsys, capture, "--color", "always")
    assert coloured != plain
    assert [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in coloured] == plain


def test_what_the_terminal_cannot_show_is_spelled_out(capture, monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    assert run(["show", capture, "-d2"]) == 0
    sys.stdout.flush()
    assert b"\\u0420\\u0430\\u0437" in raw.getvalue()


def test_the_help_has_the_filter_language_of_the_parser(capsys):
    from mcp_tap.core.filters import help_text

    assert run(["show", "--help"]) == 0
    out = capsys.readouterr().out
    for line in [*help_text().splitlines(), *LEGEND.splitlines(), *LISTED.splitlines()]:
        assert line.strip() in out


def test_messages_of_stdio_are_printed_and_searched_too(tmp_path, capsys):
    lines = (
        ("client", b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}'),
        ("server", b'{"jsonrpc":"2.0","id":1,"result":{"content":[],"note":"needle"}}'),
    )
    messages = [
        Message(seq=n, t=n / 10, sender=sender, body=Raw(body))
        for n, (sender, body) in enumerate(lines, 1)
    ]
    path = tmp_path / "stdio.jsonl"
    path.write_bytes(lines_of(header(transport="stdio"), *messages))
    for args in (["-d3"], ["-d3", "needle"]):
        assert '"note": "needle"' in "\n".join(show(capsys, str(path), *args)[0])
