"""`--unmatched ask`: a person at a terminal, the demo server, a client that declares nothing."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from pathlib import Path

import pytest

from tests.bounds import BOUND
from tests.peers.programs import free_port
from tests.terminals import Person

ROOT = Path(__file__).parents[2]
CLIENT = """
import asyncio, os, sys
import aiohttp
from mcp_tap.demo import client as c
c.CAPABILITIES = {}

async def main():
    async with aiohttp.ClientSession() as session:
        client = c.DemoClient(session, os.environ["MCP_TAP_URL"], None)
        calls = [client.call(*word.split(":")[:1], {"service": "billing"}) for word in sys.argv[1:]]
        for result in await asyncio.gather(*calls, return_exceptions=True):
            said = result if isinstance(result, Exception) else result["content"][0]["text"]
            print("client:", said, flush=True)

asyncio.run(main())
"""

LEAVES = """
import asyncio, os
import aiohttp
from mcp_tap.demo import client as c
c.CAPABILITIES = {}

async def main():
    async with aiohttp.ClientSession() as session:
        client = c.DemoClient(session, os.environ["MCP_TAP_URL"], None)
        async with asyncio.TaskGroup() as group:
            leaver = group.create_task(client.call("rollback", {"service": "billing"}))
            while not os.path.exists("leave"):
                await asyncio.sleep(0.01)
            leaver.cancel()
        result = await client.call("rollback", {"service": "billing"})
        print("client:", result["content"][0]["text"], flush=True)

asyncio.run(main())
"""


class Desk(Person):
    """A terminal with a tap that runs there, and the person who sits at it."""

    process = None

    async def start(self, *words, child=(), client=CLIENT, session=False, stdin=None):
        port = free_port()
        server = shlex.join([sys.executable, "-m", "mcp_tap.demo.server", "--port", str(port)])
        runs = child or client is not CLIENT
        tail = ["--", sys.executable, "-c", client, *child] if runs else []
        self.process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "mcp_tap", "http", f"http://127.0.0.1:{port}/mcp", "-l", "0"),
            *("-w", "run.jsonl", "--color", "never", "--upstream-command", server, *words, *tail),
            stdin=self.end if stdin is None else stdin,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=session,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )

    async def ended(self):
        async with asyncio.timeout(BOUND):
            out, err = await self.process.communicate()
        return self.process.returncode, out.decode(), err.decode()


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = Desk()
    yield made
    if made.process is not None and made.process.returncode is None:
        made.process.kill()
    made.leave()


async def test_person_answers_both_rounds_of_a_call(desk):
    await desk.start("--unmatched", "ask", "--view", "text", "--check", child=["deploy"])
    await desk.sees("release-desk asks, for tools/call deploy, round 1")
    await desk.types("proceed*: ", "perhaps")
    await desk.types("write y or n", "y")
    await desk.types("strategy [1 rolling]: ", "2")
    await desk.types("[accept] ", "")
    await desk.sees("tools/call deploy, round 2")
    await desk.types("start* [2 tonight]: ", "1")
    await desk.types("minutes: ", "300")
    await desk.types("above its maximum of 90", "30")
    await desk.types("[accept] ", "a")
    code, out, err = await desk.ended()
    assert (code, out) == (0, "client: billing goes out now, blue-green\n"), err
    assert err.count('by tap "a person"') == 2


async def test_calls_that_ask_at_once_are_asked_one_after_the_other(desk):
    await desk.start("--unmatched", "ask", child=["rollback", "rollback"])
    for _ in range(2):
        await desk.sees("tools/call rollback")
        await desk.types("sure*: ", ":d")
    code, out, _ = await desk.ended()
    assert (code, out) == (0, "client: Nothing was rolled back\n" * 2)


async def test_script_answers_what_it_can_and_the_person_the_rest(desk, tmp_path):
    (tmp_path / "a.toml").write_text(
        'version = 1\nunmatched = "ask"\n[[answer]]\nname = "yes"\n'
        'match = { key = "confirm" }\ncontent = { proceed = true }\n'
    )
    await desk.start("-a", "a.toml", child=["deploy"])
    await desk.sees("tools/call deploy, round 2")
    await desk.types("start* [2 tonight]: ", "")
    await desk.types("minutes: ", "")
    await desk.types("[accept] ", "")
    code, out, _ = await desk.ended()
    assert (code, out) == (0, "client: billing goes out tonight, rolling\n")


async def test_link_is_shown_and_agreed_to_but_not_opened(desk):
    await desk.start("--unmatched", "ask", child=["connect_registry"])
    await desk.sees("https://registry.example.com/connect/")
    await desk.sees("leads to registry.example.com")
    await desk.types("accept, decline, cancel? ", "accept")
    assert (await desk.ended())[1].startswith("client: Agreed")


async def test_person_may_let_a_call_fail_and_the_run_says_so(desk):
    await desk.start("--unmatched", "ask", child=["rollback"])
    await desk.types("sure*: ", ":f")
    code, out, err = await desk.ended()
    assert code == 1, err
    assert "nobody at the terminal answered ask" in out


async def test_client_that_leaves_takes_its_question_back(desk, tmp_path):
    await desk.start("--unmatched", "ask", client=LEAVES)
    await desk.sees("sure*: ")
    (tmp_path / "leave").touch()
    await desk.sees("withdrawn")
    await desk.types("sure*: ", ":d")  # the next call is asked at once
    code, out, err = await desk.ended()
    assert (code, out) == (0, "client: Nothing was rolled back\n"), err


async def test_run_ends_although_a_question_is_open(desk, tmp_path):
    await desk.start("--unmatched", "ask", child=["rollback"])
    await desk.sees("sure*: ")
    desk.process.terminate()
    await desk.sees("withdrawn")
    await desk.ended()


async def test_without_a_terminal_it_is_refused_before_the_server_starts(desk, tmp_path):
    await desk.start(
        "--unmatched", "ask", child=["deploy"], session=True, stdin=asyncio.subprocess.DEVNULL
    )
    code, out, err = await desk.ended()
    assert (code, out) == (2, "")
    assert "error[no-terminal]" in err
    assert "server:" not in err
    assert not (tmp_path / "run.jsonl").exists()


async def test_console_and_asking_do_not_go_together(desk):
    await desk.start("--unmatched", "ask", "--view", "console")
    code, _, err = await desk.ended()
    assert code == 2
    assert "--view text" in err
