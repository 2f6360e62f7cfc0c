"""A round is answered whole or not at all, by the first entry that matches each ask."""

from __future__ import annotations

import pytest

from mcp_tap.answers import book as module
from mcp_tap.answers.book import Answered, Book, Unmatched
from mcp_tap.answers.recall import Recording
from tests.asks import OTP, TWO, book, form, of, question, roots, sampling, script, url


def entries(decided):
    return {key: found.entry for key, found in decided.answers.items()}


def content(decided, key="otp"):
    assert isinstance(decided, Answered), decided.why
    return decided.answers[key].answer["content"]


def test_the_first_match_wins():
    found = book(TWO).decide([form("ab", x=None), form("b", x=None)])
    assert entries(found) == {"ab": "first", "b": "second"}
    assert found.answers["ab"].answer == {"action": "accept", "content": {"x": "1"}}


def test_of_several_scripts_the_first_named_wins():
    both = Book([script(TWO, "a.toml"), script(OTP, "b.toml")], env={})
    assert entries(both.decide([form("otp", x=None)])) == {"otp": "second"}


def test_a_round_without_asks_is_answered():
    assert book("").decide([]) == Answered(answers={})


def test_one_ask_without_an_answer_leaves_the_round_unanswered():
    found = book(OTP).decide([form("otp", code=None), form("window", start=None, minutes=None)])
    assert isinstance(found, Unmatched)
    assert (found.how, [m.key for m in found.misses], found.answers) == ("pass", ["window"], {})


def test_a_round_that_is_not_answered_uses_up_no_answer():
    of_otp = book(OTP)
    for _ in range(3):
        of_otp.decide([form("otp", code=None), form("window")])
    assert content(of_otp.decide([form("otp", code=None)])) == {"code": "000000"}


def test_an_answer_for_another_kind_of_ask_does_not_match():
    text = """
    [[answer]]
    content = { x = "1" }
    [[answer]]
    action = "decline"
    [[answer]]
    text = "Paris."
    [[answer]]
    roots = []
    """
    asks = [form("f", x=None), url("https://a.example/", "u"), sampling("?", key="s"), roots("r")]
    assert entries(book(text).decide(asks)) == {
        "f": "answer 1", "u": "answer 2", "s": "answer 3", "r": "answer 4",
    }  # fmt: skip


def test_nothing_answers_an_ask_of_no_known_kind():
    found = book(TWO, unmatched="fail").decide([question("x", "other")])
    assert found.error.where == "something no client knows"


def test_an_answer_that_does_not_fit_fails_and_the_next_entry_is_not_tried():
    found = book(TWO).decide([form("ab", x={"type": "integer"})])
    assert (found.how, found.misses[0].entry, found.error.code) == (
        "fail", "first", "answer-misfit",
    )  # fmt: skip


def test_a_fault_of_the_script_fails_the_round_whatever_unmatched_says():
    found = book(TWO, unmatched="decline").decide([form("ab", x={"type": "integer"}), roots("r")])
    assert (found.how, [m.key for m in found.misses]) == ("fail", ["ab", "r"])


# rounds


def test_rounds_are_counted_within_one_call():
    of_otp = book(OTP)
    one, other = form("otp", code=None), of(form("otp", code=None), call=2)
    assert content(of_otp.decide([one])) == {"code": "000000"}
    assert content(of_otp.decide([other])) == {"code": "000000"}
    assert content(of_otp.decide([one])) == {"code": "123456"}
    assert content(of_otp.decide([other])) == {"code": "123456"}


def test_two_asks_of_one_round_get_the_answer_of_that_round():
    of_otp = book(OTP.replace('key = "otp"', 'key = "otp*"'))
    for code in ("000000", "123456"):
        found = of_otp.decide([form("otp1", code=None), form("otp2", code=None)])
        assert content(found, "otp1") == content(found, "otp2") == {"code": code}


def test_after_the_last_round_a_call_fails():
    of_otp = book(OTP, unmatched="pass")
    for _ in range(2):
        of_otp.decide([form("otp", code=None)])
    found = of_otp.decide([form("otp", code=None)])
    assert found.how == "fail"
    assert str(found.error) == (
        'error[answers-used-up]: answer "otp" is asked a 3rd time and has 2 answers\n'
        '  where: a.toml, answer 1, for ask "otp" of tools/call deploy, round 1\n'
        '  help: add one to each_round, or after_last = "repeat"'
    )


def test_after_the_last_round_the_last_answer_can_be_repeated():
    of_otp = book(OTP + 'after_last = "repeat"')
    said = [content(of_otp.decide([form("otp", code=None)]))["code"] for _ in range(4)]
    assert said == ["000000", "123456", "123456", "123456"]


def test_an_entry_without_rounds_says_the_same_each_time():
    of_two = book(TWO)
    assert len({str(of_two.decide([form("b", x=None)])) for _ in range(5)}) == 1


def test_a_call_that_ended_is_forgotten():
    of_otp = book(OTP)
    of_otp.decide([form("otp", code=None)])
    of_otp.forget(1)
    assert content(of_otp.decide([form("otp", code=None)])) == {"code": "000000"}


def test_only_so_many_calls_are_remembered(monkeypatch):
    monkeypatch.setattr(module, "MOST_CALLS", 2)
    of_otp = book(OTP)
    for call in (1, 2, 3):
        of_otp.decide([of(form("otp", code=None), call=call)])
    said = [content(of_otp.decide([of(form("otp", code=None), call=c)]))["code"] for c in (3, 1)]
    assert said == ["123456", "000000"]


def test_an_entry_can_answer_for_so_many_calls_only():
    text = TWO.replace('match = { key = "a*" }', "times = 2")
    of_two = book(text)
    calls = [1, 2, 1, 3, 2]
    found = [of_two.decide([of(form("q", x=None), call=call)]) for call in calls]
    assert [entries(one)["q"] for one in found] == ["first", "first", "first", "second", "first"]


@pytest.mark.parametrize(
    ("number", "word"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (22, "22nd")]
)
def test_ordinals_are_spelled_as_people_do(number, word):
    assert module._nth(number) == word


# unmatched


@pytest.mark.parametrize("how", ["fail", "ask", "pass"])
def test_an_unmatched_round_is_handled_as_the_script_says(how):
    found = book(f'unmatched = "{how}"').decide([form()])
    assert (found.how, found.answers) == (how, {})


def test_what_stands_on_the_command_line_beats_the_script_and_the_script_the_default():
    assert book('unmatched = "ask"', unmatched="fail").decide([form()]).how == "fail"
    assert book('unmatched = "ask"', default="fail").decide([form()]).how == "ask"
    assert book("", default="fail").decide([form()]).how == "fail"


@pytest.mark.parametrize("how", ["decline", "cancel"])
def test_a_whole_round_is_declined_or_cancelled(how):
    found = book(f'unmatched = "{how}"\n{OTP}').decide(
        [form("otp", code=None), url("https://a.example/", "u")]
    )
    assert found.how == how
    assert {k: (g.entry, g.answer) for k, g in found.answers.items()} == {
        "otp": (None, {"action": how}),
        "u": (None, {"action": how}),
    }


def test_only_elicitations_can_be_declined():
    found = book('unmatched = "decline"').decide([form(), sampling("?")])
    assert (found.how, found.answers) == ("fail", {})


def test_a_client_is_never_passed_what_it_has_not_declared():
    asks = [form(), of(roots(), declared=False)]
    assert book('unmatched = "pass"').decide(asks).how == "fail"


def test_nothing_answers_is_told_with_what_each_entry_wants():
    text = """
    [[answer]]
    name = "confirm deploys"
    match = { tool = "deploy", key = "confirm" }
    content = { proceed = true }
    [[answer]]
    name = "anything that asks for a region"
    match = { field = "region" }
    content = { region = "eu" }
    """
    ask = of(form("window", start=None, minutes=None, required=["start"]), round=2)
    found = Book([script(text, "deploy.toml")], env={}).decide([ask])
    assert str(found.error) == (
        'error[no-answer]: nothing in deploy.toml answers ask "window" of tools/call deploy,'
        " round 2\n"
        "  where: form, fields start*, minutes\n"
        '  why:  "confirm deploys" wants key "confirm"; "anything that asks for a region" wants'
        ' field "region"\n'
        "  help: mcp-tap answers new CAPTURE --call N >> deploy.toml"
    )
    assert found.why.startswith('nothing in deploy.toml answers ask "window"')


def test_of_many_entries_only_some_are_told():
    text = '[[answer]]\nmatch = { key = "x" }\naction = "decline"\n' * 9
    why = book(text).decide([form()]).error.why
    assert why.count("wants key") == 4
    assert why.endswith("; and 5 more")


def test_an_entry_that_is_used_up_says_so():
    of_two = book('[[answer]]\ntimes = 1\naction = "decline"')
    of_two.decide([form()])
    assert "has answered for 1 calls" in of_two.decide([of(form(), call=2)]).error.why


def test_where_asks_come_from_a_capture_the_draft_that_helps_is_spelled():
    found = book("", unmatched="fail")
    found.source = "run.jsonl"
    help = found.decide([of(form(), call=16)]).error.help
    assert help == "mcp-tap answers new run.jsonl --call 16 >> a.toml"


# what it can do


@pytest.mark.parametrize(
    ("text", "capabilities"),
    [
        ("", {}),
        ("[[answer]]\ncontent = {}", {"elicitation": {"form": {}}}),
        ('[[answer]]\naction = "accept"', {"elicitation": {"form": {}, "url": {}}}),
        ('[[answer]]\nmatch = { mode = "url" }\naction = "accept"', {"elicitation": {"url": {}}}),
        ('[[answer]]\nmatch = { url = "https://a.example/*" }\naction = "decline"',
         {"elicitation": {"url": {}}}),
        ('[[answer]]\nmatch = { field = "day" }\naction = "decline"',
         {"elicitation": {"form": {}}}),
        ('[[answer]]\ntext = "x"\n[[answer]]\nroots = []', {"sampling": {}, "roots": {}}),
        ('unmatched = "decline"', {"elicitation": {"form": {}, "url": {}}}),
        ('unmatched = "ask"',
         {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}),
        ('advertise = []\n[[answer]]\ntext = "x"', {}),
        ('advertise = ["roots", "elicitation"]\n[[answer]]\ncontent = {}',
         {"elicitation": {"form": {}}}),
    ],
)  # fmt: skip
def test_what_can_be_answered_is_what_is_advertised(text, capabilities):
    assert book(text).advertised() == capabilities


def test_the_command_line_says_what_is_advertised():
    text = 'advertise = ["roots"]\n[[answer]]\ncontent = {}\n[[answer]]\nroots = []'
    assert book(text, advertise=frozenset({"form"})).advertised() == {"elicitation": {"form": {}}}


def test_a_capture_can_answer_what_was_answered_in_it():
    text = '[[answer]]\nfill = ["capture"]\ncapture = "x.jsonl"'
    recorded = {("a.toml", "x.jsonl"): Recording([(form(), {"action": "decline"})])}
    assert book(text, recorded=recorded).kinds() == {"form"}


def test_entries_that_never_matched_are_named():
    of_two = book(TWO)
    assert of_two.unused() == ["first", "second"]
    of_two.decide([form("b", x={"type": "integer"})])
    assert of_two.unused() == ["first"]


def test_variables_that_are_missing_are_named_with_their_entries():
    text = '[[answer]]\ncontent = { a = { env = "A" }, b = { env = "B" } }'
    assert [(e.number, name) for e, name in book(text, {"A": "x"}).missing()] == [(1, "B")]


def test_a_person_is_asked_only_what_no_entry_answers():
    of_both = Book([script(OTP)], env={}, unmatched="ask")
    found = of_both.decide([form("otp", code=None), form("window")])
    assert isinstance(found, Unmatched)
    assert (found.how, [m.key for m in found.misses]) == ("ask", ["window"])
    assert found.answers["otp"].answer["content"] == {"code": "000000"}
    again = of_both.decide([form("otp", code=None)])
    assert content(again) == {"code": "123456"}, "the person's round counted"
    assert of_both.kinds() == {"form", "url", "sampling", "roots"}


def test_without_a_script_that_is_said():
    found = Book([], env={}, unmatched="fail").decide([form("who")])
    assert isinstance(found, Unmatched)
    assert found.error.what.startswith('no script answers ask "who"')
    assert found.error.why == "none was given"


def test_what_is_added_goes_before_all_and_counts_stay_with_their_entries():
    of_otp = book(OTP)
    assert content(of_otp.decide([form("otp", code=None)])) == {"code": "000000"}
    of_otp.add(script(TWO.replace("a*", "x*").replace('name = "second"', 'match = { key = "y" }')))
    assert content(of_otp.decide([form("otp", code=None)])) == {"code": "123456"}
    assert entries(of_otp.decide([form("xy", x=None)])) == {"xy": "first"}
    assert of_otp.unused() == ["answer 2"]
    assert len(of_otp.scripts) == 2
