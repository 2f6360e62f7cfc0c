from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mcp_tap.core.finding import Finding
from mcp_tap.views.console_state import MOST, MOST_EXCHANGES, ConsoleState, place
from mcp_tap.views.look import Look
from tests import builders as b


@pytest.fixture
def state():
    made = ConsoleState()
    made.begin(b.header(), Look(start=datetime(2026, 7, 28, 12, 4, tzinfo=UTC)))
    made.take(b.run())
    made.now = 23.0
    return made


def press(state, *keys):
    return [state.press(key) for key in keys]


def type_(state, text):
    press(state, "/", "clear", *("space" if c == " " else c for c in text), "enter")


def shown(state):
    return [change.number for change in state.rows()]


def test_calls_are_listed_in_the_order_they_began(state):
    state.take([b.exchange(31, t=3.5, status=403, how="refused")])
    assert shown(state) == [14, 15, 31, 16, 17, 18, 19]


def test_the_newest_is_followed_until_another_is_chosen(state):
    assert state.chosen().number == 19
    press(state, "k", "k")
    assert state.chosen().number == 17
    state.take([b.call(20, t=20.0)])
    assert state.chosen().number == 17
    press(state, "G")
    state.take([b.call(21, t=21.0)])
    assert state.chosen().number == 21


@pytest.mark.parametrize(
    ("keys", "number"),
    [
        ("g", 14), ("home", 14), ("k up", 17), ("k j", 19), ("g j down", 16),
        ("pageup", 14), ("g pagedown", 19), ("g G", 19), ("g end", 19), ("x", 19),
    ],
)  # fmt: skip
def test_keys_move_the_choice(state, keys, number):
    press(state, *keys.split())
    assert state.chosen().number == number


def test_the_choice_stays_on_its_call_when_earlier_ones_are_forgotten(state):
    press(state, "k", "k", "k")
    assert state.position(state.rows()) == 2
    type_(state, "tool:deploy | tool:exprt")
    assert shown(state) == [16, 18]
    assert state.chosen().number == 18


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
    state.take([booked])
    assert 17 in shown(state)


def test_a_paused_list_stands_still(state):
    press(state, "space")
    state.take([b.call(20, t=20.0)])
    assert state.paused
    assert 20 not in shown(state)
    press(state, "space")
    assert 20 in shown(state)


def test_enter_opens_the_call_and_keys_scroll_in_it(state):
    press(state, "enter", "j", "j", "k")
    assert (state.open, state.scroll, state.chosen().number) == (True, 1, 19)
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
    state = ConsoleState()
    for key in ("j", "k", "g", "G", "enter", "esc", "space", "y", "pageup", "?", "?", "tab"):
        state.press(key)
    assert state.chosen() is None
    assert not state.open


def test_only_so_many_calls_are_kept_and_running_ones_first(state):
    state.take(b.call(n, t=float(n)) for n in range(100, 100 + MOST + 50))
    assert state.total == MOST
    assert {17, 19} <= set(shown(state))
    assert shown(state)[-1] == 100 + MOST + 49


def test_bounds_hold_when_everything_runs():
    state = ConsoleState()
    state.take(b.call(n, end=None, outcome="open") for n in range(MOST + 5))
    state.take(b.exchange(n, status=500) for n in range(MOST_EXCHANGES + 5))
    assert state.total == MOST
    assert len(state.rows()) == MOST + MOST_EXCHANGES


def test_a_new_run_forgets_the_old(state):
    press(state, "k", "space")
    state.begin(b.header(run="other"), Look())
    assert (shown(state), state.paused, state.selected) == ([], False, None)


def test_only_running_calls_need_their_time_drawn_anew(state):
    assert state.running
    state.ended = True
    assert not state.running


def test_rows_are_ordered_by_time_and_number():
    assert place(b.call(3, t=1.5)) == (1.5, 3)


def test_exchanges_that_did_not_fail_are_listed_when_a_filter_speaks_of_them(state):
    get = b.exchange(40, t=18.0, verb="GET", kind="http", method=None, status=200, how=None)
    delete = b.exchange(41, t=18.5, verb="DELETE", kind="http", method=None, status=200)
    state.take([get, delete])
    assert {40, 41}.isdisjoint(shown(state))
    type_(state, "kind:http")
    assert shown(state) == [40, 41]
    get.how = "upstream_cut"
    state.take([get])
    type_(state, "")
    assert 40 in shown(state)
    assert 41 not in shown(state)


def test_exchanges_that_went_well_push_no_failed_one_out():
    state = ConsoleState()
    state.take([b.exchange(1, status=500)])
    state.take(b.exchange(n, t=float(n)) for n in range(2, MOST_EXCHANGES + 50))
    assert shown(state) == [1]
    type_(state, "kind:notification")
    assert len(shown(state)) == MOST_EXCHANGES + 1


def finding(rule="MRTR-016", severity="error", seq=7):
    return Finding(
        rule=rule,
        name="x",
        severity=severity,
        level="must",
        blame="client",
        message="m",
        seq=seq,
        t=1.0,
        call=16,
    )


def test_x_shows_the_page_of_the_worst_finding_of_the_selected_call():
    state = ConsoleState()
    call = b.failed()
    call.findings = [finding("HDR-006", "warning", 9), finding("MRTR-016")]
    state.take([call], call.findings)
    state.press("x")
    assert state.explained.rule == "MRTR-016"
    state.press("j")
    assert state.scroll == 1
    state.press("esc")
    assert state.explained is None


def test_x_shows_the_newest_finding_where_the_call_has_none():
    state = ConsoleState()
    state.take([b.failed()], [finding("HDR-001"), finding("SEC-001")])
    state.press("x")
    assert state.explained.rule == "SEC-001"


def test_x_says_so_where_nothing_was_found():
    state = ConsoleState()
    state.take([b.failed()])
    state.press("x")
    assert state.explained is None
    assert state.message == "no rule has found anything"
