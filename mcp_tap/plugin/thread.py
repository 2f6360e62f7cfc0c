"""An event loop on a thread of its own, for tests of any style."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

_T = TypeVar("_T")


class LoopThread:
    """Runs what belongs to an event loop; whoever calls waits for it, on another thread."""

    def __init__(self, name: str) -> None:
        """Start the thread."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, _T], within: float) -> _T:
        """Run a coroutine to its end, and give its result.

        Raises:
            TimeoutError: it takes longer than `within` seconds; it is cancelled then.
        """
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(within)
        except BaseException:
            future.cancel()
            raise

    def call(self, function: Callable[[], _T]) -> _T:
        """Call a function between the loop's other work, and give its result."""
        future: Future[_T] = Future()

        def work() -> None:
            try:
                future.set_result(function())
            except BaseException as error:  # noqa: BLE001 - it belongs to whoever waits
                future.set_exception(error)

        self._loop.call_soon_threadsafe(work)
        return future.result()

    def close(self) -> None:
        """End the loop and its thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            tasks = asyncio.all_tasks(self._loop)
            for task in tasks:
                task.cancel()
            if tasks:
                self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
        finally:
            self._loop.close()
