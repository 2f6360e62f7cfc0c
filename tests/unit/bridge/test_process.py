from __future__ import annotations

import asyncio
import sys

import pytest

from mcp_tap.bridge.process import Gone, Process
from mcp_tap.errors import UsageError
from tests.bounds import until


def process(code):
    """Give a process that runs this, and what it says, in order."""
    told: list[object] = []
    command = [sys.executable, "-S", "-c", f"import os, signal, sys, time\n{code}"]
    return Process(
        command,
        line=told.append,
        words=lambda line: told.append(("stderr", line)),
        over=lambda: told.append("over"),
    ), told


async def test_lines_go_there_and_come_back_until_its_input_ends():
    server, told = process("for l in sys.stdin.buffer: os.write(1, b'<' + l)")
    await server.start()
    server.send(b"a")
    server.send(b"b\xff")
    await until(lambda: len(told) == 2)
    await server.stop(5, 5)
    assert told == [b"<a", b"<b\xff", "over"]
    assert server.how() == "exited with code 0"
    with pytest.raises(Gone):
        server.send(b"c")


async def test_what_it_writes_last_comes_before_its_end():
    server, told = process("os.write(2, b'words'); os.write(1, b'a\\nlast'); os._exit(3)")
    await server.start()
    await until(lambda: "over" in told)
    assert [each for each in told if isinstance(each, bytes)] == [b"a", b"last"]
    assert told.index("over") > told.index(b"last")
    await until(lambda: ("stderr", b"words") in told)
    assert server.how() == "exited with code 3"
    await server.stop()


@pytest.mark.parametrize(("number", "what"), [(0, "input"), (1, "output")])
async def test_it_is_over_when_it_has_closed_one_of_its_streams_only(number, what):
    server, told = process(f"os.close({number}); time.sleep(60)")
    await server.start()
    await until(lambda: told == ["over"])
    assert server.how() == f"closed its {what}"
    await server.stop(0, 5)


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("sys.stdin.read()", "exited with code 0"),
        ("time.sleep(60)", "was ended by SIGTERM"),
        (
            "signal.signal(signal.SIGTERM, signal.SIG_IGN); os.write(1, b'up\\n'); time.sleep(60)",
            "was ended by SIGKILL",
        ),
    ],
)
async def test_it_is_shut_down_in_the_order_of_the_specification(code, how):
    server, told = process(code)
    await server.start()
    if "up" in code:
        await until(lambda: told)
    await server.stop(5 if "stdin" in code else 0.02, 0.1 if "up" in code else 5)
    await until(lambda: server._child.status is not None)
    assert server.how() == how


async def test_what_it_has_started_ends_with_it():
    server, told = process("if pid := os.fork(): os.write(1, b'%d\\n' % pid)\nelse: time.sleep(60)")
    await server.start()
    await until(lambda: told)
    await server.stop(0.02, 5)
    assert not server._child.has_group()


async def test_a_command_that_is_not_there_is_said():
    server = Process(["/no/such"], line=print, words=print, over=print)
    with pytest.raises(UsageError, match="there is no command /no/such"):
        await server.start()
    await server.stop()


async def test_who_sends_more_than_is_read_can_wait():
    server, told = process("time.sleep(0.05); print(sum(len(l) for l in sys.stdin))")
    await server.start()
    server.send(b"x" * (1 << 20))
    assert not server.reads
    await server.room()
    await server.stop(5, 5)
    assert told == [b"%d" % ((1 << 20) + 1), "over"]


async def test_what_is_to_end_before_it_is_all_there_leaves_nothing_open():
    server, _ = process("sys.stdin.buffer.read()")
    await asyncio.gather(server.stop(5, 5), server.start())
    assert all(pipe.is_closing() for pipe in (server._stdin, server._stdout, server._stderr))
