from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from mcp_tap.cli.main import run
from mcp_tap.core.records import HttpRequest, HttpResponse, Message, encode
from tests.captures import header, lines_of, message
from tests.traffic import story


@pytest.fixture(autouse=True)
def in_its_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def capture(tmp_path):
    return str(story().write(tmp_path / "run.jsonl"))


def export(capsys, *args, code=0):
    assert run(["export", *args]) == code
    return capsys.readouterr()


@pytest.mark.parametrize(
    ("form", "start"),
    [
        ("har", '{"log":{"version":"1.2"'),
        ("html", "<!doctype html>"),
        ("mermaid", "## Call 1: tools/call search"),
        ("otlp", '{"resourceSpans":['),
    ],
)
def test_each_format_goes_to_stdout_or_to_a_new_file(capture, capfdbinary, form, start):
    assert run(["export", capture, "-f", form]) == 0
    out, err = capfdbinary.readouterr()
    assert out.decode().startswith(start)
    assert err.decode() in (
        "4 calls and 1 exchange, run.jsonl\n",
        "4 calls, run.jsonl\n",
    )
    for name, read in (("a", bytes), ("a.gz", gzip.decompress)):
        assert run(["export", capture, "-f", form, "-o", name]) == 0
        assert read(Path(name).read_bytes()) == out
    assert run(["export", capture, "-f", form, "-o", "a"]) == 2
    assert b"error[output-exists]" in capfdbinary.readouterr().err


def test_a_filter_chooses_what_is_written(capture, capsys, tmp_path):
    for words in (["tool:deploy"], ["shipped"], ["text:/ship+ed/"]):
        out = tmp_path / f"{words[0][:4]}.har"
        _, err = export(capsys, capture, *words, "-f", "har", "-o", str(out))
        assert err == f"1 call, run.jsonl, written to {out}\n"
        assert len(json.loads(out.read_text())["log"]["entries"]) == 2


def test_one_call_is_a_diagram_by_itself_unless_the_file_is_markdown(capture, capsys):
    export(capsys, capture, "tool:search", "-f", "mermaid", "-o", "a.mmd")
    assert Path("a.mmd").read_text().startswith("sequenceDiagram\n")
    export(capsys, capture, "tool:search", "-f", "mermaid", "-o", "a.md")
    assert Path("a.md").read_text().startswith("## Call 1")


@pytest.mark.parametrize("form", ["har", "html", "mermaid", "otlp"])
def test_that_nothing_passes_is_an_error_and_leaves_no_file(capture, capsys, form):
    _, err = export(capsys, capture, "tool:none", "-f", form, "-o", "x", code=2)
    assert "error[nothing-found]: there is no call in run.jsonl that passes the filter" in err
    assert not Path("x").exists()


def test_lines_are_no_http_exchanges_but_everything_else(tmp_path, capsys):
    records = [header(transport="stdio", upstream="server")]
    for seq, (sender, text) in enumerate(
        [
            ("client", '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'),
            ("server", '{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}'),
        ],
        1,
    ):
        records.append(Message(seq=seq, t=seq, sender=sender, text=text))
    path = tmp_path / "lines.jsonl"
    path.write_bytes(lines_of(*records))
    _, err = export(capsys, str(path), "-f", "har", "-o", "x", code=2)
    assert "error[har-needs-http]" in err
    assert "mcp-tap export lines.jsonl -f html" in err
    for form, words in (("html", '\\"result\\":'), ("mermaid", "0 tools"), ("otlp", "pipe")):
        export(capsys, str(path), "-f", form, "-o", form)
        assert words in Path(form).read_text()


def test_an_exchange_that_never_ended_is_written(tmp_path, capsys):
    records = [
        header(),
        HttpRequest(
            seq=1, t=0, exchange=1, conn=1, peer="::1", method="GET", path="/mcp", headers=[]
        ),
        HttpResponse(seq=2, t=1, exchange=1, status=200, headers=[]),
    ]
    path = tmp_path / "open.jsonl"
    path.write_bytes(b"".join(encode(record) + b"\n" for record in records))
    export(capsys, str(path), "-f", "har", "-o", "open.har")
    (entry,) = json.loads(Path("open.har").read_text())["log"]["entries"]
    assert entry["request"]["method"] == "GET"
    assert entry["_mcp"]["outcome"] == "open"


def test_a_torn_capture_is_written_and_told(tmp_path, capsys):
    path = tmp_path / "torn.jsonl"
    path.write_bytes(lines_of(header(), message(1)) + b'{"kind":"mess')
    _, err = export(capsys, str(path), "-f", "html", "-o", "torn.html")
    assert err.startswith("warning[capture-torn]: torn.jsonl is not whole")
    assert '"torn":{"line":3,"bytes":13}' in Path("torn.html").read_text()


def test_a_format_must_be_named(capture, capsys):
    _, err = export(capsys, capture, code=2)
    assert "error[usage]: export needs a format" in err
