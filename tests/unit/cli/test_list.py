from __future__ import annotations

import json

import pytest

from mcp_tap.cli.main import run
from tests.captures import footer, lines_of, write_rotated, write_run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MCP_TAP_HOME", str(tmp_path))
    monkeypatch.setenv("TZ", "UTC")
    return tmp_path


def test_the_table_has_a_line_for_each_run_newest_first(folder, capsys):
    write_run(folder / "20260701T100000-aaaa.jsonl", started="2026-07-01T10:00:00Z")
    write_run(
        folder / "20260702T100000-billing-bbbb.jsonl",
        2000,
        started="2026-07-02T10:00:00Z",
        label="billing",
        clean=False,
    )
    assert run(["list"]) == 0
    out, err = capsys.readouterr()
    head, first, second = out.splitlines()
    assert head.split()[:5] == ["RUN", "STARTED", "TOOK", "RECORDS", "SIZE"]
    assert head.split()[5:] == ["STATE", "LABEL", "UPSTREAM"]
    assert first.split()[:1] == ["20260702T100000-billing-bbbb"]
    assert "2.00s" in first
    assert "2,001" in first
    assert "no footer  billing  http://localhost:3000/mcp" in first
    assert second.split()[-3:] == ["ended", "-", "http://localhost:3000/mcp"]
    assert first.index("http://") == second.index("http://") == head.index("UPSTREAM")
    assert err == ""


def test_lost_records_stand_beside_the_state(folder, capsys):
    path = write_run(folder / "a.jsonl", 3, clean=False)
    with path.open("ab") as file:
        file.write(lines_of(footer(1010, lost=1006)))
    assert run(["list"]) == 0
    head, row = capsys.readouterr().out.splitlines()
    assert row[head.index("STATE") :].startswith("ended, lost 1,006  - ")
    assert row.split()[4] == "5"


def test_captured_text_cannot_reach_the_terminal_as_it_is(folder, capsys):
    write_run(folder / "a.jsonl", label="\x1b[2Jx\u202e", upstream="http://x/\x07\n")
    assert run(["list"]) == 0
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 2
    assert not {"\x1b", "\u202e", "\x07"} & set(out)


@pytest.mark.parametrize("flag", [["-f", "json"], ["--json"]])
def test_json_is_one_document(folder, capsys, flag):
    parts = write_rotated(folder / "run.jsonl", 60)
    (folder / "odd.jsonl").write_text("no capture\n")
    assert run(["list", *flag]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == {
        "version": 1,
        "folder": str(folder),
        "captures": [
            {
                "run": "r1",
                "path": str(parts[0]),
                "parts": len(parts),
                "started": "2026-07-28T12:04:01.250000Z",
                "duration_s": 0.061,
                "label": None,
                "transport": "http",
                "upstream": "http://localhost:3000/mcp",
                "bytes": sum(part.stat().st_size for part in parts),
                "records": 62,
                "lost": 0,
                "exchanges": 1,
                "state": "ended",
            }
        ],
        "skipped": [
            {
                "path": str(folder / "odd.jsonl"),
                "code": "not-a-capture",
                "what": "odd.jsonl is not a capture",
            }
        ],
    }


def test_an_empty_folder_prints_nothing_to_stdout_and_says_so(folder, capsys):
    (folder / "odd.jsonl").write_text("no capture\n")
    assert run(["list"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert f"no captures in {folder}" in err
    assert "not listed: odd.jsonl is not a capture" in err


def test_another_folder_can_be_listed(folder, tmp_path_factory, capsys):
    other = tmp_path_factory.mktemp("other")
    write_run(other / "x.jsonl")
    assert run(["list", str(other)]) == 0
    assert "x " in capsys.readouterr().out
