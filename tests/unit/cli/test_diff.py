from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from mcp_tap.cli.diff_rows import DiffRows
from mcp_tap.cli.main import run
from mcp_tap.core.records import Footer, Gap, encode
from mcp_tap.replay.compare.difference import Difference
from mcp_tap.views.look import text_of
from tests import captures, changed
from tests.traffic import STATE, Traffic, done

GOLDEN = Path(__file__).parents[3] / "captures"
MASKED = "mcp-tap:00000000000000aa"


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def both():
    return changed.write(Path())


def made(path, *results, clean=True, **header):
    traffic = Traffic(**header)
    for number, result in enumerate(results):
        traffic.call("search", done(result), arguments={"n": number})
    return str(traffic.write(Path(path), clean=clean))


def test_each_change_of_a_server_is_a_line_under_its_call(both, capsys):
    assert run(["diff", *both]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[:2] == [
        "--- a  before.jsonl  3 calls, 2026-07-28T12:04:01.250Z",
        "+++ b  after.jsonl  2 calls, 2026-07-28T12:04:01.250Z",
    ]
    assert out[2:4] == [
        "tool deploy",
        '  + /tools/deploy/inputSchema/properties/region  (required)  {type: "string"}',
    ]
    assert out[4] == "tools/call deploy  #2 / #2  80ms / 80ms"
    assert (
        out[5]
        == '  ~ r1 ask confirm renamed  /result/inputRequests/confirm  "confirm" -> "confirmed"'
    )
    assert out[6].startswith("  ~ r2 outcome  {result: ")
    assert out[6].endswith('{error: {code: -32603, message: "no room in prod"}}')
    assert out[7] == '- tools/call search  #3 / -  only in a  {q: "prod"}'
    assert out[8] == "time of the server over the same calls: 120ms in a, 120ms in b"
    assert out[9] == (
        "different: 4 differences (1 tool, 1 ask, 1 outcome, 1 call);"
        " calls: 1 equal, 1 different, 1 only in a"
    )
    assert len(out) == 10


def test_no_header_moves_the_terminal(capsys):
    odd = [made(f"{n}.jsonl", n, started=f"\x1b[2J\u202e{n}", run=f"\x07{n}") for n in "ab"]
    assert run(["diff", *odd]) == 1
    assert run(["replay", "client", odd[0], "--to", "http://127.0.0.1:1/"]) == 4
    out = capsys.readouterr().out
    assert "\\x1b[2J" in out
    assert not any(ch in out for ch in "\x1b\x07\u202e")


def test_no_state_is_shown(both, capsys):
    assert run(["diff", *both, "--json"]) == 1
    assert STATE not in capsys.readouterr().out


def test_equal_captures_exit_with_0_and_say_what_was_taken_for_equal(capsys):
    a = made("a.jsonl", "at 2026-01-01T00:00:00Z", "for " + MASKED)
    b = made("b.jsonl", "at 2027-01-01T00:00:00Z", "for me")
    assert run(["diff", a, b]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "taken for equal: 1 by mask, 1 by timestamps",
        "time of the server over the same calls: 80ms in a, 80ms in b",
        "same: 2 calls equal",
    ]
    assert run(["diff", a, b, "--no-normalise", "timestamps"]) == 1


def test_masks_under_one_key_are_compared():
    a = made("a.jsonl", MASKED, key="k1")
    b = made("b.jsonl", MASKED.replace("aa", "bb"), key="k1")
    assert run(["diff", a, b]) == 1
    assert run(["diff", a, made("c.jsonl", MASKED.replace("aa", "bb"), key="k2")]) == 0


def test_what_stands_at_an_ignored_place_is_left_out(both):
    ignored = ["/tools/deploy/**/region", "/result/inputRequests"]
    assert run(["diff", *both, *(f"--ignore-path={path}" for path in ignored)]) == 1
    a, b = made("a.jsonl", "x"), made("b.jsonl", "y")
    assert run(["diff", a, b, "--ignore-path", "/result/content/*/text"]) == 0
    assert run(["diff", a, b, "--ignore-path", "text"]) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gone.jsonl", "gone.jsonl"], "gone.jsonl"),
        (["a.jsonl"], "needs B"),
        (["a.jsonl", "a.jsonl", "--ignore-path", "/"], "names no place"),
        (["a.jsonl", "a.jsonl", "--no-normalise", "times"], "server-version"),
        (["a.jsonl", "a.jsonl", "--slower", "0.5"], "slower"),
        (["-", "-"], "standard input can be read only once"),
        (["a.jsonl", "a.jsonl", "-o", "no/where.txt"], "cannot be written"),
    ],
)
def test_what_cannot_be_meant_or_read_is_refused(arguments, words, capsys):
    made("a.jsonl", "x")
    assert run(["diff", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_a_torn_capture_cannot_say_that_nothing_differs(capsys):
    a, b = made("a.jsonl", "x", "y"), made("b.jsonl", "x", "y", clean=False)
    with Path(b).open("ab") as file:
        file.write(b'{"kind":"foo')
    assert run(["diff", a, b]) == 4
    err = capsys.readouterr().err
    assert err.count("[capture-torn]") == 1
    assert f"help: mcp-tap diff {a} {b} --allow-torn" in err
    assert run(["diff", a, b, "--allow-torn"]) == 0
    assert "capture-torn" in capsys.readouterr().err
    with Path(made("c.jsonl", "x", "z", clean=False)).open("ab") as file:
        file.write(b'{"kind":"foo')
    assert run(["diff", a, "c.jsonl"]) == 1
    assert "warning[capture-torn]" in capsys.readouterr().err


def test_a_torn_capture_that_is_allowed_and_holds_no_call_has_nothing_to_be_compared(capsys):
    a, b = made("a.jsonl"), made("b.jsonl", clean=False)
    with Path(b).open("ab") as file:
        file.write(b'{"kind":"foo')
    assert run(["diff", a, b, "--allow-torn"]) == 4
    err = capsys.readouterr().err
    assert "warning[capture-torn]" in err
    assert "error[nothing-to-compare]" in err
    assert f"help: mcp-tap show {a} -d1" in err


def test_a_capture_that_lacks_records_cannot_say_that_nothing_differs():
    traffic = Traffic()
    traffic.call("search", done("x"), arguments={"n": 0})
    n = len(traffic.records)
    traffic.records += [
        Gap(seq=n + 2, t=1.0, lost=3, why="disk full"), Footer(seq=n + 3, t=1.0, exchanges=1),
    ]  # fmt: skip
    Path("lost.jsonl").write_bytes(b"".join(encode(r) + b"\n" for r in traffic.records))
    assert run(["diff", made("a.jsonl", "x"), "lost.jsonl"]) == 4


def test_two_captures_without_calls_cannot_be_compared(capsys):
    Path("empty.jsonl").write_bytes(
        b"".join(encode(r) + b"\n" for r in (captures.header(), Footer(seq=1, t=0.0, exchanges=0)))
    )
    assert run(["diff", "empty.jsonl", "empty.jsonl"]) == 4
    assert "nothing-to-compare" in capsys.readouterr().err


def test_a_report_goes_to_a_file_and_its_sum_to_stderr(both, capsys):
    assert run(["diff", *both, "-f", "json", "-o", "diff.json"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "4 differences" in said.err
    assert json.loads(Path("diff.json").read_bytes())["summary"]["differences"] == 4
    assert run(["diff", *both, "-o", "diff.txt", "--exit-zero"]) == 0
    assert "tools/call deploy" in Path("diff.txt").read_text()


def test_quiet_prints_differences_only(both, capsys):
    assert run(["diff", *both, "-q"]) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("- tools/call search")
    assert run(["diff", both[0], both[0], "-q"]) == 0
    assert capsys.readouterr().out == ""


def test_one_capture_may_come_on_standard_input(both, monkeypatch, capsys):
    with Path(both[1]).open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert run(["diff", both[0], "-"]) == 1
    assert "+++ b  standard input  2 calls" in capsys.readouterr().out


def test_time_is_a_difference_where_it_is_asked_for(capsys):
    a, slow = made("a.jsonl", "x"), Traffic()
    slow.call("search", done("x"), arguments={"n": 0})
    slow.records[3:] = [replace(record, t=record.t + 1) for record in slow.records[3:]]
    slow.t += 1
    b = str(slow.write(Path("b.jsonl")))
    assert run(["diff", a, b]) == 0
    assert run(["diff", a, b, "--slower", "100"]) == 0
    capsys.readouterr()
    assert run(["diff", a, b, "--slower", "2"]) == 1
    assert "  ~ time  40ms -> 1.04s" in capsys.readouterr().out


def test_what_differs_in_many_calls_alike_is_told_of_the_first_and_counted(capsys):
    def run_of(path, version):
        traffic = Traffic()
        for number in range(9):
            result = done("x") | {"extra": version}
            traffic.call("search", result, arguments={"n": number})
        return str(traffic.write(Path(path)))

    assert run(["diff", run_of("a.jsonl", 1), run_of("b.jsonl", 2)]) == 1
    out = capsys.readouterr().out
    assert out.count("/result/extra") == 3
    assert "6 differences like those above not shown" in out
    assert "9 differences" in out


def test_a_capture_is_the_same_as_itself(capsys):
    for path in sorted(GOLDEN.glob("*.jsonl"))[:3]:
        assert run(["diff", str(path), str(path)]) == 0
        assert "same: " in capsys.readouterr().out


def test_wire_text_cannot_reach_the_terminal(capsys):
    assert run(["diff", made("a.jsonl", "x"), made("b.jsonl", "\x1b[2J\u202e")]) == 1
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\\x1b[2J\\u202e" in out


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"what": "result", "change": "changed", "at": "/result/x", "left": None, "right": 1},
         "  ~ r1 result  /result/x  null -> 1"),
        ({"what": "result", "change": "added", "at": "/result/x", "right": None},
         "  + r1 result  /result/x  null"),
        ({"what": "state", "change": "removed", "at": "/result/requestState"},
         "  - r1 state  /result/requestState"),
        ({"what": "notification", "change": "moved", "name": "notifications/progress",
          "left": [{"method": "m", "params": {"progress": 1}}],
          "right": [{"method": "m", "params": {}}]},
         '  ~ r1 notification notifications/progress moved  [1] -> ["m"]'),
        ({"what": "time", "change": "changed", "left": 0.5, "right": 2.0},
         "  ~ r1 time  500ms -> 2.00s"),
    ],
)  # fmt: skip
def test_a_difference_is_a_line(given, words):
    assert text_of(DiffRows(None).row(Difference(round=1, **given))) == words


def test_long_texts_are_cut_so_that_what_differs_is_seen():
    long = "the same words again and again " * 20
    made = Difference(
        what="result", change="changed", at="/result/x", left=long + "A", right=long + "B"
    )
    words = text_of(DiffRows(80).row(made))
    assert words.endswith('B"')
    assert 'A" -> ' in words
    assert len(words) <= 80
