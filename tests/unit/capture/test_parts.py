from __future__ import annotations

from pathlib import Path

from mcp_tap.capture.parts import later_parts, part_number, part_path, plain_name


def test_part_names_sort_behind_the_first_part_and_count_back():
    base = Path("/x/run.jsonl")
    names = [part_path(base, number).name for number in (1, 2, 3, 1000)]
    assert names == ["run.jsonl", "run.jsonl.001", "run.jsonl.002", "run.jsonl.999"]
    assert names == sorted(names)
    assert [part_number(name) for name in names] == [1, 2, 3, 1000]
    assert part_number("run.jsonl.001.gz") == 2
    assert plain_name("run.jsonl.001.gz") == "run.jsonl.001"


def test_later_parts_come_in_number_order_and_only_by_exact_name(tmp_path):
    for name in (
        "run.jsonl",
        "run.jsonl.1000",
        "run.jsonl.002.gz",
        "run.jsonl.001",
        "run.jsonl.001.gz",
        "run.jsonl.01",
        "run.jsonl.bak",
        "run.jsonl.001.001",
        "other.jsonl.001",
    ):
        (tmp_path / name).touch()
    found = [path.name for path in later_parts(tmp_path / "run.jsonl")]
    assert found == ["run.jsonl.001", "run.jsonl.002.gz", "run.jsonl.1000"]


def test_parts_of_a_packed_first_part_are_found(tmp_path):
    for name in ("run.jsonl.gz", "run.jsonl.001.gz"):
        (tmp_path / name).touch()
    assert [p.name for p in later_parts(tmp_path / "run.jsonl.gz")] == ["run.jsonl.001.gz"]
