"""`mcp-tap replay server` on the command line: what it refuses, and what it runs."""

from __future__ import annotations

import shutil
import sys

import pytest

from mcp_tap.cli.main import run
from mcp_tap.proxy.settings import TapSettings
from tests.replays import UPSTREAM, complete, exchange, index_of, request


@pytest.fixture
def capture(tmp_path):
    path = tmp_path / "run.jsonl"
    index_of(path, exchange(request(1), complete(1, "x"))).close()
    return str(path)


@pytest.fixture
def sessions(monkeypatch, tmp_path):
    """Catch what it would run over stdio."""
    from mcp_tap.cli import stdio

    monkeypatch.chdir(tmp_path)
    caught = []

    class Caught:
        def __init__(self, settings, options, *_, **given):
            self.settings, self.options, self.given = settings, options, given

        def run(self):
            caught.append(self)
            return 0

    monkeypatch.setattr(stdio, "Session", Caught)
    return caught


@pytest.fixture
def ran(jobs, sessions):
    """Tell whether it would run anything."""
    return lambda: bool(jobs or sessions)


def test_a_replay_is_a_tap_in_front_of_captures_with_the_defaults_of_the_tap(capture, jobs):
    assert run(["replay", "server", capture]) == 0
    (job,) = jobs
    assert job.settings == TapSettings(upstream=UPSTREAM)
    assert (job.child, job.check, job.write, job.ready_file) == (None, False, None, None)
    assert list(job.replayed.specs) == [capture]
    assert not job.answers.asks


WORDS = """
    -l [::1]:0 --ready-file r.json --allow-host h --allow-origin * --view none -w again.jsonl
    --label shop --max-body 1k --rotate 2MiB --sync --redact key:a --redact key:b
    --no-default-redaction --redact-key key --check
"""


def test_options_become_settings(capture, jobs, tmp_path):
    (tmp_path / "key").touch()
    words = [*WORDS.split(), "--", sys.executable, "-x"]
    assert run(["replay", "server", capture, *words]) == 0
    job, settings = jobs[0], jobs[0].settings
    assert (settings.host, settings.port) == ("::1", 0)
    assert (settings.allow_host, settings.allow_origin) == (["h"], ["*"])
    assert (settings.max_body, settings.rotate, settings.sync) == (1024, 2 << 20, True)
    assert settings.redact == ["key:a", "key:b"]
    assert not settings.default_redaction
    assert (settings.redact_key, settings.label) == ("key", "shop")
    assert (job.write, job.ready_file, job.view) == ("again.jsonl", "r.json", "none")
    assert job.child == [sys.executable, "-x"]
    assert job.check


@pytest.mark.parametrize(
    ("words", "forward", "path"),
    [([], None, None), (["--on-miss", "forward=http://real:1/v2/mcp"], "real:1", "/v2/mcp")],
    ids=["to nobody", "to a server"],
)
async def test_what_was_not_recorded_is_forwarded_where_that_was_asked_for(
    capture, jobs, words, forward, path
):
    assert run(["replay", "server", capture, *words]) == 0
    pool = jobs[0].replayed.pool()
    target = pool.target
    assert (target and target.authority, target and target.path) == (forward, path)
    assert pool.path == b"/mcp"
    pool.close()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "needs CAPTURE"),
        (["none.jsonl"], "none.jsonl"),
        (["CAPTURE", "--on-miss", "never"], "'never' is none of error, nearest, 404, forward=URL"),
        (["CAPTURE", "--on-miss", "forward=ftp://x"], "is no upstream URL"),
        (["CAPTURE", "--pace", "fast"], "'fast' is neither recorded nor like x10"),
        (["CAPTURE", "--pace", "x0"], "'x0' is neither"),
        (["CAPTURE", "--pace", "-1"], "'-1' is neither"),
        (["CAPTURE", "--pace", "nan"], "'nan' is neither"),
        (["CAPTURE", "--after-last", "stop"], "stop"),
        (["CAPTURE", "--", "no-such-command"], "there is no command no-such-command"),
        (["CAPTURE", "--stdio", "--", sys.executable], "--stdio has its client already"),
        (["CAPTURE", "--stdio", "--listen", "7777"], "--listen is about HTTP"),
        (["CAPTURE", "--stdio", "--ready-file", "r.json"], "--ready-file is about HTTP"),
        (["CAPTURE", "--stdio", "--allow-host", "h"], "--allow-host is about HTTP"),
        (["CAPTURE", "--stdio", "--allow-origin", "h"], "--allow-origin is about HTTP"),
        (["CAPTURE", "--stdio", "--on-miss", "forward=http://x"], "goes over HTTP only"),
        (["CAPTURE", "--stdio", "--view", "console"], "this one is the client's"),
        (["-", "--stdio"], "standard input is the client's"),
        (["CAPTURE", "--stdio", "-w", "CAPTURE"], "run.jsonl"),
        (["none.jsonl", "--stdio"], "none.jsonl"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_runs(ran, capture, capsys, words, said):
    words = [capture if word == "CAPTURE" else word for word in words]
    assert run(["replay", "server", *words]) == 2
    assert said in capsys.readouterr().err
    assert not ran()


@pytest.mark.parametrize(
    ("word", "pace"), [("recorded", 1.0), ("x10", 10.0), ("2.5", 2.5), ("x0.5", 0.5)]
)
def test_a_pace_is_so_many_recorded_seconds_of_a_second(capture, sessions, word, pace):
    assert run(["replay", "server", "--stdio", capture, "--pace", word]) == 0
    assert f"--pace={pace}" in sessions[0].settings.command


def test_a_setting_about_a_listener_is_left_out_over_stdio(capture, sessions, monkeypatch):
    monkeypatch.setenv("MCP_TAP_REPLAY_SERVER_LISTEN", "7000")
    monkeypatch.setenv("MCP_TAP_REPLAY_SERVER_READY_FILE", "r.json")
    assert run(["replay", "server", "--stdio", capture]) == 0
    assert len(sessions) == 1


def test_over_stdio_the_tap_is_around_a_process_that_replays(capture, sessions):
    words = ["--after-last", "fail", "--on-miss", "404", "--label", "shop", "--sync"]
    assert run(["replay", "server", "--stdio", capture, *words]) == 0
    settings = sessions[0].settings
    assert settings.command[0] == sys.executable
    assert settings.command[-4:] == ["--after-last=fail", "--on-miss=404", "--", capture]
    assert (settings.label, settings.sync) == ("shop", True)
    assert settings.shown == f"replay server {capture}"
    assert sessions[0].options["view"] == "none"


def test_several_captures_are_one_replay(capture, jobs, tmp_path):
    other = shutil.copyfile(capture, tmp_path / "other.jsonl")
    assert run(["replay", "server", capture, str(other)]) == 0
    assert jobs[0].replayed.words == "2 captures (2 calls)"
