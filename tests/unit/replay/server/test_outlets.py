"""What a replay says in its own words."""

from __future__ import annotations

from mcp_tap.replay.server.outlets import say
from tests.replays import Heard


def test_words_of_its_own_are_json_and_end_the_response():
    heard = Heard()
    say(heard, 404, "Not Found", b'{"jsonrpc":"2.0"}')
    assert (heard.status, heard.headers) == (404, {"Content-Type": "application/json"})
    assert (heard.messages, heard.over) == ([{"jsonrpc": "2.0"}], "end")


def test_an_answer_without_words_has_no_type():
    heard = Heard()
    say(heard, 202, "Accepted")
    assert (heard.status, heard.headers, heard.messages, heard.over) == (202, {}, [], "end")
