from __future__ import annotations

import pytest

from mcp_tap.core.model import Fault, Said
from mcp_tap.views.look import ASCII, LINES
from mcp_tap.views.words import (
    answer_words,
    ask_label,
    ask_words,
    awaited,
    duration,
    fault_words,
    marks,
    numbers,
    request_id,
    result_type,
    result_words,
    split,
    state,
    title,
)
from tests import builders as b


def many(count):
    rounds = [b.round_(n, n, n + 0.1, result_type="input_required") for n in range(1, count)]
    return b.call(1, rounds=[*rounds, b.round_(count, count, count + 0.1)])


@pytest.mark.parametrize(
    ("call", "signs"),
    [
        (b.call(1), "*"),
        (b.deploy(), "?-?-*"),
        (b.booking(), "?-_"),
        (b.failed(), "x"),
        (b.stream(), "==="),
        (b.call(1, end=None, outcome="open"), "."),
        (b.call(1, outcome="cancelled"), "/"),
        (b.call(1, outcome="cancelled", fault=Fault(code=-32800, message="")), "/"),
        (many(4), "?-?-?-*"),
        (many(9), "7?-?-*"),
    ],
)
def test_rounds_are_drawn_as_signs(call, signs):
    assert marks(call, ASCII) == signs


def test_a_failed_round_is_seen_even_where_rounds_are_only_counted():
    call = many(6)
    call.rounds[1].fault = Fault(code=-32602, message="Invalid or expired requestState")
    assert marks(call, ASCII) == "4x-?-*"


def test_lines_are_drawn_with_line_glyphs():
    assert marks(b.deploy(), LINES) == "?─?─*"


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (b.call(1), "ok"),
        (b.failed(), "error -32602"),
        (b.booking(), "waiting client"),
        (b.call(1, outcome="error"), "error"),
        (b.call(1, outcome="error", fault=Fault(code="upstream_down", message="")),
         "upstream down"),
        (b.call(1, outcome="error", fault=Fault(code="much_too_long_a_word", message="")),
         "much_too_lon.."),
        (b.call(1, outcome="error", fault=Fault(code="\x1b[2J", message="")), "error \\x1b[2J"),
    ],
)  # fmt: skip
def test_the_state_is_a_word_that_fits_its_column(call, word):
    assert state(call)[0] == word
    assert len(word) <= 14


def test_time_is_split_where_it_was_not_only_the_servers():
    assert split(b.call(1)) == ""
    assert split(b.deploy()) == "server 305ms, client 5.82s"
    assert split(b.call(1, tap_s=0.5, server_s=0.1)) == "server 100ms, tap 500ms"


def test_a_running_call_shows_its_time_so_far():
    assert duration(b.booking(), 23.0) == "8s"
    assert duration(b.booking(), None) == ""
    assert duration(b.deploy(), None) == "6.12s"


def test_names_from_the_wire_are_harmless():
    call = b.call(1, "\x1b]0;x\x07", method="tools/\ncall")
    assert title(call) == "tools/\\ncall \\x1b]0;x\\x07"
    assert ask_label(b.ask("k\x1b")) == "k\\x1b (form)"
    assert fault_words(Fault(code="\x9b", message="\r")) == "\\x9b: \\r"
    assert request_id("\x1b") == '"\\x1b"'


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (b.ask("seat", params={"message": "Which?", "requestedSchema": {
            "properties": {"seat": {}, "bags": {}}, "required": ["seat"]}}),
         '"Which?"  fields seat*, bags'),
        (b.ask("c", kind="url", params={"message": "Go", "url": "https://x/\x1b"}),
         '"Go"  https://x/\\x1b'),
        (b.ask("s", kind="sampling", params={"messages": [
            {"role": "user", "content": {"type": "text", "text": "Capital?"}}]}),
         '{type: "text", text: "Capital?"}'),
        (b.ask("r", kind="roots", params={}), ""),
        (b.ask("x", params={"message": 3, "requestedSchema": {"properties": []}}), ""),
        (b.ask("x", kind="sampling", params={"messages": "no list"}), "null"),
    ],
)  # fmt: skip
def test_an_ask_says_what_it_wants(ask, words):
    assert ask_words(ask) == words


def test_an_ask_of_no_known_kind_shows_its_method():
    assert ask_label(b.ask("x", kind="other", method="ping/me")) == "x (ping/me)"


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (b.answered("c"), "accept {ok: true}, by client, after 2.00s"),
        (b.answered("c", "decline"), "decline, by client, after 2.00s"),
        (b.answered("c", answered_by="tap", entry="confirm deploys"),
         'accept {ok: true}, by tap "confirm deploys", after 2.00s'),
        (b.answered("c", "answered", answer={"roots": []}),
         "answered {roots: []}, by client, after 2.00s"),
        (b.ask("c"), "no answer"),
    ],
)  # fmt: skip
def test_an_answer_says_what_by_whom_and_how_soon(ask, words):
    assert answer_words(ask) == words


@pytest.mark.parametrize(
    ("fault", "status", "words"),
    [
        (Fault(code=-32602, message="no"), 200, "-32602: no"),
        (Fault(code=-32602, message=""), 200, "-32602"),
        (Fault(code=401, message="who?"), 401, "HTTP 401: who?"),
        (Fault(code=401, message="who?"), 200, "401: who?"),
        (Fault(code=None, message="no response"), 200, "no response"),
        (Fault(code="upstream_cut", message="it broke off"), 200, "it broke off"),
        (Fault(code=-32603, message="mcp-tap: no server", sender="tap"), 502,
         "-32603, by mcp-tap: no server"),
        (Fault(code=403, message="foreign Host", sender="tap"), 403,
         "HTTP 403, by mcp-tap: foreign Host"),
        (Fault(code="tap_failed", message="a fault of mcp-tap: KeyError: 'x'", sender="tap"), None,
         "a fault of mcp-tap: KeyError: 'x'"),
        (Fault(code="tap_failed", message="a fault of mcp-tap", sender="tap"), None,
         "a fault of mcp-tap"),
    ],
)  # fmt: skip
def test_a_fault_names_its_sender_only_where_that_is_the_tap(fault, status, words):
    assert fault_words(fault, status) == words


@pytest.mark.parametrize(
    ("calls", "words"),
    [
        ([3], "#3"),
        ([3, 5], "#3 or #5"),
        ([3, 5, 7], "#3, #5 or #7"),
        ([1, 2, 3, 4, 5, 6, 7, 8], "#1, #2, #3, #4, #5, #6 or 2 more"),
    ],
)
def test_calls_of_which_one_is_meant_are_listed_with_or(calls, words):
    assert numbers(calls) == words


def test_it_is_said_who_has_to_act():
    assert awaited(b.booking()) == "waiting for the client to answer seat"
    assert awaited(b.call(1, end=None, outcome="open")) == "waiting for the server"
    assert awaited(b.stream()) == "a stream, still open"
    assert awaited(b.deploy()) == ""


def test_of_a_run_that_is_over_it_is_said_who_did_not():
    call = b.booking()
    assert awaited(call, over=True) == "the client never answered seat"
    call.rounds[-1].asks = []
    assert awaited(call, over=True) == "the client never repeated it"
    open_ = b.call(1, end=None, outcome="open")
    assert awaited(open_, over=True) == "no result came before the run ended"
    assert awaited(b.deploy(), over=True) == ""


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (Said(text="4 results"), '"4 results"'),
        (Said(text="a\n\x1b[2J", more=2), '"a\\n\\x1b[2J", +2 blocks'),
        (Said(text="x" * 100, more=1, unit="message"), f'"{"x" * 25}.., +1 message'),
        (Said(block="image\x1b", more=1), "image\\x1b, +1 block"),
        (Said(words=("7 tools", 'nextCursor "\x1b"')), '7 tools, nextCursor "\\x1b"'),
        (Said(), ""),
        (None, ""),
    ],
)
def test_a_result_is_told_in_one_line_that_fits(said, words):
    told = result_words(b.round_(1, 1.0, 2.0, result=said), 40)
    assert told == words
    assert len(told) <= 40


def test_a_result_is_not_told_where_asks_or_a_fault_tell_it():
    said = Said(text="no", more=1)
    assert result_words(b.round_(1, 1.0, 2.0, result=said, asks=[b.ask("a")]), 40) == ""
    fault = Fault(code="isError", message="no")
    assert result_words(b.round_(1, 1.0, 2.0, result=said, fault=fault), 40) == "isError, +1 block"
    assert result_words(b.round_(1, 1.0, 2.0, result=Said(text="no"), fault=fault), 40) == ""


@pytest.mark.parametrize(
    ("wire", "said", "era", "words"),
    [
        ("complete", Said(), "stateless", "complete"),
        ("vendor\x1b", Said(), "stateless", "vendor\\x1b"),
        (None, Said(), "stateless", "complete, no resultType"),
        (None, Said(), "session", "complete"),
        (None, None, "stateless", ""),
    ],
)
def test_what_kind_of_result_it_was_is_never_made_up(wire, said, era, words):
    assert result_type(b.round_(1, 1.0, 2.0, result_type=wire, result=said), era) == words


def test_the_key_of_a_request_of_its_own_is_shown_as_an_id():
    ask = b.ask("1", pushed=True)
    assert ask_label(ask) == "#1 (form)"
    call = b.booking()
    call.rounds[-1].asks = [ask]
    assert awaited(call) == "waiting for the client to answer #1"


def test_the_time_of_a_call_that_runs_is_that_of_whoever_has_to_act():
    call = b.booking()
    call.server_s, call.client_s = 0.2, 0.1
    assert split(call) == "server 200ms, client 100ms"
    assert split(call, 25.0) == "server 200ms, client 9.80s"
    call.outcome = "open"
    assert split(call, 25.0) == "server 9.90s, client 100ms"
