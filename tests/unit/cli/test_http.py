from __future__ import annotations

import sys

import pytest

from mcp_tap.cli.answering import LiveAnswers
from mcp_tap.cli.common import Output
from mcp_tap.cli.main import run

WORDS = """
    -l [::1]:0 -H X-A:1 --header X-B:two --host upstream --insecure --cacert ca.pem
    --ready-file r.json --allow-host h --allow-origin * --view none -w run.jsonl
    --label shop --max-body 1k --rotate 2MiB --sync --redact key:a --redact key:b
    --no-default-redaction --redact-key key
"""


def test_options_become_settings(jobs, tmp_path):
    (tmp_path / "ca.pem").touch()
    (tmp_path / "key").touch()
    words = WORDS.split()
    assert run(["http", "https://example.com/mcp", *words, "--", sys.executable, "-x"]) == 0
    job, settings = jobs[0], jobs[0].settings
    assert settings.upstream == "https://example.com/mcp"
    assert (settings.host, settings.port) == ("::1", 0)
    assert settings.headers == [("X-A", "1"), ("X-B", "two")]
    assert settings.host_header == "upstream"
    assert settings.insecure
    assert settings.cacert == "ca.pem"
    assert (settings.allow_host, settings.allow_origin) == (["h"], ["*"])
    assert (settings.max_body, settings.rotate, settings.sync) == (1024, 2 << 20, True)
    assert settings.redact == ["key:a", "key:b"]
    assert not settings.default_redaction
    assert (settings.redact_key, settings.label) == ("key", "shop")
    assert (job.write, job.ready_file, job.view) == ("run.jsonl", "r.json", "none")
    assert job.child == [sys.executable, "-x"]


def test_defaults_are_those_of_the_tap(jobs):
    from mcp_tap.cli.serve import Job
    from mcp_tap.proxy.settings import TapSettings

    assert run(["http", "http://localhost:1/mcp"]) == 0
    settings = TapSettings(upstream="http://localhost:1/mcp")
    given = {"verdicts": jobs[0].verdicts, "answers": jobs[0].answers}
    assert jobs == [Job(settings=settings, view="text", **given)]


def test_server_to_be_started_is_a_line_of_words(jobs):
    words = ["--upstream-command", f"{sys.executable} -c 'a b'", "--upstream-wait", "1m"]
    assert run(["http", "http://localhost:1/mcp", *words]) == 0
    assert jobs[0].upstream == [sys.executable, "-c", "a b"]
    assert jobs[0].upstream_wait == 60


class Terminal:
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("wanted", "where", "view"),
    [
        (None, "terminal", "console"),
        (None, "ci", "text"),
        (None, "pipe", "text"),
        (None, "beside a child", "text"),
        ("console", "ci", "console"),
        ("console", "pipe", "text"),
        ("none", "terminal", "none"),
        ("text", "terminal", "text"),
    ],
)
def test_console_needs_a_terminal_of_its_own(monkeypatch, wanted, where, view):
    from mcp_tap.cli import http

    monkeypatch.setenv("CI", "1" if where == "ci" else "")
    if where != "pipe":
        monkeypatch.setattr(sys, "stdin", Terminal())
        monkeypatch.setattr(sys, "stdout", Terminal())
    beside = where == "beside a child"
    answers = LiveAnswers(None, max_rounds=10, longest=600.0, strict=False)
    found = http.wanted_view(wanted, Output(quiet=True), beside_child=beside, answers=answers)
    assert found == view


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["http://x/", "--", "no-such-thing"], "there is no command no-such-thing"),
        (["http://x/", "--"], "nothing stands after --"),
        (["http://x/", "pytest"], "a command to run stands after --"),
        (["http://x/", "--view", "console", "--", "true"], "both want the terminal"),
        (["x"], "error[bad-upstream]"),
        (["http://x/", "-H", "novalue"], "--header: a header is written 'Name: value'"),
        (["http://x/", "--max-body", "lots"], "--max-body: 'lots' is not a size"),
        (["http://x/", "--cacert", "nowhere"], "--cacert: File 'nowhere' does not exist"),
        (["http://x/", "-l", "abc"], "--listen: abc is neither a port nor HOST:PORT"),
        (["http://x/", "--upstream-command", "no-such-thing"], "there is no command no-such-thing"),
        (["http://x/", "--upstream-wait", "long"], "--upstream-wait: 'long' is not a duration"),
        (["http://x/", "--view", "gui"], "--view: 'gui' is not one of"),
    ],
)
def test_what_cannot_be_run_is_told_before_anything_is_made(jobs, capsys, args, text):
    assert run(["http", *args]) == 2
    assert text in capsys.readouterr().err
    assert jobs == []


def test_project_file_may_not_send_headers(jobs, tmp_path, capsys):
    (tmp_path / "mcp-tap.toml").write_text('[http]\nheader = ["A: b"]\n')
    assert run(["http", "http://x/"]) == 2
    assert "error[setting-not-trusted]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        (["http://localhost:1/mcp"], {"STRICT_ANSWERS": "1", "ADVERTISE": "roots"}),
        (["http://localhost:1/mcp"], {"STDIO": "cat"}),
        (["--stdio", "cat"], {"INSECURE": "1", "HEADER": "A: b", "HOST": "keep"}),
    ],
)
def test_a_setting_about_what_is_not_there_stops_nothing(words, settings, jobs, monkeypatch):
    for name, value in settings.items():
        monkeypatch.setenv(f"MCP_TAP_HTTP_{name}", value)
    assert run(["http", *words]) == 0
    (job,) = jobs
    assert (job.settings.headers, job.settings.insecure, job.settings.host_header) == (
        [],
        False,
        None,
    )
    assert job.stdio == (["cat"] if words[0] == "--stdio" else None)
