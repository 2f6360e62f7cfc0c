"""The `tap` of a test: where its clients connect, and what it can ask about its traffic."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mcp_tap.core.filters import parse
from mcp_tap.plugin.model import Call, Calls, Finding, finding_of

if TYPE_CHECKING:
    from mcp_tap.plugin.scripts import Answers
    from mcp_tap.plugin.thread import LoopThread
    from mcp_tap.plugin.watcher import Watcher
    from mcp_tap.proxy.run import HttpRun

TIMEOUT: Final = 5.0
"""Seconds a call is waited for, unless a test says otherwise."""


class TapOff(Exception):
    """A test looks at its traffic, and there is no tap (`--tap-disable`)."""


class Tap:
    """A running tap; it may be used from any thread, and in tests of any style."""

    def __init__(
        self,
        url: str,
        run: HttpRun | None,
        thread: LoopThread,
        watcher: Watcher,
        answers: Answers,
    ) -> None:
        """Stand for a run that has begun; None: the tap is switched off."""
        self._url = url
        self._run = run
        self._thread = thread
        self._watcher = watcher
        self._answers = answers

    @property
    def url(self) -> str:
        """The MCP endpoint that clients connect to."""
        return self._url

    @property
    def stdio_command(self) -> list[str]:
        """The command of a stdio server that leads to this tap, for clients that start theirs."""
        return [sys.executable, "-P", "-m", "mcp_tap.bridge", self._url]

    @property
    def capture(self) -> Path | None:
        """The file this test's traffic is being recorded to."""
        return None if self._run is None else self._run.capture

    @property
    def calls(self) -> Calls:
        """The calls so far, as they stand now."""
        run = self._running()

        def look() -> Calls:
            run.settle()
            return Calls(self._watcher.in_order())

        return self._thread.call(look)

    @property
    def findings(self) -> list[Finding]:
        """What rules have found so far, as far as it is not allowed or ignored."""
        run = self._running()

        def look() -> list[Finding]:
            run.settle()
            return [finding_of(finding) for finding in self._watcher.findings]

        return self._thread.call(look)

    def answer(
        self, key: str | None = None, content: Mapping[str, Any] | None = None, **words: Any
    ) -> None:
        """Answer what the server asks from now on; goes before scripts and earlier answers.

        Args:
            key: of the ask; None: any.
            content: what to fill in.
            **words: any further condition or setting of an `[[answer]]` in a script: `tool`,
                `message`, `ask`, `mode`, `action`, `fill`, `each_round`, `text`, `roots`, ...

        Raises:
            ScriptError: it cannot be meant.
        """
        run = self._running()

        def add() -> None:
            self._answers.add(key, content, dict(words))
            assert self._answers.answering is not None
            run.answer(self._answers.answering)

        self._thread.call(add)

    def wait_for(self, filter: str, timeout: float = TIMEOUT) -> Call:  # noqa: A002 - what it is
        """Wait for a call, in the filter language of `mcp-tap show`: `tool:deploy state:waiting`.

        It blocks; in a test whose client runs in the test's own event loop, await
        `wait_for_async` instead.

        Args:
            filter: what the call has to match; the first that does is given.
            timeout: seconds to wait at most.

        Raises:
            AssertionError: none came in time.
            UsageError: the text is no filter.
        """
        __tracebackhide__ = True
        future = self._awaited(filter)
        try:
            return future.result(timeout)
        except TimeoutError:
            future.cancel()
            raise self._too_late(filter, timeout) from None

    async def wait_for_async(
        self,
        filter: str,  # noqa: A002 - what it is
        timeout: float = TIMEOUT,  # noqa: ASYNC109 - as its twin
    ) -> Call:
        """Wait for a call as `wait_for` does, on asyncio or trio."""
        __tracebackhide__ = True
        future = self._awaited(filter)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            import trio  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 - it runs

            wait: Any = trio.to_thread.run_sync(future.result, timeout)
        else:
            wait = asyncio.wait_for(asyncio.wrap_future(future), timeout)
        try:
            call: Call = await wait
        except TimeoutError:
            future.cancel()
            raise self._too_late(filter, timeout) from None
        return call

    def _awaited(self, text: str) -> Future[Call]:
        run, wanted = self._running(), parse(text)
        future: Future[Call] = Future()
        self._thread.call(lambda: self._watcher.wait(wanted, future, run.settle))
        return future

    def _too_late(self, text: str, timeout: float) -> AssertionError:
        return AssertionError(f"no call matched {text!r} within {timeout:g} s: {self.calls!r}")

    def _running(self) -> HttpRun:
        if self._run is None:
            raise TapOff("this test looks at its traffic, and --tap-disable leaves the tap out")
        return self._run
