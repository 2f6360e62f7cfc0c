"""What a run over HTTP takes from the captures it replays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcp_tap.cli.replayed import ReplayedServer, upstream_of
from mcp_tap.replay.index import Index
from mcp_tap.replay.server.player import Request
from tests.replays import Heard, complete, cutting, exchange, index_of, masking, request


@pytest.mark.parametrize(
    ("recorded", "named"),
    [
        ("https://h:1/v1/mcp", "https://h:1/v1/mcp"),
        ("http://mcp-tap:00000000000000aa/v1/mcp", "http://localhost/v1/mcp"),
        ("mcp-tap:00000000000000aa", "http://localhost/mcp"),
        ("http://[::1", "http://localhost"),
        ("python server.py", "http://localhost/mcp"),
    ],
)
def test_a_replay_has_the_recorded_path_also_where_the_host_is_masked(tmp_path, recorded, named):
    path = tmp_path / "run.jsonl"
    with index_of(path, exchange(request(1), complete(1, "x"))):
        pass
    path.write_text(path.read_text().replace("http://localhost:3000/mcp", recorded, 1))
    with Index.of([str(path)]) as index:
        assert upstream_of(index) == named


@pytest.fixture
def replayed(tmp_path):
    """Give what serves some captures, and what it tells."""
    made = []

    def make(index, **options):
        told = []
        server = ReplayedServer(
            [capture.name for capture in index.captures],
            index,
            path="/mcp",
            tell=told.append,
            **{
                "after_last": "repeat",
                "on_miss": "error",
                "forward": None,
                "pace": None,
                **options,
            },
        )
        made.append(index)
        return server, told

    yield make
    for index in made:
        index.close()


async def test_what_was_not_recorded_is_told_once_and_is_the_exit_code(replayed, tmp_path):
    server, told = replayed(index_of(tmp_path / "a.jsonl", exchange(request(1), complete(1, "x"))))
    assert await server.start()
    assert server.code == 0
    player = server.pool().player
    for number, arguments in ((1, {"n": 1}), (2, {"n": 2}), (3, {"n": 2}), (4, {"n": 3})):
        body = json.dumps(request(number, arguments=arguments)).encode()
        player.take(Request(body=body), Heard())
    assert [text.count("error[not-recorded]") for text in told] == [1, 1]
    assert server.code == 1
    await server.stop()


def edited(index, *lines):
    """Read the first capture again, with other lines."""
    path = Path(index.captures[0].name)
    index.close()
    path.write_bytes(b"".join(lines))
    return Index.of([str(path)])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda lines: lines, "(1 call)"),
        (lambda lines: [*lines[:-1], lines[-1][:9]], "(1 call, the last line torn)"),
        (lambda lines: [lines[0], *lines[2:]], "1 record LOST)"),
    ],
    ids=["whole", "torn", "lost"],
)
def test_the_first_words_say_what_cannot_be_as_it_was(replayed, tmp_path, change, words):
    index = index_of(tmp_path / "a.jsonl", exchange(request(1), complete(1, "x")))
    lines = (tmp_path / "a.jsonl").read_bytes().splitlines(keepends=True)
    server, _ = replayed(edited(index, *change(lines)))
    assert server.words.startswith(f"{tmp_path}/a.jsonl (")
    assert server.words.endswith(words)


def test_masked_messages_and_several_captures_are_counted(replayed, tmp_path):
    for name in "ab":
        made = exchange(request(1), complete(1, "x"))
        index_of(tmp_path / f"{name}.jsonl", made, edit=masking).close()
    server, _ = replayed(Index.of([f"{tmp_path}/a.jsonl", f"{tmp_path}/b.jsonl"]))
    assert server.words == (
        "2 captures (2 calls, 2 messages with masked values, which match anything)"
    )


def test_messages_that_were_not_recorded_whole_are_counted(replayed, tmp_path):
    made = exchange(request(1), complete(1, "x"))
    server, _ = replayed(index_of(tmp_path / "a.jsonl", made, edit=cutting))
    assert server.words.endswith("1 message not recorded whole, which cannot be served)")


def test_a_run_of_stdio_is_served_under_a_path_of_its_own(tmp_path):
    line = {"from": "client", "line": '{"jsonrpc":"2.0","id":1,"method":"ping"}'}
    with index_of(tmp_path / "a.jsonl", lines=[line]) as index:
        assert upstream_of(index) == "http://localhost/mcp"
