"""What every test gets: a home of its own, a clean environment, and a bound on async tests."""

from __future__ import annotations

import asyncio
import gc
import inspect
import itertools
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.bounds import TEST
from tests.peers.programs import servers

pytest_plugins = ["pytester"]

# Tests start programs by the hundred, and there are workers: each would compile all it imports.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# What a shell starts in the background ignores some signals, and so would all that tests start;
# what has a handler here is not ignored there.
for name in ("SIGINT", "SIGHUP", "SIGQUIT"):
    number = getattr(signal, name, None)
    if number is not None and signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, lambda *_: None)

# Both ends of hundreds of connections are here: where few files may be open, more can be had.
if sys.platform != "win32":
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= soft < 4096:
        wanted = 4096 if hard < 0 else min(4096, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))

settings.register_profile(
    "dev",
    max_examples=30,
    deadline=None,  # shared machines make single examples slow, not wrong
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.register_profile(
    "ci", settings.get_profile("dev"), max_examples=100, derandomize=True, database=None
)
settings.register_profile("thorough", settings.get_profile("dev"), max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if "CI" in os.environ else "dev"))

TS_PEERS = Path(__file__).parent / "peers" / "ts"


@pytest.fixture(scope="session")
def homes(tmp_path_factory):
    """Give names of folders that are not there, one after the other."""
    base = tmp_path_factory.mktemp("homes")
    return (base / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def isolated_environment(homes, monkeypatch):
    """Keep tests off the user's captures and configuration, and the user's settings off tests."""
    for name in [n for n in os.environ if n.startswith(("MCP_TAP_", "_MCP_TAP_"))]:
        monkeypatch.delenv(name)
    for name in ("CI", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    home = next(homes)
    monkeypatch.setenv("MCP_TAP_HOME", str(home / "captures"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))


@pytest.fixture(scope="session")
def serving():
    """Give the URL of a peer that serves, by its command; it runs on for further tests."""
    with servers() as urls:
        yield urls


def pytest_collection_finish():
    """Keep the thousands of tests out of every later look for garbage."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run `async def` tests, each in a loop of its own: no plugin for twelve lines."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}

    async def bounded() -> None:
        async with asyncio.timeout(TEST):
            await pyfuncitem.obj(**arguments)

    asyncio.run(bounded())
    return True


def pytest_runtest_setup(item):
    """Skip tests of Node where it or its packages are missing; with REQUIRE_NODE that fails."""
    if not item.get_closest_marker("node"):
        return
    if shutil.which("node") is None:
        missing = "there is no node on PATH"
    elif not (TS_PEERS / "node_modules").is_dir():
        missing = "its packages are not installed: npm ci --prefix tests/peers/ts"
    else:
        return
    if os.environ.get("REQUIRE_NODE"):
        pytest.fail(f"REQUIRE_NODE is set and {missing}", pytrace=False)
    pytest.skip(f"needs Node.js: {missing}")
