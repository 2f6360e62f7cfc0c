"""The pytest plugin: a tap for each test that wants one.  docs/pytest.md describes it.

All of it that needs more than pytest is in `mcp_tap.plugin`, and imported when a test uses the tap:
a run without such tests is no slower for having the plugin installed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from mcp_tap.plugin.bench import Bench, Running
    from mcp_tap.plugin.tap import Tap
    from mcp_tap.plugin.verdicts import Allow

_T = TypeVar("_T")
_BENCH: pytest.StashKey[Bench] = pytest.StashKey()
_RUNNING: pytest.StashKey[Running] = pytest.StashKey()
_FAIL_ON = ("error", "warning", "note", "never")
_MODES = ("none", "once", "new_episodes", "all", "rewrite")
_MARKERS = (
    'mcp_tap(answers="FILE", ...): settings of the tap of this test (docs/pytest.md lists them).',
    'tap_capture("NAME"): record what passes the tap, and replay it, as --tap-record-mode says.',
    'tap_allow("RULE", reason="...", where="FILTER"): findings of this rule do not fail the test.',
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, all with `tap` in their names."""
    group = parser.getgroup("mcp-tap")
    group.addoption(
        "--tap-record-mode",
        choices=_MODES,
        help="What tests marked tap_capture do: replay only (none), record where nothing was"
        " recorded (once), record what is not known too (new_episodes), record anew (all)."
        " Default: the fixture tap_record_mode, which says none.",
    )
    group.addoption(
        "--tap-fail-on",
        choices=_FAIL_ON,
        help="How bad a finding must be to fail its test (default: error).",
    )
    group.addoption(
        "--tap-disable",
        action="store_true",
        help="Leave the tap out: clients reach the server itself, nothing is recorded or judged.",
    )
    group.addoption(
        "--tap-keep",
        action="store_true",
        help="Keep the captures of tests that pass, too.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the markers known."""
    for line in _MARKERS:
        config.addinivalue_line("markers", line)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop what still runs."""
    bench = config.stash.get(_BENCH, None)
    if bench is not None:
        del config.stash[_BENCH]
        bench.close()


# what a project may define for itself


@pytest.fixture(scope="session")
def tap_server() -> Any:
    """What the tap is put in front of; a project that uses `tap` defines it."""
    pytest.fail(
        "error[no-server]: there is no fixture tap_server to say what the tap is put in front of\n"
        '  help: @pytest.fixture(scope="session")\n'
        "        def tap_server():\n"
        '            return "http://localhost:3000/mcp"  # or a command, or an application',
        pytrace=False,
    )


@pytest.fixture(scope="session")
def tap_config() -> dict[str, Any]:
    """Settings of all taps in its scope, as a dict; markers override them."""
    return {}


@pytest.fixture(scope="session")
def tap_record_mode() -> str:
    """What becomes of captures where `--tap-record-mode` does not say."""
    return "none"


@pytest.fixture
def tap_capture_dir(request: pytest.FixtureRequest) -> Path:
    """Folder of the captures of a test: `captures/MODULE/` beside its module."""
    path = request.path
    return path.parent / "captures" / path.stem


@pytest.fixture
def tap_capture_name(request: pytest.FixtureRequest) -> str:
    """Name of the capture of a test: what its marker says, else that of the test itself."""
    marker = request.node.get_closest_marker("tap_capture")
    if marker is not None and marker.args:
        return str(marker.args[0])
    cls = request.cls
    name: str = request.node.name.replace("/", "-")  # which is a folder in the marker only
    return name if cls is None else f"{cls.__name__}.{name}"


# the tap


@pytest.fixture
def tap(
    request: pytest.FixtureRequest,
    tap_config: dict[str, Any],
    tap_record_mode: str,
    tap_capture_dir: Path,
    tap_capture_name: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Generator[Tap]:
    """Run a tap in front of `tap_server`, or of a recording of it."""
    node, config = request.node, request.config
    running = _told(
        lambda: _begin(
            request,
            tap_config,
            tap_record_mode,
            tap_capture_dir,
            tap_capture_name,
            tmp_path_factory,
        )
    )
    node.stash[_RUNNING] = running
    yield running.tap
    words = _told(running.end)
    if running.kept is not None and config.getoption("--tap-keep"):
        node.user_properties.append(("mcp_tap_capture", str(running.kept)))
    if words:
        pytest.fail(words, pytrace=False)


def _begin(
    request: pytest.FixtureRequest,
    settings: dict[str, Any],
    mode: str,
    folder: Path,
    name: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Running:
    from mcp_tap.plugin.bench import Bench, Wanted
    from mcp_tap.plugin.keeping import place_of
    from mcp_tap.plugin.options import mode_of

    node, config = request.node, request.config
    bench = config.stash.get(_BENCH, None)
    if bench is None:
        bench = config.stash[_BENCH] = Bench()
    markers = [marker.kwargs for marker in node.iter_markers("mcp_tap")]
    given = config.getoption("--tap-record-mode")
    recorded = node.get_closest_marker("tap_capture") is not None
    return bench.begin(
        Wanted(
            name=node.nodeid,
            tables=[settings, *reversed(markers)],
            folder=request.path.parent,
            allows=_allows(node),
            fail_on=config.getoption("--tap-fail-on"),
            capture=place_of(folder, name) if recorded else None,
            mode=mode_of(given or mode, where="--tap-record-mode" if given else "tap_record_mode"),
            disabled=config.getoption("--tap-disable"),
            keep=config.getoption("--tap-keep"),
            server=lambda: _server(request),
            scratch=lambda: tmp_path_factory.mktemp("tap"),
        )
    )


def _server(request: pytest.FixtureRequest) -> Any:
    """Give what the tap is put in front of, only now that it is needed: a replay needs none."""
    try:
        return request.getfixturevalue("tap_server")
    except pytest.fail.Exception as failure:
        if "no parameter defined" not in str(failure):
            raise
    pytest.fail(
        "error[server-parameters]: tap_server has parameters, and pytest does not know of them\n"
        "  why:  the tap asks for its server only where one is needed, too late for them\n"
        '  help: pytestmark = pytest.mark.usefixtures("tap_server")',
        pytrace=False,
    )


def _allows(node: pytest.Item) -> list[Allow]:
    from mcp_tap.plugin.verdicts import Allow

    return [
        Allow(arguments=marker.args, words=dict(marker.kwargs), own=at is node)
        for at, marker in node.iter_markers_with_node("tap_allow")
    ]


def _told(work: Callable[[], _T]) -> _T:
    """Do something; what is wrong for a reason that a person can mend is told without a trace."""
    from mcp_tap.errors import TapError

    try:
        return work()
    except TapError as error:
        words = str(error)
    pytest.fail(words, pytrace=False)


# around each test


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Any:
    """Let a server live as long as the value of its fixture."""
    value = yield
    if fixturedef.argname == "tap_server":

        def stop() -> None:
            bench = request.config.stash.get(_BENCH, None)
            if bench is not None:
                bench.servers.stop(value)

        fixturedef.addfinalizer(stop)
    return value


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    """Let findings fail the test itself, not its teardown."""
    try:
        result = yield
    except Exception as error:
        if _RUNNING in item.stash:
            from mcp_tap.plugin.tap import TapOff

            if isinstance(error, TapOff):
                pytest.skip(str(error))
        raise
    running = item.stash.get(_RUNNING, None)
    words = running.verdict() if running is not None else ""
    if words:
        pytest.fail(words, pytrace=False)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell in the report of a failed test what passed through its tap."""
    report = yield
    running = item.stash.get(_RUNNING, None)
    if running is not None:
        if call.when == "call":
            running.passed = report.passed
        if report.failed:
            words = running.section()
            if words:
                report.sections.append(("mcp-tap", words))
        if call.when == "teardown":
            del item.stash[_RUNNING]
    return report


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say where captures are that were asked for."""
    if not config.getoption("--tap-keep"):
        return
    kept = {
        value
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == "mcp_tap_capture"
    }
    if kept:
        terminalreporter.section("mcp-tap captures")
        for path in sorted(kept):
            terminalreporter.write_line(path)
