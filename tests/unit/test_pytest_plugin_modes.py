"""Record modes: what a test marked `tap_capture` does, by what there is on disk."""

from __future__ import annotations

import pytest

from mcp_tap.capture.reader import open_path
from mcp_tap.core.model import Call
from mcp_tap.pipeline.spine import Pipeline
from tests.plugged import Project

DEPLOY = """
import pytest

@pytest.mark.tap_capture
def test_deploy(tap, call, yes):
    assert call(tap.url, "deploy", **yes) == "billing goes out tonight, blue-green"
    made = tap.calls.one(tool="deploy")
    assert made.outcomes == ["input_required", "input_required", "complete"]
"""
MORE = DEPLOY + '    call(tap.url, "build", {"target": "billing"})\n'
FAILS = DEPLOY + "    assert 0\n"
RECORDS = ["once", "new_episodes", "all", "rewrite"]


@pytest.fixture
def project(pytester, monkeypatch):
    return Project(pytester, monkeypatch)


_recorded: list[bytes] = []


@pytest.fixture
def recorded(project):
    """A project whose test was recorded, with three requests."""
    project.write(DEPLOY)
    path = project.capture("test_deploy")
    if not _recorded:
        project.ends("--tap-record-mode=once", passed=1)
        _recorded.append(path.read_bytes())
        (project.path / "served.txt").unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_recorded[0])
    return project


def calls_in(path):
    """The calls of a capture, which is sound."""
    pipeline, found = Pipeline(), {}
    reader = open_path(path)
    for record in reader:
        found |= {c.number: c for c in pipeline.feed(record) if isinstance(c, Call)}
    assert reader.clean
    assert not reader.lost
    assert reader.torn is None
    return [(call.name, call.outcome, len(call.rounds)) for call in found.values()]


def test_without_a_capture_none_is_an_error_that_says_how_to_record(project):
    project.write(DEPLOY)
    out = project.ends(errors=1)
    assert "error[capture-missing]: there is no capture captures/test_it/test_deploy.jsonl" in out
    assert "help: pytest test_it.py::test_deploy --tap-record-mode=once" in out
    assert project.served == []


@pytest.mark.parametrize("mode", RECORDS)
def test_without_a_capture_every_other_mode_records(project, mode):
    project.write(DEPLOY)
    project.ends(f"--tap-record-mode={mode}", passed=1)
    assert len(project.served) == 3
    path = project.capture("test_deploy")
    assert calls_in(path) == [("deploy", "ok", 3)]
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mode", ["none", "once", "new_episodes"])
def test_what_is_known_is_replayed_and_reaches_no_server(recorded, mode):
    before = recorded.capture("test_deploy").read_bytes()
    recorded.ends(f"--tap-record-mode={mode}", passed=1)
    assert recorded.served == []
    assert recorded.capture("test_deploy").read_bytes() == before


@pytest.mark.parametrize("mode", ["none", "once"])
def test_what_is_not_known_is_an_error_with_the_nearest_recorded_call(recorded, mode):
    recorded.write(DEPLOY.replace('"deploy", **yes', '"deploy", {"service": "shop"}, **yes'))
    out = recorded.ends(f"--tap-record-mode={mode}", failed=1)
    assert 'has no call like tools/call deploy {"service":"shop"}' in out.replace(" ", " ")
    assert (
        'why:  nearest is #1 (line 3): same method and name; arguments differ: service "shop"'
        in out
    )
    assert "help: pytest test_it.py::test_deploy --tap-record-mode=new_episodes" in out
    assert recorded.served == []


def test_a_test_that_puts_up_with_a_miss_fails_all_the_same(recorded):
    swallow = '    with pytest.raises(Exception):\n        call(tap.url, "lookup")\n'
    recorded.write(DEPLOY + swallow)
    out = recorded.ends(failed=1)
    assert "error[not-recorded]" in out


def test_new_episodes_forwards_what_is_not_known_and_appends_it(recorded):
    recorded.write(MORE)
    recorded.ends("--tap-record-mode=new_episodes", passed=1)
    assert recorded.served == ["tools/call"]
    path = recorded.capture("test_deploy")
    assert calls_in(path) == [("deploy", "ok", 3), ("build", "ok", 1)]
    recorded.ends(passed=1)
    assert len(recorded.served) == 1


@pytest.mark.parametrize(
    ("mode", "test"),
    [
        ("new_episodes", MORE + "    assert 0\n"),
        ("all", DEPLOY + '    call(tap.url, "broken_export", {"format": "csv"})\n'),
    ],
    ids=["new_episodes, a failure", "all, a finding"],
)
def test_the_old_file_stays_as_it_is_where_the_test_fails(recorded, mode, test):
    before = recorded.capture("test_deploy").read_bytes()
    recorded.write(test)
    recorded.ends(f"--tap-record-mode={mode}", failed=1)
    assert recorded.capture("test_deploy").read_bytes() == before


def test_new_episodes_cannot_go_on_with_a_round_that_no_server_gave(recorded):
    recorded.write(DEPLOY.replace("**yes", '**{**yes, "window": {"action": "decline"}}'))
    out = recorded.ends("--tap-record-mode=new_episodes", failed=1)
    assert "error[not-recorded]" in out
    assert "--tap-record-mode=all" in out
    assert recorded.served == []


def test_all_forwards_everything_and_replaces_the_old_file(recorded):
    recorded.write(
        DEPLOY.replace('"deploy"', '"deploy", {"service": "shop"}', 1).replace("billing", "shop")
    )
    recorded.ends("--tap-record-mode=all", passed=1)
    assert len(recorded.served) == 3
    text = recorded.capture("test_deploy").read_text()
    assert '"service":"shop"' in text
    assert '"service":"billing"' not in text


def test_all_keeps_the_old_file_where_the_test_fails(recorded):
    before = recorded.capture("test_deploy").read_bytes()
    recorded.write(FAILS)
    out = recorded.ends("--tap-record-mode=all", failed=1)
    assert recorded.capture("test_deploy").read_bytes() == before
    assert "not kept as captures/test_it/test_deploy.jsonl, since the test failed" in out


def test_once_keeps_no_recording_of_a_test_that_fails(project):
    project.write(FAILS)
    project.ends("--tap-record-mode=once", failed=1)
    assert not project.capture("test_deploy").exists()


@pytest.mark.parametrize("mode", ["none", *RECORDS])
@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (lambda data: b"{}\n", "not-a-capture"),
        (lambda data: data[:-20], "capture-torn"),
        (
            lambda data: data.replace(b'"kind":"message"', b'"kind":"nonsense"', 1),
            "capture-damaged",
        ),
        (
            lambda data: b"".join(data.splitlines(keepends=True)[:3] + data.splitlines(True)[4:]),
            "records-lost",
        ),
    ],
    ids=["other", "torn", "damaged", "lost"],
)
def test_a_damaged_capture_is_an_error_in_every_mode_and_stays(recorded, mode, damage, code):
    path = recorded.capture("test_deploy")
    path.write_bytes(damage(path.read_bytes()))
    before = path.read_bytes()
    out = recorded.ends(f"--tap-record-mode={mode}", errors=1)
    assert f"error[{code}" in out
    assert path.read_bytes() == before
    assert recorded.served == []


def test_record_modes_say_nothing_of_tests_without_the_marker(project):
    project.write(DEPLOY.replace("@pytest.mark.tap_capture", ""))
    project.ends("--tap-record-mode=none", passed=1)
    assert len(project.served) == 3
    assert not (project.path / "captures").exists()


def test_the_fixture_says_the_mode_where_the_command_line_does_not(project):
    project.conftest('\n@pytest.fixture\ndef tap_record_mode():\n    return "once"\n')
    project.write(DEPLOY)
    project.ends("--tap-record-mode=none", errors=1)
    project.ends(passed=1)
    assert project.capture("test_deploy").exists()


def test_names_and_folders_of_captures_can_be_chosen(project):
    project.conftest(
        "\n@pytest.fixture\ndef tap_capture_dir(request):\n"
        '    return request.path.parent / "seen"\n'
    )
    project.write(DEPLOY.replace("tap_capture", 'tap_capture("shared/deploy")'))
    project.ends("--tap-record-mode=once", passed=1)
    assert (project.path / "seen" / "shared" / "deploy.jsonl").exists()
    project.ends(passed=1)


def test_tests_of_classes_and_with_parameters_have_captures_of_their_own(project):
    project.write(
        "import pytest\n\n"
        "@pytest.mark.tap_capture\n"
        "class TestLookup:\n"
        '    @pytest.mark.parametrize("where", ["eu/north", "us:west"])\n'
        "    def test_it(self, tap, call, where):\n"
        '        call(tap.url, "build", {"target": "billing"})\n'
    )
    project.ends("--tap-record-mode=once", passed=2)
    names = {path.name for path in (project.path / "captures" / "test_it").iterdir()}
    assert names == {"TestLookup.test_it[eu-north].jsonl", "TestLookup.test_it[us-west].jsonl"}
    project.ends(passed=2)


def test_answers_of_scripts_are_given_again_in_a_replay(project):
    project.write(
        DEPLOY.replace("(tap, call, yes):", "(tap, call):")
        .replace(", **yes", "")
        .replace(
            "    assert call",
            '    tap.answer("confirm", {"proceed": True, "strategy": "blue-green"}, name="go")\n'
            '    tap.answer("window", {"start": "tonight", "minutes": 30})\n    assert call',
            1,
        )
        + '    assert made.rounds[0].asks["confirm"].entry == "go"\n'
    )
    project.ends("--tap-record-mode=once", passed=1)
    assert len(project.served) == 3
    for mode in ("none", "once", "new_episodes"):
        project.ends(f"--tap-record-mode={mode}", passed=1)
    assert len(project.served) == 3


def test_secrets_of_scripts_are_in_no_recording_and_fit_in_a_replay(project, monkeypatch):
    monkeypatch.setenv("WHEN", "tonight-at-nine")
    (project.path / "a.toml").write_text(
        '[[answer]]\nmatch = { key = "confirm" }\n'
        'content = { proceed = true, strategy = "blue-green" }\n\n'
        '[[answer]]\nmatch = { key = "window" }\ncheck = false\n'
        'content = { start = { env = "WHEN" }, minutes = 30 }\n'
    )
    project.write(
        "import pytest\n\n"
        '@pytest.mark.tap_capture\n@pytest.mark.mcp_tap(answers="a.toml")\n'
        "def test_deploy(tap, call):\n"
        '    call(tap.url, "deploy")\n'
        '    assert len(tap.calls.one(tool="deploy").rounds) == 3\n'
    )
    project.ends("--tap-record-mode=once", "--tap-fail-on=never", passed=1)
    text = project.capture("test_deploy").read_text()
    asked = text.partition('"sender":"tap"')[2]
    assert '"start":"tonight-at-nine"' not in asked
    assert len(project.served) == 3
    monkeypatch.setenv("WHEN", "tomorrow")
    project.ends("--tap-fail-on=never", passed=1)
    assert len(project.served) == 3


def test_what_the_tap_answers_of_new_episodes_is_appended_with_them(recorded):
    more = (
        '    tap.answer("confirm", action="decline", tool="rollback")\n'
        '    assert call(tap.url, "rollback")\n'
        '    assert tap.calls.one(tool="rollback").outcomes == ["input_required", "complete"]\n'
    )
    recorded.write(DEPLOY + more)
    recorded.ends("--tap-record-mode=new_episodes", passed=1)
    assert recorded.served == ["tools/call"] * 2
    path = recorded.capture("test_deploy")
    assert calls_in(path) == [("deploy", "ok", 3), ("rollback", "ok", 2)]
    recorded.ends(passed=1)
    assert recorded.served == ["tools/call"] * 2
