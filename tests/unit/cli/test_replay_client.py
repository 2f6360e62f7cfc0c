"""`mcp-tap replay client` on the command line: what it refuses, lists, sends and says."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jsonschema_rs
import msgspec
import pytest

from mcp_tap.cli.main import run
from mcp_tap.cli.replay_client_doc import schema
from tests.peers.programs import HERE
from tests.resending import deployed
from tests.traffic import META, STATE, Traffic, done

PLAIN = [sys.executable, str(HERE / "plain_stdio.py")]


@pytest.fixture
def capture(tmp_path):
    return deployed(tmp_path / "run.jsonl")


def where(path, region="eu", found="eu", number=1, **arguments):
    """Record a call of a tool that the plain server has."""
    traffic = Traffic(transport="stdio")
    arguments = {"region": region, **arguments}
    params = {"name": "where", "arguments": arguments, **META}
    traffic.post(
        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params},
        {"jsonrpc": "2.0", "id": number, "result": {"resultType": "complete", "region": found}},
    )
    return str(traffic.write(path))


def replay(capsys, *words):
    code = run(["replay", "client", *words])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "there is no server to send to"),
        (["--to", "ftp://x"], "is no upstream URL"),
        (["--to", "http://x", "--", *PLAIN], "--to is about a URL"),
        (["-H", "a: b", "--", *PLAIN], "--header is about a URL"),
        (["--", "no-such-command"], "there is no command no-such-command"),
        (["--to", "http://x", "--ignore-path", "/"], "names no place"),
        (["--to", "http://x", "-a", "missing.toml"], "missing.toml"),
        (["nonsense:x", "--dry-run"], "nonsense"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_sent(words, said, capture, capsys):
    code, out, err = replay(capsys, capture, *words)
    assert (code, out) == (2, "")
    assert said in err


def test_a_capture_that_is_not_there_is_an_error(capsys):
    code, _, err = replay(capsys, "missing.jsonl", "--dry-run")
    assert code == 2
    assert "missing.jsonl" in err


def test_a_file_that_exists_is_not_written_over(capture, capsys, tmp_path):
    kept = tmp_path / "kept.jsonl"
    kept.write_text("mine", encoding="utf-8")
    code, _, _ = replay(capsys, capture, "-w", str(kept), "--", *PLAIN)
    assert (code, kept.read_text(encoding="utf-8")) == (2, "mine")


def test_a_dry_run_lists_what_would_be_sent_and_what_needs_a_word(capture, capsys):
    code, out, _ = replay(capsys, capture, "--dry-run")
    assert code == 0
    assert out == (
        '#1 tools/call deploy  {to: "prod"}  2 requests, answers confirm  needs --yes\n'
        "would send 1 of 1 calls; 1 of them with --yes only\n"
    )
    _, out, _ = replay(capsys, capture, "--dry-run", "--yes")
    assert out.endswith("would send 1 of 1 calls\n")


def test_a_dry_run_of_a_torn_capture_says_that_there_may_have_been_more(capture, capsys):
    with Path(capture).open("ab") as file:
        file.write(b'{"kind":"mess')
    code, out, err = replay(capsys, capture, "--dry-run")
    assert (code, out.endswith("1 of them with --yes only\n")) == (0, True)
    assert "warning[capture-torn]" in err


def test_a_dry_run_counts_the_requests_of_a_call_that_asks_for_patience_only(tmp_path, capsys):
    traffic = Traffic()
    traffic.call("poll", {"resultType": "input_required", "requestState": STATE})
    traffic.call("poll", done("there"), requestState=STATE)
    _, out, _ = replay(capsys, str(traffic.write(tmp_path / "run.jsonl")), "--dry-run", "--yes")
    assert out.startswith("#1 tools/call poll  2 requests\n")


def test_a_dry_run_as_json_is_the_document_without_results(capture, capsys):
    code, out, _ = replay(capsys, capture, "--dry-run", "-f", "json")
    document = json.loads(out)
    assert code == 0
    assert [(c["call"], c["state"], c["new"]) for c in document["calls"]] == [
        (1, "would-send", None)
    ]
    assert jsonschema_rs.validator_for(schema()).is_valid(document)


def test_the_same_is_told_in_a_line_and_exits_with_0(capsys, tmp_path):
    code, out, _ = replay(capsys, where(tmp_path / "r.jsonl"), "--yes", "--", *PLAIN)
    assert (code, out) == (0, "same: 1 call equal\n")


def test_a_difference_is_told_and_exits_with_1(capsys, tmp_path):
    capture = where(tmp_path / "r.jsonl", found="us")
    code, out, _ = replay(capsys, capture, "--yes", "--", *PLAIN)
    assert code == 1
    assert "tools/call where  #1 / #2" in out
    assert '  ~ r1 result  /result/region  "us" -> "eu"\n' in out
    assert out.endswith("different: 1 difference (1 result); calls: 1 different\n")
    ignored = ["--ignore-path", "/result/region"]
    assert replay(capsys, capture, "--yes", *ignored, "--", *PLAIN)[0] == 0
    assert replay(capsys, capture, "--yes", "--exit-zero", "--", *PLAIN)[0] == 0


def test_the_document_tells_the_same_and_keeps_to_its_schema(capsys, tmp_path):
    capture = where(tmp_path / "r.jsonl", found="us")
    report = tmp_path / "report.json"
    words = ["--yes", "-f", "json", "-o", str(report), "--", *PLAIN]
    code, out, _ = replay(capsys, capture, *words)
    document = json.loads(report.read_bytes())
    assert (code, out) == (1, "")
    assert jsonschema_rs.validator_for(schema()).is_valid(document)
    (difference,) = document["differences"]
    assert (difference["at"], difference["left"], difference["right"]) == (
        "/result/region", "us", "eu",
    )  # fmt: skip
    assert document["summary"]["differs"] == 1
    assert document["calls"][0]["state"] == "differs"


def test_a_tool_that_may_write_is_not_called_and_the_run_cannot_say(capsys, tmp_path):
    code, out, _ = replay(capsys, where(tmp_path / "r.jsonl"), "--", *PLAIN)
    assert code == 4
    assert "not sent: the tool may change things: it has no readOnlyHint; --yes sends it" in out
    assert "  #1 tools/call where\n" in out
    assert out.endswith("cannot say: calls: 1 not sent\n")


def test_without_a_server_it_cannot_say_and_tells_the_servers_last_words(capsys, tmp_path):
    command = [sys.executable, "-c", "import sys; sys.exit('no licence')"]
    code, _, err = replay(capsys, where(tmp_path / "r.jsonl"), "--yes", "--", *command)
    assert code == 4
    assert "error[server-gone]: the server exited with code 1" in err
    assert "no licence" in err
    code, _, err = replay(
        capsys, where(tmp_path / "h.jsonl"), "--yes", "--to", "http://127.0.0.1:9/mcp"
    )
    assert code == 4
    assert "no answer from http://127.0.0.1:9/mcp" in err


def test_a_filter_of_several_words_is_that_of_show(capture, capsys):
    code, out, _ = replay(capsys, capture, "tool:deploy", "|", "tool:other", "--dry-run")
    assert code == 0
    assert "tools/call deploy" in out


def test_nothing_that_passes_a_filter_cannot_say(capture, capsys):
    code, _, err = replay(capsys, capture, "tool:other", "--to", "http://127.0.0.1:9/mcp")
    assert code == 4
    assert "no call of the capture passes the filter" in err


def test_a_torn_capture_cannot_say_unless_that_is_allowed(capsys, tmp_path):
    path = tmp_path / "r.jsonl"
    where(path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]) + lines[-1][:20])
    code, _, err = replay(capsys, str(path), "--yes", "--", *PLAIN)
    assert code == 4
    assert err.count("[capture-torn]") == 1, "it is told once"
    assert replay(capsys, str(path), "--yes", "--allow-torn", "--", *PLAIN)[0] == 0


def test_credentials_that_are_not_sent_again_are_told(capsys, tmp_path):
    path = tmp_path / "r.jsonl"
    traffic = Traffic()
    traffic.call("where", done("x"))
    request = traffic.records[1]
    headers = [*request.headers, ("Authorization", "mcp-tap:0123456789abcdef")]
    traffic.records[1] = msgspec.structs.replace(request, headers=headers)
    traffic.write(path)
    _, _, err = replay(capsys, str(path), "--yes", "--to", "http://127.0.0.1:9/mcp")
    assert "the recorded client sent Authorization" in err
    words = ["-H", "Authorization: x", "--to", "http://127.0.0.1:9/mcp"]
    assert "recorded client sent" not in replay(capsys, str(path), "--yes", *words)[2]
