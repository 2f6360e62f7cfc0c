from __future__ import annotations

import io
import json
import unicodedata

import pytest

from mcp_tap.cli.main import run
from mcp_tap.cli.output import Output, harmless, why_not
from tests.captures import write_run

EVIL = "\x1b]0;x\x07\u202e\x9b31m\u2028"


def raw(text: str) -> list[str]:
    """Give the characters a terminal would obey or hide."""
    kinds = ("Cc", "Cf", "Zl", "Zp")
    return [c for c in text if c != "\n" and unicodedata.category(c) in kinds]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MCP_TAP_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_a_file_that_cannot_be_written_says_why_and_how_to_make_its_folder(tmp_path):
    why, help = why_not(tmp_path / "no way" / "x", FileNotFoundError())
    assert (why, help) == (f"there is no folder {tmp_path}/no way", f"mkdir -p '{tmp_path}/no way'")
    assert why_not(tmp_path, PermissionError(13, "Permission denied")) == ("permission denied", "")


def test_lines_stay_lines_and_the_rest_is_spelled_out():
    assert harmless("a\n b\x1b[31m\r\n\n") == "a\n b\\x1b[31m\\r\n\n"


@pytest.mark.parametrize("speak", ["say", "warn", "log", "write"])
def test_no_way_of_speaking_lets_a_terminal_obey(speak, capsys):
    getattr(Output(verbose=1), speak)(f"one {EVIL}\ntwo")
    out, err = capsys.readouterr()
    assert raw(out + err) == []
    assert (out + err).endswith("\ntwo\n")


@pytest.mark.parametrize("words", [["rules", "TAP-003"], ["check", "run.jsonl"]])
@pytest.mark.parametrize("variable", ["FORCE_COLOR", "NO_COLOR"])
def test_rows_are_coloured_as_the_environment_has_it(folder, capsys, monkeypatch, words, variable):
    write_run(folder / "run.jsonl")
    monkeypatch.setenv(variable, "1")
    run(words)
    out = capsys.readouterr().out
    assert ("\x1b[" in out) == (variable == "FORCE_COLOR")


def test_rows_show_by_its_code_what_stdout_cannot(monkeypatch):
    raw_ = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw_, encoding="ascii"))
    Output().rows([[("ю", "strong")], [("plain ", "")]])
    assert raw_.getvalue() == b"\\u044e\nplain\n"


def test_a_document_means_the_same_and_holds_no_character_of_the_kind(capsysbinary):
    Output().document(json.dumps({"a": EVIL, "b": "ю"}, ensure_ascii=False).encode())
    out = capsysbinary.readouterr().out.decode()
    assert raw(out) == []
    assert json.loads(out) == {"a": EVIL, "b": "ю"}
    assert "ю" in out


@pytest.mark.parametrize(
    "words",
    [
        ["show", f"nokey{EVIL}:1"],
        ["show", f"tool:a {EVIL} ("],
        ["show", f"{EVIL}.jsonl"],
        ["list", f"{EVIL}"],
        ["http", f"http://localhost/{EVIL}"],
        ["http", "http://localhost/", "-l", EVIL],
        ["http", "http://localhost/", "-H", EVIL],
        ["http", "http://localhost/", "--", f"no{EVIL}"],
        ["http", "http://localhost/", f"--{EVIL}"],
        [f"x{EVIL}"],
        ["config", f"x{EVIL}"],
        ["show", "--config", f"/nowhere/{EVIL}"],
    ],
)
@pytest.mark.parametrize("way", [[], ["--json"], ["--color=always"]])
def test_an_error_quotes_the_command_line_harmlessly(folder, capsys, words, way):
    assert run([*way, *words]) == 2
    out, err = capsys.readouterr()
    coloured = "--color=always" in way
    assert [c for c in raw(out + err) if not (coloured and c == "\x1b")] == []
    assert "\x1b]" not in err


def test_settings_of_a_file_are_quoted_harmlessly(folder, capsys):
    (folder / "mcp-tap.toml").write_text('listen = "\\u001b]0;x\\u0007:1"')
    assert run(["config"]) == 2
    (folder / "mcp-tap.toml").write_text('label = "\\u001b]0;x\\u0007"')
    assert run(["config"]) == 0
    assert run(["config", "--json"]) == 0
    out, err = capsys.readouterr()
    assert raw(out + err) == []


def test_settings_of_the_environment_are_quoted_harmlessly(folder, capsys, monkeypatch):
    monkeypatch.setenv("MCP_TAP_HTTP_LABEL", EVIL)
    monkeypatch.setenv("MCP_TAP_HTTP_WRITE", "no-utf-8-\udcff")
    monkeypatch.setenv(f"MCP_TAP_{EVIL}", "1")
    assert run(["config"]) == 0
    assert run(["config", "--json"]) == 0
    out, err = capsys.readouterr()
    assert raw(out + err) == []
    assert "nothing reads" in err


NOT_UTF8 = "run-\udcff.jsonl"


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["show", NOT_UTF8, "-f", "json"], "capture"),
        (["check", NOT_UTF8, "-f", "json"], "captures"),
        (["list", ".", "-f", "json"], "captures"),
    ],
)
def test_a_document_can_name_a_file_whose_name_is_no_utf_8(folder, capsys, words, name):
    write_run(folder / NOT_UTF8)
    assert run(words) == 0
    named = json.loads(capsys.readouterr().out)[name]
    one = named[0] if isinstance(named, list) else named
    assert one["path"].endswith("run-\ufffd.jsonl")


def test_lists_show_headers_and_names_harmlessly(folder, capsys):
    home = folder / "home"
    write_run(home / f"{EVIL}.jsonl", label=EVIL, upstream=EVIL, run=EVIL)
    (home / f"no{EVIL}\n.jsonl").write_text("no capture")
    for words in (["list"], ["list", "-f", "json"], ["prune", "--keep", "0", "-n"]):
        assert run(words) == 0
        out, err = capsys.readouterr()
        assert raw(out + err) == []
