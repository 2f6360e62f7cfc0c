"""What the command line of `mcp-tap stdio` means, without a server where that can be."""

from __future__ import annotations

import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from mcp_tap.cli.main import group, run
from mcp_tap.cli.output import Output
from mcp_tap.cli.stdio import LateView
from mcp_tap.errors import UsageError
from mcp_tap.proxy.stdio.answering.lines import Lines
from tests.bounds import BOUND
from tests.captures import header

HEADER = header(transport="stdio", upstream="server")


@pytest.fixture
def ran(monkeypatch):
    """Keep what would be run, instead of running it; the tap's own descriptors are pytest's."""
    made: list = []

    class Run:
        header, capture, trouble, status = HEADER, None, None, 0

        def __init__(self, settings, **options) -> None:
            self.settings, self.options = settings, options
            made.append(self)

        def run(self) -> int:
            return self.status

    monkeypatch.setattr("mcp_tap.proxy.stdio.run.StdioRun", Run)
    return SimpleNamespace(made=made, cls=Run)


@pytest.mark.parametrize(
    "words",
    [
        ["stdio", "--", "node", "server.js", "--", "-v"],
        ["--", "node", "server.js", "--", "-v"],
        ["-q", "--", "node", "server.js", "--", "-v"],
        ["--color", "never", "stdio", "--", "node", "server.js", "--", "-v"],
    ],
)
def test_what_stands_after_the_dashes_is_the_servers(ran, words):
    assert run(words) == 0
    assert list(ran.made[0].settings.command) == ["node", "server.js", "--", "-v"]


def test_options_become_settings(ran):
    words = "--label l --sync --rotate 1MiB --max-body 2MiB --no-default-redaction --redact key:pin"
    assert run(["stdio", *words.split(), "--", "server"]) == 0
    settings = ran.made[0].settings
    assert (settings.label, settings.sync, settings.rotate, settings.max_body) == (
        "l",
        True,
        1 << 20,
        2 << 20,
    )
    assert (settings.default_redaction, list(settings.redact)) == (False, ["key:pin"])


@pytest.mark.parametrize(
    ("words", "judging", "patient"),
    [([], False, False), (["--view", "text"], True, False), (["--check"], True, True)],
)
def test_it_judges_where_somebody_sees_it(ran, words, judging, patient):
    ran.cls.exchanges = 1
    ran.cls.lost = ran.cls.unjudged = 0
    assert run(["stdio", *words, "--", "server"]) == 0
    assert (ran.made[0].options["judging"], ran.made[0].options["patient"]) == (judging, patient)


def test_the_file_is_named_after_the_label_or_the_program(ran):
    run(["stdio", "--", "/usr/bin/some-server.py"])
    run(["stdio", "--label", "files", "--", "some-server"])
    run(["stdio", "-w", "here.jsonl", "--", "some-server"])
    names = [made.options["capture"]().name for made in ran.made]
    assert "-some-server-" in names[0]
    assert "-files-" in names[1]
    assert names[2] == "here.jsonl"


@pytest.mark.parametrize("words", [["stdio"], ["stdio", "--"], ["--"]])
def test_a_command_is_needed(ran, capsys, words):
    assert run(words) == 2
    assert "error[usage]" in capsys.readouterr().err
    assert ran.made == []


def test_the_servers_exit_code_comes_first_and_what_went_wrong_is_told(ran, capsys):
    ran.cls.status, ran.cls.trouble = 7, LookupError("a fault of ours")
    assert run(["stdio", "--", "server"]) == 7
    assert "error[internal]" in capsys.readouterr().err
    ran.cls.status = 0
    assert run(["stdio", "--", "server"]) == 3


def test_a_signal_that_ended_the_server_ends_us():
    code = (
        "import sys\n"
        "from mcp_tap.cli.stdio import _die\n"
        f"_die({int(signal.SIGTERM)})\n"
        "print('still here')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=BOUND)
    assert (done.returncode, done.stdout) == (-signal.SIGTERM, b"")


def test_the_help_names_the_views_that_are_there(capsys):
    assert run(["stdio", "--help"]) == 0
    out = capsys.readouterr().out
    assert "[text|none]" in out
    assert "[-- COMMAND...]" in out
    with group.make_context("mcp-tap", [], resilient_parsing=True) as root:
        assert "stdio" in group.list_commands(root)


def test_without_a_view_only_who_asked_hears_of_trouble(capsys):
    begun = []
    for verbose in (0, 1):
        view = LateView("none", Output(verbose=verbose), begun.append)
        view.start(HEADER)
        view.update((), 1.0)
        view.notice("the disk is full")
        view.close()
    assert begun == [HEADER, HEADER]
    out, err = capsys.readouterr()
    assert (out, err) == ("", "mcp-tap: the disk is full\n")


def test_a_view_writes_to_stderr_only(capfd):
    view = LateView("text", Output(), lambda header: None)
    view.start(HEADER)
    view.notice("the disk is full")
    view.close()
    out, err = capfd.readouterr()
    assert out == ""
    assert "the disk is full" in err


def test_a_policy_that_is_given_is_read_before_the_server_runs(ran, capsys):
    assert run(["stdio", "--select", "NOPE-1", "--", "server"]) == 2
    assert ran.made == []
    assert "NOPE-1" in capsys.readouterr().err


def test_settings_of_a_file_count(ran, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mcp-tap.toml").write_text('[stdio]\nlabel = "mine"\n', encoding="utf-8")
    assert run(["--", "server"]) == 0
    assert ran.made[0].settings.label == "mine"


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text('version = 1\n[[answer]]\nname = "yes"\ncontent = { ok = true }\n', "utf-8")
    return str(path)


def test_scripts_answer_on_lines(ran, script):
    assert run(["stdio", "--", "server"]) == 0
    assert run(["stdio", "-a", script, "--label", "mine", "--", "server", "-x"]) == 0
    without, with_one = (each.options["answering"] for each in ran.made)
    assert without is None
    assert isinstance(with_one, Lines)
    answering = with_one._answering
    assert (answering.label, answering.host) == ("mine", "server -x")
    assert answering.next_id() != b'"mcp-tap-1"'


@pytest.mark.parametrize("by_option", [True, False])
def test_nobody_is_asked_at_a_terminal_that_is_the_clients(ran, tmp_path, capsys, by_option):
    path = tmp_path / "ask.toml"
    path.write_text('version = 1\nunmatched = "ask"\n', "utf-8")
    words = ["--unmatched", "ask"] if by_option else ["-a", str(path)]
    assert run(["stdio", *words, "--", "server"]) == 2
    assert ran.made == []
    assert "mcp-tap http --stdio" in capsys.readouterr().err


@pytest.mark.parametrize(("status", "strict"), [(0, 0), (0, 1), (3, 1), (3, 0)])
def test_answers_count_where_the_servers_code_says_nothing(ran, script, capsys, status, strict):
    ran.cls.status = status
    words = ["--strict-answers"] * strict
    assert run(["stdio", "-a", script, *words, "--", "server"]) == (status or strict)
    assert ("error[answer-unused]" in capsys.readouterr().err) == bool(strict)


def test_trouble_with_the_recording_comes_before_what_answers_say(ran, script, capsys):
    ran.cls.trouble = UsageError("usage", "cannot record")
    assert run(["stdio", "-a", script, "--strict-answers", "--", "server"]) == 2
    assert "cannot record" in capsys.readouterr().err
