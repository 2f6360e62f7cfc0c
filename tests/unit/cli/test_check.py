from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from mcp_tap.cli.main import run
from mcp_tap.core.records import Closed, Digest, Footer, Gap, HttpRequest, encode
from mcp_tap.testing import records_of, run_case
from tests import captures
from tests.traffic import story

FORMS = ("text", "json", "junit", "sarif", "github")
EXAMPLES = Path(__file__).parents[3] / "mcp_tap" / "rules" / "examples"


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


def case(identity):
    family = identity.partition("-")[0]
    for line in (EXAMPLES / f"{family}.jsonl").read_text(encoding="utf-8").splitlines():
        found = json.loads(line)
        if found["id"] == identity:
            return found
    raise KeyError(identity)


def write(path, records, *, clean=True):
    records = list(records)
    if clean:
        records.append(Footer(seq=records[-1].seq + 1, t=records[-1].t, exchanges=1))
    Path(path).write_bytes(b"".join(encode(record) + b"\n" for record in records))
    return str(path)


def of_case(path, *identities):
    """Write a case, or several after each other as one run."""
    records = [record for record, _ in records_of(case(identities[0]))]
    return write(path, records)


@pytest.fixture
def bad():
    """Its state comes back changed: MRTR-016."""
    return of_case("bad.jsonl", "MRTR-016-b1")


@pytest.fixture
def good():
    return str(story().write(Path("good.jsonl")))


def plain(**fields):
    """A run with one harmless exchange, and perhaps a warning (TAP-003)."""
    none = Digest(bytes=0, sha256="0" * 64)
    return [
        captures.header(**fields),
        HttpRequest(
            seq=1,
            t=0.1,
            exchange=1,
            conn=1,
            peer="127.0.0.1",
            method="GET",
            path="/health",
            headers=[],
        ),
        Closed(seq=2, t=0.2, exchange=1, how="complete", request=none, response=none),
    ]


def lossy(path="lossy.jsonl"):
    """A gap that its writer told of: a warning, and lost records."""
    return write(path, [*plain(), Gap(seq=5, t=0.3, lost=3, why="disk full")])


def check(capsys, *args, code=0):
    assert run(["check", *map(str, args)]) == code
    return capsys.readouterr()


def document(capsys, *args, code=0):
    return json.loads(check(capsys, *args, "-f", "json", code=code).out)


def rules(doc):
    return [finding["rule"] for finding in doc["findings"]]


# exit codes


def test_a_run_with_nothing_wrong_passes(good, capsys):
    out, err = check(capsys, good, "--select", "MRTR-016,TAP")
    assert out == f"passed: no findings in {Path(good).name}, 31 records\n"
    assert err == ""


def test_an_error_fails_the_check(bad, capsys):
    out, err = check(capsys, bad, code=1)
    assert "E MRTR-016 retry-state-modified  #1 r2  tools/call create_tasks  client" in out
    assert re.search(r"^    bad\.jsonl:\d+  params\.requestState$", out, re.MULTILINE)
    assert "failed: " in out
    assert err == ""


@pytest.mark.parametrize(
    ("fail_on", "code"), [("error", 0), ("warning", 1), ("note", 1), ("never", 0)]
)
def test_what_fails_is_for_the_user_to_say(capsys, fail_on, code):
    check(capsys, lossy(), "--allow-torn", "--fail-on", fail_on, code=code)


def test_exit_zero_turns_findings_only_into_success(bad, capsys):
    check(capsys, bad, "--exit-zero")
    check(capsys, "missing.jsonl", "--exit-zero", code=2)
    check(capsys, lossy(), "--exit-zero", code=4)
    check(capsys, lossy(), "--exit-zero", "--fail-on", "warning", code=4)


def test_a_torn_capture_cannot_be_relied_on(good, capsys):
    whole = Path(good).read_bytes()
    Path(good).write_bytes(whole[:-30])
    out, err = check(capsys, good, "--select", "TAP", code=4)
    assert out.startswith("cannot say: no findings")
    assert "error[capture-torn]: good.jsonl stops in the middle of line 31" in err
    assert "mcp-tap check good.jsonl --allow-torn" in err
    out, err = check(capsys, good, "--select", "TAP", "--allow-torn")
    assert out.startswith("passed")
    assert "warning[capture-torn]" in err


def test_lost_records_cannot_be_relied_on(capsys):
    out, err = check(capsys, lossy(), code=4)
    assert "W TAP-003 records-lost" in out
    assert "error[records-lost]: 3 records of lossy.jsonl are missing" in err
    check(capsys, lossy(), "--allow-torn")


def test_a_red_finding_is_red_even_where_not_all_can_be_said(bad, capsys):
    whole = Path(bad).read_bytes()
    Path(bad).write_bytes(whole + b'{"torn')
    _, err = check(capsys, bad, code=1)
    assert "warning[capture-torn]" in err


def test_nothing_to_check_is_no_success(good, capsys):
    empty = write("empty.jsonl", plain()[:1])
    _, err = check(capsys, empty, code=4)
    assert "error[nothing-to-check]: there is nothing to check in empty.jsonl" in err
    check(capsys, empty, good, "--select", "TAP")
    _, err = check(capsys, good, "--where", "tool:nothing", code=4)
    assert "no call or exchange in good.jsonl passes tool:nothing" in err
    check(capsys, empty, "--allow-torn", code=4)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--select", "MTRR"], "--select MTRR names no rule"),
        (["--ignore", "TAPP"], "did you mean TAP (the tap itself)?"),
        (["--extend-select", "x"], "--extend-select x names no rule"),
        (["--where", "tol:x"], 'filters have no key "tol"'),
        (["--expect", "(a"], "cannot read the filter"),
        (["--forbid", "tol:x"], 'filters have no key "tol"'),
        (["--expect-asks", "deploy"], "TOOL=KEYS"),
        (["--expect-max-rounds", "0"], "--expect-max-rounds"),
        (["--max-server-time", "soon"], "is not a duration"),
        (["--fail-on", "all"], "--fail-on"),
        (["--baseline", "gone.jsonl"], "the baseline gone.jsonl cannot be read"),
        (["--write-baseline"], "--write-baseline needs --baseline FILE"),
        (["-o", "no/such/folder"], "cannot be written to no/such/folder"),
        (["missing.jsonl"], "missing.jsonl"),
    ],
)
def test_what_cannot_be_meant_is_usage(good, capsys, args, words):
    out, err = check(capsys, good, *args, code=2)
    assert words in err
    assert "passed" not in out


def test_a_damaged_capture_is_no_finding(good, bad, capsys):
    lines = Path(good).read_bytes().splitlines(keepends=True)
    Path(good).write_bytes(b"".join([*lines[:5], b"nonsense\n", *lines[5:]]))
    out, err = check(capsys, bad, good, code=2)
    assert "error[capture-damaged]" in err
    assert out == "", "no report looks whole that is not"


# what is judged


@pytest.mark.parametrize("identity", ["MRTR-016-b1", "ELIC-001-b1", "MRTR-001-b1"])
def test_findings_are_those_of_the_pipeline_in_its_order(capsys, identity):
    path = of_case("case.jsonl", identity)
    found = run_case(case(identity))
    for args in ([], ["--where", "method:*"]):
        doc = document(capsys, path, *args, code=1)
        assert [(f["rule"], f["seq"], f["message"], f["path"]) for f in doc["findings"]] == [
            (f.rule, f.seq, f.message, f.path) for f in found
        ]
        lines = Path(path).read_bytes().splitlines()
        for finding in doc["findings"]:
            assert json.loads(lines[finding["line"] - 1])["seq"] == finding["seq"]
            assert finding["capture"] == "case.jsonl"


def test_several_captures_are_one_check(good, bad, capsys):
    doc = document(capsys, good, bad, "--select", "MRTR-016", code=1)
    assert [capture["path"] for capture in doc["captures"]] == ["good.jsonl", "bad.jsonl"]
    assert [finding["capture"] for finding in doc["findings"]] == ["bad.jsonl"]


def test_a_capture_named_twice_or_part_by_part_is_judged_once(tmp_path, capsys):
    parts = captures.write_rotated(tmp_path / "run.jsonl")
    doc = document(capsys, *parts, tmp_path / "run.jsonl", "--select", "TAP")
    assert len(doc["captures"]) == 1


def test_lines_are_those_of_the_part_a_record_stands_in(capsys):
    path = of_case("run.jsonl", "MRTR-016-b1")
    head, *rest = Path(path).read_bytes().splitlines(keepends=True)
    again = json.loads(head)
    last = json.loads(rest[2])
    again.update(part=2, seq=last["seq"], t=last["t"])
    Path(path).write_bytes(head + b"".join(rest[:3]))
    Path(f"{path}.001").write_bytes(json.dumps(again).encode() + b"\n" + b"".join(rest[3:]))
    (finding,) = document(capsys, path, "--select", "MRTR-016", code=1)["findings"]
    assert finding["capture"] == "run.jsonl.001"
    line = Path(finding["capture"]).read_bytes().splitlines()[finding["line"] - 1]
    assert json.loads(line)["seq"] == finding["seq"]


def test_the_newest_run_is_meant_where_none_is_named(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("MCP_TAP_HOME", str(tmp_path))
    of_case(tmp_path / "20260702T100000-b-0002.jsonl", "MRTR-016-b1")
    assert "MRTR-016" in check(capsys, code=1).out


def test_standard_input_is_read(bad, monkeypatch, capsys):
    with Path(bad).open("rb") as file:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(file))
        (finding,) = document(capsys, "-", "--select", "MRTR-016", code=1)["findings"]
    assert (finding["capture"], finding["line"]) == (None, finding["seq"] + 1)
    check(capsys, "-", "-", code=2)


def test_rules_are_selected_and_ignored(bad, capsys):
    assert document(capsys, bad, "--select", "ELIC")["findings"] == []
    assert document(capsys, bad, "--ignore", "MRTR,SEC,ERR")["findings"] == []
    both = ["--ignore", "MRTR", "--select", "retry-state-modified"]
    assert rules(document(capsys, bad, *both, code=1)) == ["MRTR-016"]
    both = ["--select", "TAP", "--extend-select", "MRTR-016"]
    assert rules(document(capsys, bad, *both, code=1)) == ["MRTR-016"]


def test_only_calls_that_pass_are_looked_at(bad, capsys):
    args = [bad, "--select", "MRTR-016", "--where"]
    assert rules(document(capsys, *args, "rule:MRTR-016", code=1)) == ["MRTR-016"]
    assert rules(document(capsys, *args, "round:2", code=1)) == ["MRTR-016"]
    assert rules(document(capsys, *args, "text:requestState", code=1)) == ["MRTR-016"]
    assert rules(document(capsys, *args, "!tool:create_tasks", code=4)) == []


def test_what_is_of_no_call_passes_no_where(capsys):
    args = [lossy(), "--allow-torn", "-f", "json"]
    assert rules(document(capsys, *args)) == ["TAP-003"]
    assert rules(document(capsys, *args, "--where", "kind:http")) == []


# assertions


@pytest.mark.parametrize(
    ("args", "failing"),
    [
        (["--expect", "tool:deploy state:ok"], []),
        (["--expect", "tool:deploy", "--expect", "tool:nothing"], ["expect"]),
        (["--forbid", "state:cancelled"], []),
        (["--forbid", "state:error"], ["forbid"]),
        (["--expect-max-rounds", "2"], []),
        (["--expect-max-rounds", "1"], ["expect-max-rounds"]),
        (["--max-server-time", "1s"], []),
        (["--max-server-time", "1ms"], ["max-server-time"]),
        (["--expect-asks", "deploy=confirm"], []),
        (["--expect-asks", "deploy=confirm,x"], ["expect-asks"]),
        (["--expect-asks", "deploy=", "--where", "tool:search"], ["expect-asks"]),
    ],
)
def test_what_must_hold_is_looked_at(good, capsys, args, failing):
    doc = document(capsys, good, "--select", "TAP", *args, code=int(bool(failing)))
    assert sorted(set(rules(doc))) == failing
    for form in FORMS:
        out = check(capsys, good, "--select", "TAP", *args, "-f", form, code=int(bool(failing))).out
        assert all(word in out for word in failing)


def test_what_must_hold_fails_whatever_findings_do(good, capsys):
    args = [good, "--select", "TAP", "--expect", "tool:nothing"]
    check(capsys, *args, "--fail-on", "never", code=1)
    check(capsys, *args, "--exit-zero")


def test_one_capture_of_several_is_enough_for_what_is_expected(good, bad, capsys):
    args = ["--select", "TAP", "--expect", "tool:deploy", "--expect", "tool:create_tasks"]
    check(capsys, good, bad, *args)
    check(capsys, good, *args, code=1)


# exceptions


def suppress(**entry):
    lines = [f'{key} = "{value}"' for key, value in entry.items()]
    Path("mcp-tap.toml").write_text("\n".join(["[[check.suppress]]", *lines]))


def test_a_suppression_covers_and_says_why(bad, capsys):
    suppress(rule="MRTR-016", where="tool:create_tasks", reason="fixed in 4.2")
    args = [bad, "--select", "MRTR-016,TAP"]
    doc = document(capsys, *args)
    assert (doc["findings"], doc["summary"]["suppressed"]) == ([], 1)
    assert "fixed in 4.2" in check(capsys, *args, "-f", "sarif").out
    assert "fixed in 4.2" in check(capsys, *args, "-f", "junit").out


def test_a_suppression_that_has_ended_does_not_cover(bad, capsys):
    suppress(rule="MRTR-016", reason="soon", until="2026-07-27")
    out, _ = check(capsys, bad, "--select", "MRTR-016,TAP", code=1)
    assert "its exception (soon) held until 2026-07-27" in out


def test_an_unused_suppression_is_a_finding(good, capsys):
    suppress(rule="MRTR-016", reason="long gone")
    args = [good, "--select", "MRTR-016,TAP"]
    out, _ = check(capsys, *args, code=1)
    assert "E TAP-002 exception-unused" in out
    assert "suppression 1" in out
    check(capsys, *args, "--ignore", "TAP-002")
    check(capsys, *args, "--where", "tool:deploy")  # not all there is was looked at


def test_a_baseline_is_written_read_and_grows_stale(bad, good, capsys):
    args = [bad, "--select", "MRTR-016,TAP", "--baseline", "known.jsonl"]
    out, err = check(capsys, *args, "--write-baseline")
    assert "added to known.jsonl: MRTR-016" in err
    assert f"passed: no findings in {Path(bad).name}" in out
    assert json.loads(Path("known.jsonl").read_text()) == {
        "rule": "MRTR-016",
        "server": "case-server",
        "method": "tools/call",
        "name": "create_tasks",
        "spot": "requestState",
    }
    doc = document(capsys, *args)
    assert (doc["findings"], doc["summary"]["baselined"]) == ([], 1)
    out, _ = check(capsys, good, *args[1:], code=1)
    assert "E TAP-002 exception-unused" in out
    _, err = check(capsys, good, *args[1:], "--write-baseline")
    assert "taken out of known.jsonl: MRTR-016" in err
    assert Path("known.jsonl").read_bytes() == b""


def test_nothing_is_taken_out_of_a_baseline_by_a_look_at_a_part(bad, good, capsys):
    args = ["--select", "MRTR-016,TAP", "--baseline", "known.jsonl"]
    check(capsys, bad, *args, "--write-baseline")
    before = Path("known.jsonl").read_bytes()
    _, err = check(capsys, good, *args, "--where", "tool:deploy", "--write-baseline")
    assert "nothing to add to known.jsonl" in err
    assert Path("known.jsonl").read_bytes() == before


def test_a_baseline_that_cannot_be_written_is_said(bad, capsys):
    Path("folder").mkdir()
    _, err = check(capsys, bad, "--baseline", "no/such.jsonl", "--write-baseline", code=2)
    assert "baseline-unwritable" in err


def test_a_damaged_baseline_is_an_error(good, capsys):
    Path("known.jsonl").write_text("{}\n")
    _, err = check(capsys, good, "--baseline", "known.jsonl", code=2)
    assert "known.jsonl cannot be read at line 1" in err


# files


def test_the_policy_stands_in_a_file(bad, capsys):
    Path("mcp-tap.toml").write_text(
        '[check]\nselect = ["MRTR-016", "TAP"]\nfail_on = "warning"\n'
        '[check.severity]\nMRTR-016 = "note"\n'
        '[[check.suppress]]\nrule = "TAP-003"\nreason = "r"\nuntil = 2026-12-31\n'
    )
    doc = document(capsys, bad, "--ignore", "TAP-002")
    assert [(f["rule"], f["severity"]) for f in doc["findings"]] == [("MRTR-016", "note")]
    check(capsys, bad, "--ignore", "TAP-002", "--fail-on", "note", code=1)


def test_pyproject_holds_it_too(bad, capsys):
    Path("pyproject.toml").write_text(
        '[tool.mcp-tap.check]\nfail-on = "never"\n[tool.mcp-tap.check.severity]\nMRTR = "note"\n'
    )
    assert document(capsys, bad, "--select", "MRTR-016")["summary"]["note"] == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[check]\nselct = ["MRTR"]', 'did you mean "select"?'),
        ("[check.severty]\nMRTR = 1", 'did you mean "severity"?'),
        ('[[check.supress]]\nrule = "TAP"', 'did you mean "suppress"?'),
        ('[check.severity]\nMRTR = "bad"', '"bad" is no severity'),
        ('[check.severity]\nMTRR = "note"', "MTRR names no rule"),
        ('[[check.suppress]]\nrule = "TAP"', 'suppression 1 has no "reason"'),
        ('[[check.suppress]]\nrule = "TAP"\nreason = "r"\nuntil = "x"', "is no date"),
        ('[check]\nsuppress = "TAP"', "takes entries"),
        ('[check]\nselect = ["MTRR"]', "names no rule"),
        ("[check]\nwrite-baseline = true", "a project's file may not set"),
        ('[check]\nbaseline = "../x.jsonl"', "outside its folder"),
        ('[check]\nfail-on = "all"', "--fail-on"),
    ],
)
def test_what_a_file_cannot_mean_is_an_error_that_names_it(good, capsys, text, words):
    Path("mcp-tap.toml").write_text(text)
    _, err = check(capsys, good, code=2)
    assert words in err
    assert "mcp-tap.toml" in err


def test_config_looks_at_the_whole_table(capsys):
    Path("mcp-tap.toml").write_text('[[check.suppress]]\nrule = "TAP"')
    assert run(["config"]) == 2
    Path("mcp-tap.toml").write_text('[[check.suppress]]\nrule = "TAP"\nreason = "r"')
    assert run(["config"]) == 0


# reports


@pytest.mark.parametrize("form", FORMS)
def test_a_report_can_be_written_to_a_file(bad, capsys, form):
    printed = check(capsys, bad, "-f", form, code=1).out
    out, err = check(capsys, bad, "-f", form, "-o", "report", code=1)
    assert out == ""
    assert f"in {Path(bad).name}" in err
    assert Path("report").read_text(encoding="utf-8") == printed


def test_json_can_be_asked_for_as_everywhere(bad, capsys):
    assert json.loads(check(capsys, bad, "--json", code=1).out)["version"] == 1
    _, err = check(capsys, "missing.jsonl", "-f", "json", code=2)
    assert json.loads(err)["error"]["code"] == "capture-missing"


def test_junit_shows_green_rules_and_red_ones(bad, capsys):
    root = ET.fromstring(check(capsys, bad, "--select", "MRTR", "-f", "junit", code=1).out)
    suite = root[0]
    red = [case.get("name") for case in suite if case.find("failure") is not None]
    assert red == ["MRTR-016 retry-state-modified"]
    assert int(suite.get("tests")) > 20


@pytest.mark.parametrize("form", FORMS)
def test_a_hostile_name_breaks_no_report_and_a_state_is_in_none(capsys, form):
    made = case("MRTR-016-b1")
    evil = "</failure>]]>\x1b[2J\u202e%0A::error::x\n::warning::y"
    text = json.dumps(made).replace("create_tasks", json.dumps(evil)[1:-1])
    path = write("evil.jsonl", [record for record, _ in records_of(json.loads(text))])
    out = check(capsys, path, "--select", "MRTR-016", "-f", form, code=1).out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert not any(
        line.lstrip().startswith(("::warning", "::error::x")) for line in out.splitlines()
    )
    if form in ("json", "sarif"):
        json.loads(out)
    if form == "junit":
        ET.fromstring(out)


def test_colour_is_for_those_who_want_it(bad, capsys):
    assert "\x1b[" in check(capsys, bad, "--color", "always", code=1).out
    assert "\x1b[" not in check(capsys, bad, code=1).out


def test_quiet_prints_findings_only(bad, good, capsys):
    assert check(capsys, good, "-q", "--select", "TAP") == ("", "")
    out, err = check(capsys, bad, "-q", "--select", "MRTR-016", code=1)
    assert len(out.splitlines()) == 3
    assert err == ""
