from __future__ import annotations

from pathlib import Path
from time import process_time

import msgspec
import pytest

from mcp_tap.wrapping import entries
from mcp_tap.wrapping.clients import read_notation, servers
from mcp_tap.wrapping.entries import PORTS
from mcp_tap.wrapping.notation import Unreadable
from tests.wrapping import FIXTURES, PROGRAM, Book, client_of, unwrapped, wrapped

IDS = [f"{path.parent.name}/{path.name}" for path in FIXTURES]


@pytest.fixture(params=[b"\n", b"\r\n"], ids=["lf", "crlf"])
def newline(request):
    return request.param


@pytest.mark.parametrize("path", FIXTURES, ids=IDS)
def test_every_client_s_file_is_as_before_when_unwrapped(path, newline):
    for before in (path.read_bytes(), b"\xef\xbb\xbf" + path.read_bytes()):
        data, book, client = before.replace(b"\n", newline), Book(), client_of(path)
        changed, outcomes = wrapped(data, book, path.name, client)
        assert changed != data
        assert any(outcome.state == "wrapped" for outcome in outcomes)
        again, told = wrapped(changed, book, path.name, client)
        assert again == changed
        assert {outcome.state for outcome in told} <= {"already wrapped", "skipped"}
        assert unwrapped(changed, book, path.name, client)[0] == data


@pytest.mark.parametrize("path", FIXTURES, ids=IDS)
def test_every_client_s_file_says_what_it_said_but_for_the_tap(path):
    data, book, client = path.read_bytes(), Book(), client_of(path)
    changed, outcomes = wrapped(data, book, path.name, client)
    was, now = (read_notation(path, part).value for part in (data, changed))
    for outcome in outcomes:
        old, new = was, now
        for name in outcome.path:
            old, new = old[name], new[name]
        if isinstance(old.get("command"), dict):
            old, new = old["command"], new["command"]
        name = "path" if "path" in old else "command"
        if outcome.state == "wrapped" and outcome.kind == "stdio":
            args = new.pop("args")
            assert new.pop(name) == PROGRAM
            assert args[args.index("--") + 1 :] == [old.pop(name), *old.pop("args", [])]
        elif outcome.state == "wrapped":
            url = next(key for key in ("httpUrl", "serverUrl", "url") if key in old)
            assert new.pop(url).startswith(f"http://127.0.0.1:{outcome.port}")
            old.pop(url)
    assert now == was


def test_a_command_goes_behind_the_tap_with_all_its_words():
    data = b'{"mcpServers": {"fs": {"command": "npx", "args": ["-y", "x"], "env": {"A": "1"}}}}'
    changed, _ = wrapped(data, Book())
    assert changed == (
        b'{"mcpServers": {"fs": {"command": "/opt/tap/bin/mcp-tap", "args": ["stdio", "--label", '
        b'"fs", "--", "npx", "-y", "x"], "env": {"A": "1"}}}}'
    )


def test_only_the_origin_of_a_url_changes_and_the_query_is_kept_from_the_command():
    data = b'{"mcpServers": {"s": {"url": "https://a.example:8443/mcp?key=secret#x"}}}'
    book = Book()
    changed, [outcome] = wrapped(data, book)
    assert changed == b'{"mcpServers": {"s": {"url": "http://127.0.0.1:17770/mcp?key=secret#x"}}}'
    assert (outcome.upstream, outcome.port) == ("https://a.example:8443/mcp", PORTS[0])
    assert "secret" not in str(book.known)


def test_what_was_edited_around_the_tap_stays_when_it_is_taken_out():
    data = b'{"mcpServers": {"a": {"command": "x"}, "b": {"url": "https://h/p"}}}'
    book = Book()
    changed, _ = wrapped(data, book)
    edited = changed.replace(b'{"mcpServers"', b'{"new": [1,2], "mcpServers"').replace(b"/p", b"/q")
    wanted = data.replace(b'{"mcpServers"', b'{"new": [1,2], "mcpServers"').replace(b"/p", b"/q")
    assert unwrapped(edited, book)[0] == wanted


def test_a_file_written_anew_by_a_program_is_unwrapped_to_the_same_meaning():
    data = b'{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y", "args": ["1"]}}}'
    book = Book()
    changed, _ = wrapped(data, book)
    anew = msgspec.json.format(changed, indent=4)
    assert msgspec.json.decode(unwrapped(anew, book)[0]) == msgspec.json.decode(data)


def test_a_comma_that_a_formatter_put_behind_the_last_word_goes_with_it():
    book = Book()
    changed, _ = wrapped(b'{"mcpServers": {"a": {"command": "x", "args": []}}}', book)
    formatted = changed.replace(b'"x"]', b'"x",\n]')
    back, _ = unwrapped(formatted, book)
    assert read_notation(FIXTURES[0].with_suffix(".json"), back).value == {
        "mcpServers": {"a": {"command": "x", "args": []}}
    }


def test_what_a_person_wrapped_by_hand_is_taken_out_too():
    words = b'"command": "C:\\\\t\\\\mcp-tap.exe", "args": ["--", "x", "--", "y"]'
    data = b'{"mcpServers": {"a": {%s}}}' % words
    back, [outcome] = unwrapped(data, Book())
    assert outcome.state == "unwrapped"
    assert back == b'{"mcpServers": {"a": {"command": "x", "args": ["--", "y"]}}}'


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (b'{"command": "x", "args": "-y"}', "no list of texts"),
        (b'{"command": "x", "args": [1]}', "no list of texts"),
        (b'{"command": "x", "args": null}', "no list of texts"),
        (b'{"url": "${HOST}/mcp"}', "a variable"),
        (b'{"url": "https://${HOST}/mcp"}', "a variable"),
        (b'{"url": "https://u:p@h/mcp"}', "user name"),
        (b'{"url": "\\u0068ttps://h/mcp"}', "escapes"),
        (b'{"url": "https://h\\u002eexample/mcp"}', "escapes"),
        (b'{"url": "https://h\\\\x/mcp"}', "escapes"),
        (b'{"url": "ws://h/mcp"}', "no host"),
        (b'{"settings": {}}', "neither a command nor a URL"),
        (b"{}", "neither a command nor a URL"),
    ],
)
def test_an_entry_that_cannot_be_wrapped_stays_and_the_rest_is_wrapped(entry, why):
    data = b'{"mcpServers": {"odd": ' + entry + b', "good": {"command": "y"}}}'
    changed, [odd, good] = wrapped(data, Book())
    assert (odd.state, good.state) == ("skipped", "wrapped")
    assert why in odd.why
    assert entry in changed


def test_a_name_that_looks_like_an_option_is_left_out():
    changed, [outcome] = wrapped(b'{"mcpServers": {"--": {"command": "x"}}}', Book())
    assert outcome.state == "skipped"
    assert PROGRAM.encode() not in changed


@pytest.mark.parametrize(
    "data",
    [
        b'{"mcpServers": {"a": {"command": "x", "command": "y"}}}',
        b'{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}',
        b'{"mcpServers": {}, "mcpServers": {"a": {"command": "x"}}}',
    ],
)
def test_a_name_that_stands_twice_on_the_way_is_refused(data):
    with pytest.raises(Unreadable, match="two members of one name"):
        wrapped(data, Book())


def test_names_that_stand_twice_elsewhere_do_no_harm():
    data = (
        b'{"x": {"y": 1, "y": 2}, "mcpServers": {"a": {"command": "x", "env": {"A": 1, "A": 2}}}}'
    )
    book = Book()
    changed, _ = wrapped(data, book)
    assert unwrapped(changed, book)[0] == data


def test_a_tap_that_nobody_remembers_is_told_of():
    data = b'{"mcpServers": {"a": {"url": "http://127.0.0.1:17771/mcp"}}}'
    back, [outcome] = unwrapped(data, Book())
    assert back == data
    assert outcome.state == "skipped"
    assert "not known here" in outcome.why


def test_slashes_with_a_backslash_come_back_as_they_were():
    data = b'{"mcpServers": {"a": {"url": "https:\\/\\/h.example\\/mcp"}}}'
    book = Book()
    changed, [outcome] = wrapped(data, book)
    assert outcome.upstream == "https://h.example/mcp"
    assert unwrapped(changed, book)[0] == data


def test_looking_changes_nothing_and_says_what_is_wrapped():
    data = b'{"mcpServers": {"a": {"command": "x"}, "b": {"url": "$U"}, "c": {}}}'
    book = Book()
    doc = read_notation(FIXTURES[0].with_suffix(".json"), data)
    client = client_of(FIXTURES[0])
    seen = [entries.look(doc, path, client.shape, book) for path in servers(client, doc.value)]
    assert [(one.state, bool(one.why)) for one in seen] == [
        ("not wrapped", False), ("not wrapped", True), ("not wrapped", True),
    ]  # fmt: skip
    doc = read_notation(FIXTURES[0].with_suffix(".json"), wrapped(data, book)[0])
    assert entries.look(doc, ("mcpServers", "a"), client.shape, book).state == "wrapped"


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("mcp.json", b'{"mcpServers": {"a": {"command": "x"}}, "most": [1e400, -0.0, 0.1000]}'),
        ("config.toml", b'most = [inf, nan]\n[mcp_servers.a]\ncommand = "x"\nleast = nan\n'),
    ],
)
def test_numbers_that_no_computer_has_are_no_hindrance(name, other):
    client = client_of(Path("codex" if name.endswith("toml") else "cursor") / name)
    book = Book()
    changed, [outcome] = wrapped(other, book, name, client)
    assert outcome.state == "wrapped"
    assert unwrapped(changed, book, name, client)[0] == other


def test_a_number_is_no_word_of_a_command():
    _, [outcome] = wrapped(b'{"mcpServers": {"a": {"command": "x", "args": [1.5]}}}', Book())
    assert (outcome.state, outcome.why) == ("skipped", "its args are no list of texts")


def test_many_servers_in_a_long_file_take_no_time_that_grows_with_both():
    many = {f"s{n}": {"command": "x", "args": ["y"]} for n in range(150)}
    data = msgspec.json.encode({"history": ["x" * 1000] * 2000, "mcpServers": many})
    started = process_time()
    changed, outcomes = wrapped(data, Book())
    assert process_time() - started < 1  # it was four
    assert len(outcomes) == changed.count(PROGRAM.encode()) == 150
