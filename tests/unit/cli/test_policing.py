from __future__ import annotations

from pathlib import Path

import pytest

from mcp_tap.cli.policing import load_baseline, make_policy, update_baseline
from mcp_tap.config import ConfigFile
from mcp_tap.errors import ConfigError, UsageError
from mcp_tap.rules.policy import Known, known
from tests.reports import entry, finding


def file(**table):
    return ConfigFile(path=Path("mcp-tap.toml"), project=True, table={"check": table})


def test_severities_and_suppressions_are_of_the_file_that_decides():
    near = file(severity={"TAP-003": "note"})
    far = file(suppress=[{"rule": "TAP", "reason": "r"}])
    policy = make_policy([near, far])
    verdict = policy.judge(finding())
    assert (verdict.finding.severity, verdict.how) == ("note", "counts")
    assert policy.suppressions == ()


def test_an_error_in_a_file_names_it():
    with pytest.raises(ConfigError) as error:
        make_policy([file(suppress=[{"rule": "TAP"}])])
    assert error.value.where == "mcp-tap.toml [check]"


def test_a_wrong_word_says_where_it_was_set():
    with pytest.raises(UsageError) as error:
        make_policy([], select=["MTRR"], origins={"select": "mcp-tap.toml [check]"})
    assert error.value.where == "mcp-tap.toml [check]"
    with pytest.raises(UsageError) as error:
        make_policy([], select=["MTRR"], origins={"select": "command line"})
    assert error.value.where == ""


def test_a_baseline_need_not_be_there_yet_where_it_is_written(tmp_path):
    path = tmp_path / "known.jsonl"
    assert load_baseline(path, must_exist=False) == []
    with pytest.raises(UsageError, match="cannot be read"):
        load_baseline(path)


def test_what_still_matches_stays_and_what_does_not_goes(tmp_path):
    path = tmp_path / "known.jsonl"
    stale = Known(rule="TAP-003", server=None, method=None, name=None, spot="gone")
    path.write_bytes(b"")
    old = make_policy([], baseline=path)
    update_baseline(path, old, [entry(), entry(line=9)], whole=True)
    assert load_baseline(path) == [known(finding())]
    with path.open("ab") as out:
        out.write(b'{"rule":"TAP-003","server":null,"method":null,"name":null,"spot":"gone"}\n')
    policy = make_policy([], baseline=path)
    policy.judge(finding())
    assert update_baseline(path, policy, [], whole=False) == ([], [])
    assert len(load_baseline(path)) == 2
    assert update_baseline(path, policy, [], whole=True) == ([], [stale])
    assert load_baseline(path) == [known(finding())]
