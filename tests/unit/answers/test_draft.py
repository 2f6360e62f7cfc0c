"""A draft says what was said, with as few entries and conditions as that takes."""

from __future__ import annotations

import tomllib

from mcp_tap.answers.draft import draft
from tests.asks import form, of, question, roots, sampling, script, url

YES, NO = {"action": "accept", "content": {"a": "yes"}}, {"action": "decline"}


def ask(call, *, message="Sure?", n=1, **changes):
    return of(form("q", message=message, a=None), call=call, arguments={"n": n}, **changes)


def drafted(*calls):
    text = draft(calls, source="run.jsonl", capture=None)
    script(text)
    return tomllib.loads(text).get("answer", [])


def test_a_draft_is_a_file_or_what_is_added_to_one():
    calls = [[(ask(1), YES)]]
    whole = draft(calls, source="run.jsonl\nx", capture=None)
    part = draft(calls, source="run.jsonl", capture=None, only=3)
    assert whole.startswith('# Drafted from run.jsonl\\nx.\nversion = 1\nunmatched = "fail"\n\n[[')
    assert script(whole).unmatched == "fail"
    assert part.startswith("# Drafted from run.jsonl, call 3.\n\n[[answer]]")
    assert [e.name for e in script(whole + part).entries] == ["deploy q", "deploy q, call 3"]


def test_what_is_answered_alike_is_one_entry():
    (one,) = drafted([(ask(1), YES), (ask(1, round=2), YES)], [(ask(2, n=2, message="!"), YES)])
    assert one == {
        "name": "deploy q",
        "match": {"tool": "deploy", "key": "q"},
        "content": {"a": "yes"},
    }


def test_rounds_that_are_answered_in_turn_are_told_in_turn():
    (one,) = drafted(
        [(ask(1), YES), (ask(1, round=2), NO)], [(ask(2), YES)], [(ask(3), YES), (ask(3), NO)]
    )
    assert one["each_round"] == [{"content": {"a": "yes"}}, {"action": "decline"}]
    assert one["match"]["mode"] == "form"


def test_messages_tell_apart_what_is_answered_in_different_ways():
    one, other = drafted([(ask(1, message="Pay 3.50?"), YES)], [(ask(2, message="Pay?"), NO)])
    assert one["match"]["message"] == r"^Pay 3\.50\?$"
    assert other["match"] == {"tool": "deploy", "key": "q", "message": r"^Pay\?$", "mode": "form"}
    assert "arguments" not in one["match"]


def test_arguments_tell_apart_what_messages_do_not():
    calls = [[(of(ask(n), arguments={"n": n, "same": 1, "odd": None}), YES if n < 2 else NO)]
             for n in (1, 2)]  # fmt: skip
    found = drafted(*calls)
    assert [one["match"]["arguments"] for one in found] == [{"n": 1}, {"n": 2}]


def test_what_nothing_tells_apart_is_told_in_the_order_of_the_calls():
    found = drafted(*([(ask(n), said)] for n, said in enumerate([YES, YES, NO, YES])))
    assert [(one.get("times"), "content" in one) for one in found] == [
        (2, True), (1, False), (None, True),
    ]  # fmt: skip
    assert len({one["name"] for one in found}) == 3


def test_a_masked_message_tells_nothing():
    mask = "mcp-tap:0123456789abcdef"
    found = drafted([(ask(1, message=mask), YES)], [(ask(2, message="Sure?", n=2), NO)])
    assert not any(mask in str(one) for one in found)


def test_without_a_key_the_message_is_the_condition():
    pushed = of(ask(1), key="7", pushed=True)
    (one,) = drafted([(pushed, YES)])
    assert one["match"] == {"tool": "deploy", "ask": "form", "message": r"^Sure\?$"}
    assert one["name"] == "deploy Sure?"
    bare = of(roots("8"), pushed=True, method=None, name=None)
    (one,) = drafted([(bare, {"roots": []})])
    assert one == {"name": "roots", "match": {"ask": "roots"}, "roots": []}


def test_prompts_and_resources_are_named():
    (one,) = drafted([(ask(1, method="resources/read", name="file:///a"), YES)])
    assert one["match"] == {"method": "resources/read", "name": "file:///a", "key": "q"}


def test_every_kind_of_ask_is_drafted():
    found = drafted(
        [
            (ask(1), YES),
            (url("https://a.example/"), {"action": "accept"}),
            (sampling("?"), {"content": {"type": "text", "text": "hi"}, "model": "m"}),
            (roots(), {"roots": [{"uri": "file:///a"}]}),
        ]
    )
    assert [sorted(one.keys() - {"name", "match"}) for one in found] == [
        ["content"], ["action"], ["model", "text"], ["roots"],
    ]  # fmt: skip


def test_what_nobody_answered_is_drafted_only_where_nothing_like_it_was():
    text = draft([[(ask(1), None), (ask(1, round=2), YES), (form("other", b=None), None)]],
                 source="x", capture=None)  # fmt: skip
    first, second = tomllib.loads(text)["answer"]
    assert (first["content"], second["match"]["key"]) == ({"a": "yes"}, "other")
    assert text.count("# nobody answered this one") == 1


def test_what_is_no_ask_is_not_drafted():
    assert drafted([(question("x", "other"), None)]) == []


def test_an_answer_that_did_not_fit_is_sent_again_as_it_was():
    (one,) = drafted([(ask(1), {"action": "accept", "content": {"a": 7}})])
    assert (one["content"], one["check"]) == ({"a": 7}, False)


def test_what_a_server_wrote_cannot_break_the_file():
    evil = 'x"]\n[[answer]]\naction = "accept"\n#\x1b[2J'
    found = drafted([(of(ask(1, message=evil, n=evil), key=evil, name=evil), YES)])
    assert len(found) == 1
    assert found[0]["match"] == {"tool": evil, "key": evil}


def test_what_was_asked_for_no_call_comes_last_so_that_it_takes_nothing_from_calls():
    folder = {"roots": [{"uri": "file:///srv/a"}]}
    other = {"roots": [{"uri": "file:///srv/b"}]}
    loose = of(roots("0"), method=None, name=None, arguments=None, pushed=True)
    for_a_call = of(roots("1"), pushed=True)
    one, last = drafted([(loose, folder)], [(for_a_call, other)])
    assert one["match"] == {"tool": "deploy", "ask": "roots"}
    assert (last["name"], last["match"]) == ("roots", {"ask": "roots"})
    assert last["roots"] == folder["roots"]
