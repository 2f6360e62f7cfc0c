import pytest

from mcp_tap.cli.judging import LiveVerdicts, live_policy
from mcp_tap.cli.main import group, run
from mcp_tap.rules.policy import Policy, selectors
from tests.builders import finding

HTTP = ["http", "http://127.0.0.1:9/mcp"]


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir(tmp_path / "inside")
    monkeypatch.setenv("MCP_TAP_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def policy(*args):
    with group.make_context("mcp-tap", [HTTP[0]], resilient_parsing=True) as root:
        command = group.get_command(root, HTTP[0])
        with command.make_context(HTTP[0], [HTTP[1], *args], parent=root) as ctx:
            return live_policy(ctx, ctx.params)


def test_what_counts_is_passed_on_and_counted():
    verdicts = LiveVerdicts(Policy())
    assert verdicts.sift(finding(), None) == finding()
    assert verdicts.sift(finding(severity="warning"), None) == finding(severity="warning")
    assert (verdicts.failed, verdicts.words) == (1, "1 error, 1 warning")


def test_what_does_not_count_is_neither_passed_on_nor_counted():
    verdicts = LiveVerdicts(Policy(ignore=selectors(["MRTR"], where="ignore")))
    assert verdicts.sift(finding(), None) is None
    assert (verdicts.failed, verdicts.words) == (0, "")


def test_the_baseline_of_the_checks_table_is_taken_from_the_folder_of_its_file(project):
    (project / "mcp-tap.toml").write_text('[check]\nbaseline = "known.jsonl"\nselect = "SEC"\n')
    line = b'{"rule":"SEC-001","server":null,"method":null,"name":null,"spot":""}\n'
    (project / "known.jsonl").write_bytes(line)
    made = policy()
    assert [known.rule for known in made.baseline] == ["SEC-001"]
    assert {rule[:3] for rule in made.selected} == {"SEC"}


def test_an_option_of_the_live_run_beats_the_checks_table(project):
    (project / "mcp-tap.toml").write_text('[check]\nselect = ["SEC"]\n')
    assert {rule[:3] for rule in policy("--select", "TAP").selected} == {"TAP"}


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("select = 5", 'error[setting-type]: "select" takes a list of texts'),
        ("fail-on = true", 'error[setting-type]: "fail-on" takes one value'),
        ('baseline = "../out.jsonl"', "error[setting-not-trusted]"),
        ('fail-on = "note"\nfail_on = "note"', "error[setting-twice]"),
        ('select = ["NOPE"]', "error[unknown-rule]"),
    ],
)
def test_what_the_checks_table_cannot_mean_is_refused_with_its_place(project, capsys, table, words):
    (project / "mcp-tap.toml").write_text(f"[check]\n{table}\n")
    assert run([*HTTP, "-l", "0", "--", "true"]) == 2
    err = capsys.readouterr().err
    assert words in err
    assert f"where: {project / 'mcp-tap.toml'} [check]" in err
    assert not (project / "home").exists()


def test_what_only_the_check_command_reads_does_not_stop_a_live_run(project):
    (project / "mcp-tap.toml").write_text("[check]\nformat = 5\nnothing = 1\n")
    assert policy().selected == Policy().selected
