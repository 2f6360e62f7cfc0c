from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mcp_tap.views.console_runs import MOST_EXCHANGES, Item, ShownRun
from mcp_tap.views.console_state import MOST, MOST_OVER, ConsoleState
from mcp_tap.views.look import Look
from tests import builders as b


def begun():
    state = ConsoleState()
    state.begin(b.header(), Look())
    return state


@pytest.fixture
def state():
    made = ConsoleState()
    run = made.begin(b.header(), Look(start=datetime(2026, 7, 28, 12, 4, tzinfo=UTC)))
    made.take(run, b.run())
    made.now = 23.0
    return made


def press(state, *keys):
    return [state.press(key) for key in keys]


def type_(state, text):
    press(state, "/", "clear", *("space" if c == " " else c for c in text), "enter")


def shown(state):
    return [item.subject.number for item in state.rows()]


def test_calls_are_listed_in_the_order_they_began(state):
    state.take(state.runs[-1], [b.exchange(31, t=3.5, status=403, how="refused")])
    assert shown(state) == [14, 15, 31, 16, 17, 18, 19]


def test_the_newest_is_followed_until_another_is_chosen(state):
    assert state.chosen().subject.number == 19
    press(state, "k", "k")
    assert state.chosen().subject.number == 17
    state.take(state.runs[-1], [b.call(20, t=20.0)])
    assert state.chosen().subject.number == 17
    press(state, "G")
    state.take(state.runs[-1], [b.call(21, t=21.0)])
    assert state.chosen().subject.number == 21


@pytest.mark.parametrize(
    ("keys", "number"),
    [
        ("g", 14), ("home", 14), ("k up", 17), ("k j", 19), ("g j down", 16),
        ("pageup", 14), ("g pagedown", 19), ("g G", 19), ("g end", 19), ("x", 19),
    ],
)  # fmt: skip
def test_keys_move_the_choice(state, keys, number):
    press(state, *keys.split())
    assert state.chosen().subject.number == number


def test_the_choice_stays_on_its_call_when_earlier_ones_are_forgotten(state):
    press(state, "k", "k", "k")
    assert state.position(state.rows()) == 2
    type_(state, "tool:deploy | tool:exprt")
    assert shown(state) == [16, 18]
    assert state.chosen().subject.number == 18


def test_a_filter_is_typed_applied_and_taken_off(state):
    type_(state, "tool:deploy round:3")
    assert (shown(state), state.typing) == ([16], None)
    press(state, "/", "backspace", "2", "enter")
    assert str(state.filter) == "tool:deploy round:2"
    assert (shown(state), state.chosen()) == ([], None)
    press(state, "esc")
    assert len(shown(state)) == 6


def test_a_filter_that_cannot_be_read_is_said_and_can_be_mended(state):
    type_(state, "too:x")
    assert state.message == 'filters have no key "too"; did you mean "tool"?'
    assert state.typing == "too:x"
    press(state, "esc")
    assert (state.typing, state.message, str(state.filter)) == (None, "", "")


def test_a_call_that_changes_is_filtered_anew(state):
    type_(state, "state:ok")
    assert 17 not in shown(state)
    booked = b.booking()
    booked.outcome, booked.end = "ok", 22.0
    state.take(state.runs[-1], [booked])
    assert 17 in shown(state)


def test_a_paused_list_stands_still(state):
    press(state, "space")
    state.take(state.runs[-1], [b.call(20, t=20.0)])
    assert state.paused
    assert 20 not in shown(state)
    press(state, "space")
    assert 20 in shown(state)


def test_enter_opens_the_call_and_keys_scroll_in_it(state):
    press(state, "enter", "j", "j", "k")
    assert (state.open, state.scroll, state.chosen().subject.number) == (True, 1, 19)
    press(state, "esc")
    assert not state.open


def test_help_is_scrolled_and_closes_by_any_other_key(state):
    press(state, "?", "j", "j", "k")
    assert (state.help, state.scroll) == (True, 1)
    assert press(state, "esc") == [None]
    assert (state.help, state.scroll) == (False, 0)
    assert press(state, "?", "q") == [None, "quit"]


def test_what_only_the_world_can_do_is_returned(state):
    assert press(state, "y", "q") == ["copy", "quit"]
    press(state, "/")
    assert press(state, "q", "y") == [None, None]
    assert state.typing == "qy"


def test_an_empty_list_takes_every_key():
    state = begun()
    for key in ("j", "k", "g", "G", "enter", "esc", "space", "y", "pageup", "?", "?", "tab"):
        state.press(key)
    assert state.chosen() is None
    assert not state.open


def test_only_so_many_calls_are_kept_and_running_ones_first(state):
    state.take(state.runs[-1], [b.call(n, t=float(n)) for n in range(100, 100 + MOST + 50)])
    assert state.total == MOST
    assert {17, 19} <= set(shown(state))
    assert shown(state)[-1] == 100 + MOST + 49


def test_bounds_hold_when_everything_runs():
    state = begun()
    state.take(state.runs[-1], [b.call(n, end=None, outcome="open") for n in range(MOST + 5)])
    state.take(state.runs[-1], [b.exchange(n, status=500) for n in range(MOST_EXCHANGES + 5)])
    assert state.total == MOST
    assert len(state.rows()) == MOST + MOST_EXCHANGES


def test_a_new_run_forgets_the_old(state):
    press(state, "k", "space")
    state.begin(b.header(run="other"), Look(), alone=True)
    assert (shown(state), state.paused, state.selected) == ([], False, None)


def test_only_running_calls_need_their_time_drawn_anew(state):
    assert state.running
    state.end(state.runs[0])
    assert not state.running


def test_rows_are_ordered_by_time_and_number():
    assert Item(ShownRun(2, b.header(), Look()), b.call(3, t=1.5)).place == (1.5, 2, 3)


def test_exchanges_that_did_not_fail_are_listed_when_a_filter_speaks_of_them(state):
    get = b.exchange(40, t=18.0, verb="GET", kind="http", method=None, status=200, how=None)
    delete = b.exchange(41, t=18.5, verb="DELETE", kind="http", method=None, status=200)
    state.take(state.runs[-1], [get, delete])
    assert {40, 41}.isdisjoint(shown(state))
    type_(state, "kind:http")
    assert shown(state) == [40, 41]
    get.how = "upstream_cut"
    state.take(state.runs[-1], [get])
    type_(state, "")
    assert 40 in shown(state)
    assert 41 not in shown(state)


def test_exchanges_that_went_well_push_no_failed_one_out():
    state = begun()
    state.take(state.runs[-1], [b.exchange(1, status=500)])
    state.take(state.runs[-1], [b.exchange(n, t=float(n)) for n in range(2, MOST_EXCHANGES + 50)])
    assert shown(state) == [1]
    type_(state, "kind:notification")
    assert len(shown(state)) == MOST_EXCHANGES + 1


def test_x_shows_the_page_of_the_worst_finding_of_the_selected_call():
    state = begun()
    call = b.failed()
    call.findings = [b.finding("HDR-006", "warning", seq=9), b.finding("MRTR-016")]
    state.take(state.runs[-1], [call], call.findings)
    state.press("x")
    assert state.explained.finding.rule == "MRTR-016"
    state.press("j")
    assert state.scroll == 1
    state.press("esc")
    assert state.explained is None


def test_x_shows_the_newest_finding_where_the_call_has_none():
    state = begun()
    state.take(state.runs[-1], [b.failed()], [b.finding("HDR-001"), b.finding("SEC-001")])
    state.press("x")
    assert state.explained.finding.rule == "SEC-001"


def test_x_says_so_where_nothing_was_found():
    state = begun()
    state.take(state.runs[-1], [b.failed()])
    state.press("x")
    assert state.explained is None
    assert state.message == "no rule has found anything"


# --- several runs ---------------------------------------------------------------------------------


def test_calls_of_one_number_in_two_runs_are_two_rows():
    state = begun()
    other = state.begin(b.header(run="other"), Look())
    state.take(state.runs[0], [b.call(1, t=1.0)])
    state.take(other, [b.call(1, t=2.0)])
    assert [item.run.header.run for item in state.rows()] == [b.header().run, "other"]
    press(state, "k")
    assert state.chosen().run is state.runs[0]
    state.take(state.runs[0], [b.call(2, t=3.0)])
    assert (state.chosen().run, state.chosen().subject.number) == (state.runs[0], 1)


def test_a_run_that_ended_with_nothing_to_show_goes_when_there_is_another():
    state = begun()
    state.end(state.runs[0])
    assert not state.several
    assert state.ended
    other = state.begin(b.header(run="other"), Look())
    assert (state.runs, state.several, state.ended) == ([other], False, False)


def test_only_the_newest_runs_that_ended_are_kept_with_what_was_found_in_them():
    state = ConsoleState()
    for n in range(MOST_OVER + 5):
        run = state.begin(b.header(run=f"r{n}"), Look())
        state.take(run, [b.call(1)], [b.finding("HDR-001")])
        state.end(run)
    assert [run.header.run for run in state.runs] == [f"r{n}" for n in range(5, MOST_OVER + 5)]
    assert {found.run for found in state.findings} == set(state.runs)
    assert state.total == MOST_OVER
    assert state.found["error"] == MOST_OVER + 5


def test_calls_of_runs_that_ended_are_forgotten_before_those_of_others():
    state = begun()
    state.take(state.runs[0], [b.call(n) for n in range(1, 11)])
    state.end(state.runs[0])
    other = state.begin(b.header(run="other"), Look())
    state.take(other, [b.call(n) for n in range(1, MOST + 1)])
    assert (state.total, len(other.calls)) == (MOST, MOST)
