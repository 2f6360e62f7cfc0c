"""The plugin as a project sees it: findings, markers, options, what a failed test's report says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_tap.capture.reader import open_path
from tests.bounds import BOUND
from tests.plugged import Project

ROOT = Path(__file__).parents[2]
BROKEN = """
import pytest

@pytest.mark.tap_allow("RPC-010", reason="known")
def test_export(tap, call):
    call(tap.url, "broken_export", {"format": "csv"})
"""
FINDING = BROKEN.replace('@pytest.mark.tap_allow("RPC-010", reason="known")', "")
DEPLOY = """
import pytest

def test_deploy(tap, call, yes):
    assert call(tap.url, "deploy", **yes) == "billing goes out tonight, blue-green"
"""


@pytest.fixture
def project(pytester, monkeypatch):
    return Project(pytester, monkeypatch)


def test_a_finding_fails_its_test_and_says_what_to_do(project):
    project.write(FINDING)
    out = project.ends(failed=1)
    assert "1 finding fails this test (--tap-fail-on):" in out
    assert "E RPC-010 missing-result-type" in out
    assert '@pytest.mark.tap_allow("RPC-010", reason="...")' in out


def test_a_finding_that_is_allowed_does_not(project):
    project.write(BROKEN + "    assert [f.rule for f in tap.findings] == []\n")
    project.ends(passed=1)


def test_allows_of_classes_and_modules_need_not_be_used(project):
    project.write(
        DEPLOY + '\npytestmark = pytest.mark.tap_allow("RPC-010", reason="known")\n' + FINDING
    )
    project.ends(passed=2)


def test_an_allow_that_nothing_needs_fails_its_test(project):
    marker = '@pytest.mark.tap_allow("ELIC-050", reason="x")'
    project.write(DEPLOY.replace("def ", f"{marker}\ndef ", 1))
    out = project.ends(failed=1)
    assert "tap_allow(ELIC-050) matches nothing in this test: take it out" in out


def test_an_allow_for_some_calls_leaves_others(project):
    where = BROKEN.replace('reason="known"', 'reason="known", where="tool:deploy"')
    project.write(where)
    assert "E RPC-010" in project.ends(failed=1)
    project.write(where.replace("deploy", "broken_*"))
    project.ends(passed=1)


@pytest.mark.parametrize(
    ("marker", "words"),
    [
        ('"RPC-010"', "error[no-reason]: tap_allow('RPC-010') has no reason"),
        ('"RPC-010", reason=" "', "error[no-reason]"),
        ('reason="x"', "error[bad-value]"),
        ('"RPC-999", reason="x"', "error[unknown-rule]: tap_allow RPC-999 names no rule"),
        ('"RPC-010", reson="x"', "error[unknown-setting]"),
    ],
)
def test_an_allow_that_cannot_be_meant_is_an_error(project, marker, words):
    project.write(BROKEN.replace('"RPC-010", reason="known"', marker))
    assert words in project.ends(errors=1)


@pytest.mark.parametrize(
    ("options", "outcome"),
    [
        (["--tap-fail-on=never"], {"passed": 1}),
        (["--tap-fail-on=error"], {"failed": 1}),
        (["--tap-fail-on=note"], {"failed": 1}),
    ],
)
def test_how_bad_a_finding_must_be_is_an_option(project, options, outcome):
    project.write(FINDING)
    project.ends(*options, **outcome)


def test_a_test_that_failed_by_itself_is_not_failed_again(project):
    project.write(FINDING + "    assert 0\n")
    out = project.ends(failed=1)
    assert "E RPC-010 missing-result-type" in out


def test_findings_are_expected_of_a_test_that_is_expected_to_fail(project):
    project.write(FINDING.replace("def ", "@pytest.mark.xfail(strict=True)\ndef ", 1))
    project.ends(xfailed=1)


def test_the_report_of_a_failed_test_has_its_timeline_and_opens_its_capture(project):
    project.write(DEPLOY + "    assert 0\n")
    out = project.ends(failed=1)
    assert re.search(r"-+ mcp-tap -+\n", out)
    assert re.search(r"1 tools/call +deploy +\?-\?-\* +ok", out)
    assert '? confirm (form)  "Roll billing' in out
    assert '> confirm  accept {proceed: true, strategy: "blue-green"}, by client' in out
    capture = Path(re.search(r"^capture:  (.*)$", out, re.MULTILINE)[1])
    assert f"mcp-tap show {capture}" in out
    reader = open_path(capture)
    assert len(list(reader)) > 10
    assert reader.clean


def test_the_report_of_a_test_that_made_no_calls_says_so(project):
    project.write("def test_it(tap):\n    assert 0\n")
    assert "nothing came through the tap" in project.ends(failed=1)


def test_what_fails_after_the_test_is_told_where_it_happens(project):
    project.write(
        "import pytest\n\n"
        "@pytest.fixture\n"
        "def late(tap, call):\n"
        "    yield\n"
        '    call(tap.url, "broken_export", {"format": "csv"})\n\n'
        "def test_it(late):\n    pass\n"
    )
    out = project.ends(passed=1, errors=1)
    assert "E RPC-010 missing-result-type" in out


def test_captures_of_live_tests_that_pass_are_gone_unless_they_are_to_be_kept(project):
    project.write(DEPLOY + '    print(f"<{tap.capture}>")\n')
    out = project.ends("-s", passed=1)
    assert not Path(re.search("<(.*)>", out)[1]).exists()
    out = project.ends("-s", "--tap-keep", passed=1)
    kept = Path(re.search("<(.*)>", out)[1])
    assert open_path(kept).header.upstream.startswith("http://127.0.0.1:")
    assert "mcp-tap captures" in out
    assert str(kept) in out.partition("mcp-tap captures")[2]


def test_without_the_tap_clients_reach_the_server_itself(project):
    project.write(FINDING + "    assert tap.capture is None\n")
    project.ends("--tap-disable", passed=1)
    assert project.served == ["tools/call"]


def test_without_the_tap_a_test_that_looks_at_its_traffic_is_skipped(project):
    project.write(DEPLOY + "    tap.calls.one(tool='deploy')\n")
    out = project.ends("--tap-disable", "-rs", skipped=1)
    assert "--tap-disable leaves the tap out" in out


def test_without_the_tap_a_capture_is_neither_needed_nor_made(project):
    project.write(DEPLOY.replace("def ", "@pytest.mark.tap_capture\ndef ", 1))
    project.ends("--tap-disable", passed=1)
    assert not (project.path / "captures").exists()


def test_settings_are_merged_from_the_fixture_to_the_function(project):
    project.conftest(
        '\n@pytest.fixture(scope="session")\ndef tap_config():\n'
        '    return {"fail_on": "error", "label": "desk", "ignore": ["RPC-010"]}\n'
    )
    project.write(
        FINDING
        + '    assert tap.calls.where("server:desk")\n    assert not tap.findings\n'
        + "\n@pytest.mark.mcp_tap(ignore=[], label='class')\n"
        + "class TestIt:\n"
        + "    @pytest.mark.mcp_tap(label='function')\n"
        + "    def test_it(self, tap, call):\n"
        + '        call(tap.url, "broken_export", {"format": "csv"})\n'
        + '        assert tap.calls.where("server:function")\n'
    )
    out = project.ends(passed=1, failed=1)
    assert "test_it.py::TestIt::test_it - Failed: 1 finding" in out


@pytest.mark.parametrize(
    ("marker", "words"),
    [
        ('answer="x.toml"', 'error[unknown-setting]: mcp_tap has no setting "answer"'),
        ("max_rounds='many'", "error[setting-type]: mcp_tap: Expected `int`"),
        ('answers="nowhere.toml"', "error[script-missing]: there is no script"),
        ('select="NOPE"', "error[unknown-rule]"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_an_error(project, marker, words):
    project.write(DEPLOY.replace("def ", f"@pytest.mark.mcp_tap({marker})\ndef ", 1))
    assert words in project.ends(errors=1)


def test_a_script_beside_the_test_answers_for_its_client(project):
    (project.path / "answers").mkdir()
    (project.path / "answers" / "deploy.toml").write_text(
        '[[answer]]\nname = "confirm deploys"\nmatch = { key = "confirm" }\n'
        'content = { proceed = true, strategy = "blue-green" }\n\n'
        '[[answer]]\nname = "tonight"\nmatch = { key = "window" }\n'
        'content = { start = "tonight", minutes = 30 }\n'
    )
    project.write(
        "import pytest\n\n"
        '@pytest.mark.mcp_tap(answers="answers/deploy.toml", strict_answers=True)\n'
        "def test_deploy(tap, call):\n"
        '    assert call(tap.url, "deploy") == "billing goes out tonight, blue-green"\n'
        '    made = tap.calls.one(tool="deploy")\n'
        '    assert made.outcomes == ["input_required", "input_required", "complete"]\n'
        '    assert made.rounds[0].asks["confirm"].entry == "confirm deploys"\n'
    )
    project.ends(passed=1)
    text = (project.path / "test_it.py").read_text().partition("    assert call")[0]
    project.write(text + '    assert call(tap.url, "build", {"target": "billing"})\n')
    out = project.ends(failed=1)
    assert "answer 'confirm deploys' was never used" in out
    assert "answer 'tonight' was never used" in out


def test_a_test_waits_for_what_happens_meanwhile(project):
    project.write(
        "import threading\n\nimport pytest\n\n"
        "def test_it(tap, call, yes):\n"
        '    other = threading.Thread(target=call, args=(tap.url, "build", {"target": "x"}))\n'
        "    other.start()\n"
        '    made = tap.wait_for("tool:build state:ok")\n'
        "    other.join()\n"
        '    assert made.outcomes == ["complete"]\n'
        '    with pytest.raises(AssertionError, match="matched .tool:deploy. within 0.1"):\n'
        '        tap.wait_for("tool:deploy", timeout=0.1)\n'
    )
    project.ends(passed=1)


def test_async_tests_use_the_same_tap(project):
    project.write(
        "import aiohttp\nimport pytest\n\nfrom mcp_tap.demo.client import DemoClient\n\n"
        "@pytest.fixture\ndef anyio_backend():\n    return 'asyncio'\n\n"
        "@pytest.mark.anyio\nasync def test_it(tap):\n"
        '    tap.answer("confirm", action="decline")\n'
        "    async with aiohttp.ClientSession() as session:\n"
        "        client = DemoClient(session, tap.url, None)\n"
        '        await client.call("rollback", {"service": "billing"})\n'
        '    made = await tap.wait_for_async("tool:rollback")\n'
        '    assert made.asks[0].action == "decline"\n'
        '    with pytest.raises(AssertionError, match="within 0.1 s"):\n'
        '        await tap.wait_for_async("tool:deploy", timeout=0.1)\n'
    )
    project.ends("-p", "anyio", passed=1)


def test_the_options_and_fixtures_are_told_by_pytest_itself(project):
    project.write("")
    out = project.run("--help").stdout.str()
    assert {f"--tap-{name}" for name in ("record-mode", "fail-on", "disable", "keep")} <= {
        word.partition("=")[0] for word in out.split()
    }
    out = project.run("--markers").stdout.str()
    for marker in ("mcp_tap(", "tap_capture(", "tap_allow("):
        assert f"@pytest.mark.{marker}" in out
    out = project.run("--fixtures").stdout.str()
    for name in ("server", "config", "record_mode", "capture_dir", "capture_name"):
        assert f"tap_{name}" in out
    assert "no docstring" not in out


def test_a_project_that_does_not_use_the_tap_imports_none_of_it():
    script = (
        "import sys, pytest\n"
        "import mcp_tap.pytest_plugin\n"
        "print(sorted(m for m in sys.modules if m.startswith('mcp_tap')))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=BOUND
    )
    assert run.stdout.strip() == "['mcp_tap', 'mcp_tap.pytest_plugin']"


def test_the_plugin_is_an_entry_point_of_the_distribution():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"mcp_tap": "mcp_tap.pytest_plugin"}


def test_workers_of_xdist_replay_and_record_beside_each_other(project):
    project.write(
        "import pytest\n\n"
        "@pytest.mark.tap_capture\n"
        '@pytest.mark.parametrize("target", list("abcdef"))\n'
        "def test_build(tap, call, target):\n"
        '    call(tap.url, "build", {"target": target})\n'
    )
    words = ["-p", "xdist", "-n", "2", "-p", "mcp_tap.pytest_plugin", "--tap-record-mode=once"]
    project.pytester.runpytest_subprocess(*words).assert_outcomes(passed=6)
    assert len(list((project.path / "captures" / "test_it").iterdir())) == 6
    served = len(project.served)
    project.ends(passed=6)
    assert len(project.served) == served


def test_another_plugin_may_own_record_modes_and_cassettes(project):
    project.conftest(
        "\ndef pytest_addoption(parser):\n"
        '    parser.addoption("--record-mode")\n'
        '    parser.addoption("--disable-recording", action="store_true")\n\n'
        "def pytest_configure(config):\n"
        '    config.addinivalue_line("markers", "vcr: cassettes")\n\n'
        '@pytest.fixture\ndef record_mode():\n    return "all"\n\n'
        "@pytest.fixture\ndef vcr():\n    return None\n"
    )
    marked = DEPLOY.replace("def ", "@pytest.mark.vcr\n@pytest.mark.tap_capture\ndef ", 1)
    project.write(marked.replace("(tap,", "(tap, vcr, record_mode,"))
    project.ends("--record-mode=all", errors=1)
    project.ends("--record-mode=none", "--tap-record-mode=once", passed=1)
