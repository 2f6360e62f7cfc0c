from __future__ import annotations

from tests.asks import script

TEXT = """
[[answer]]
content = { a = { env = "A" }, b = { env = "B" }, c = "C" }
[[answer]]
name = "again"
each_round = [{ content = { a = { env = "B" } } }, { fill = ["capture"], capture = "x.jsonl" }]
[[answer]]
fill = ["capture", "default"]
capture = "x.jsonl"
"""


def test_a_script_names_the_variables_and_captures_it_needs_once():
    found = script(TEXT)
    assert found.variables() == ["A", "B"]
    assert found.captures() == ["x.jsonl"]


def test_an_entry_knows_its_place_and_has_a_name_without_one():
    first, second, _ = script(TEXT, "dir/deploy.toml").entries
    assert (first.name, first.place) == ("answer 1", "dir/deploy.toml, answer 1")
    assert second.name == "again"


def test_an_entry_answers_what_all_its_rounds_can():
    _, again, last = script(TEXT).entries
    assert again.kinds == {"form"}
    assert last.kinds == {"form", "url", "sampling", "roots"}
