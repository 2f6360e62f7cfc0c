from __future__ import annotations

import asyncio
import os
import signal
import sys

import pytest

from mcp_tap.cli import ending as ending_
from mcp_tap.errors import UsageError
from tests.bounds import BOUND, until


async def test_childs_death_by_signal_is_told_as_a_shell_tells_it():
    ending = ending_.Ending()
    line = [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"]
    assert await ending.child(line, "http://x/") == 128 + signal.SIGTERM
    assert ending.how == "child"


async def test_command_that_cannot_be_run_after_all_is_a_usage_error(tmp_path):
    (tmp_path / "script").write_text("no shebang")
    (tmp_path / "script").chmod(0o644)
    with pytest.raises(UsageError) as error:
        await ending_.Ending().child([str(tmp_path / "script")], "http://x/")
    assert error.value.code == "command-not-found"


def stubborn(flag, seconds):
    """Give a child that ignores signals, and makes a file once it does."""
    script = (
        "import signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        f"open({str(flag)!r}, 'w').close()\n"
        f"time.sleep({seconds})\n"
    )
    return [sys.executable, "-c", script]


async def test_second_signal_kills_the_child_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(ending_, "GRACE", 2 * BOUND)
    ending, up = ending_.Ending(), tmp_path / "up"
    async with asyncio.timeout(BOUND), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(ending.child(stubborn(up, 60), "http://x/"))
        await until(up.exists)
        os.kill(os.getpid(), signal.SIGTERM)
        await ending.wait()
        os.kill(os.getpid(), signal.SIGTERM)
        assert await running == 128 + signal.SIGKILL
    assert ending.how == "signal"


async def test_interrupt_from_the_terminal_is_left_to_the_child(tmp_path, monkeypatch):
    monkeypatch.setattr(ending_, "_in_terminal", lambda: True)
    monkeypatch.setattr(ending_, "GRACE", 0.01)
    ending, up = ending_.Ending(), tmp_path / "up"
    async with asyncio.timeout(BOUND), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(ending.child(stubborn(up, 0.2), "http://x/"))
        await until(up.exists)
        os.kill(os.getpid(), signal.SIGINT)
        await ending.wait()
        assert await running == 0


async def test_signal_before_anything_began_is_the_exit_code_and_a_second_one_hurries():
    ending = ending_.Ending()
    assert (ending.code, ending.hurried) == (0, False)
    os.kill(os.getpid(), signal.SIGTERM)
    await ending.wait()
    assert (ending.code, ending.hurried) == (128 + signal.SIGTERM, False)
    ending._on_signal(signal.SIGTERM)
    assert ending.hurried
