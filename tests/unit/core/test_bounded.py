from __future__ import annotations

from mcp_tap.core.bounded import Bounded, Recent


def test_the_oldest_leaves_when_there_are_too_many_and_is_counted():
    gone = []
    kept: Bounded[str, int] = Bounded(2, 100.0, gone.append)
    for t, key in enumerate("abc"):
        kept.put(key, t, float(t))
    assert kept.values() == [1, 2]
    assert gone == [0]
    assert kept.retired == 1


def test_putting_again_makes_an_entry_the_youngest():
    kept: Bounded[str, int] = Bounded(2, 100.0)
    kept.put("a", 1, 0.0)
    kept.put("b", 2, 1.0)
    kept.put("a", 3, 2.0)
    kept.put("c", 4, 3.0)
    assert kept.get("a") == 3
    assert kept.get("b") is None


def test_the_old_expire_and_looking_does_not_keep_them():
    kept: Bounded[str, int] = Bounded(9, 10.0)
    kept.put("a", 1, 0.0)
    kept.put("b", 2, 5.0)
    kept.get("a")
    kept.expire(11.0)
    assert len(kept) == 1
    assert kept.retired == 1
    kept.expire(100.0)
    assert len(kept) == 0


def test_taking_out_does_not_count_as_retired():
    kept: Bounded[str, int] = Bounded(9, 10.0)
    kept.put("a", 1, 0.0)
    assert kept.pop("a") == 1
    assert kept.pop("a") is None
    assert kept.retired == 0


def test_the_oldest_can_be_let_go_on_demand():
    kept: Bounded[str, int] = Bounded(9, 10.0)
    kept.retire()
    kept.put("a", 1, 0.0)
    kept.put("b", 2, 1.0)
    kept.retire()
    assert (kept.values(), kept.retired) == ([2], 1)


def test_of_the_recent_half_are_kept_at_least_and_no_more_than_all_at_most():
    kept: Recent[int, str] = Recent(8)
    for key in range(100):
        kept.put(key, "x")
        held = [other for other in range(key + 1) if kept.get(other) is not None]
        assert min(4, key + 1) <= len(held) <= 8
        assert held == list(range(key + 1))[-len(held) :]
        assert kept.forgot == (len(held) <= key)


def test_what_is_put_again_is_young_again():
    kept: Recent[int, str] = Recent(4)
    for key in (1, 2, 1, 3):
        kept.put(key, f"{key}")
    kept.put(1, "newest")
    kept.put(4, "4")
    assert kept.get(1) == "newest"
