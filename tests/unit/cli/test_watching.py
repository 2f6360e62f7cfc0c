from __future__ import annotations

import threading

import pytest

from mcp_tap.capture.running import OneFile, RunsOf
from mcp_tap.capture.writer import CaptureWriter
from mcp_tap.cli import watching as module
from mcp_tap.cli.output import Output
from mcp_tap.cli.watching import Watching
from mcp_tap.errors import CaptureError
from tests.bounds import BOUND, wait_until
from tests.captures import fail, footer
from tests.traffic import story

HAS_GONE = "has not ended: the run was killed"


class Feed:
    """Notes what it is told of one run."""

    def __init__(self, view, run):
        self.view, self.run = view, run
        self.names = []
        self.over = False

    def update(self, changes, now):
        with self.view.told:
            self.names += [c.name for c in changes if getattr(c, "name", None)]
            self.view.told.notify_all()

    def finished(self):
        with self.view.told:
            self.over = True
            self.view.told.notify_all()


class View:
    """Notes the runs that join."""

    def __init__(self):
        self.feeds = []
        self.alone = []
        self.told = threading.Condition()

    def wait(self, text):
        raise AssertionError(text)

    def join(self, header, *, alone=False):
        with self.told:
            self.feeds.append(Feed(self, header.run))
            self.alone.append(alone)
            self.told.notify_all()
            return self.feeds[-1]

    def close(self):
        """Do nothing."""

    def until(self, what):
        with self.told:
            assert self.told.wait_for(what, BOUND), [vars(feed) for feed in self.feeds]

    def saw(self, run, name):
        self.until(lambda: any(f.run == run and name in f.names for f in self.feeds))

    def ended(self, run):
        self.until(lambda: any(f.run == run and f.over for f in self.feeds))

    @property
    def runs(self):
        return [feed.run for feed in self.feeds]


class Rig:
    """A set of runs that is followed on a thread of its own."""

    def __init__(self, source, **given):
        self.view = View()
        self.stop = threading.Event()
        self.waited = threading.Event()
        self.failed = None
        self.let_go = []
        wanted = given.pop("wanted", lambda _: True)
        self.watching = Watching(
            source, self.view, self.stop, wanted=wanted, ended=self.let_go.append
        )
        if past := given.pop("past", None):
            self.watching.show_past(past)
        self.thread = threading.Thread(target=self._run, kwargs=given)
        self.thread.start()

    def _run(self, **given):
        try:
            self.watching.run(waiting=self.waited.set, **given)
        except CaptureError as error:
            self.failed = error

    def end(self):
        self.stop.set()
        self.join()
        self.watching.close()

    def join(self):
        self.thread.join(BOUND)
        assert not self.thread.is_alive()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(module, "EVERY", 0.005)
    monkeypatch.setattr(module, "QUIET", 0.1)


@pytest.fixture
def follow():
    rigs = []

    def begin(source, **given):
        rigs.append(Rig(source, **given))
        return rigs[-1]

    yield begin
    for rig in rigs:
        rig.end()


class Run:
    """A run that is being recorded."""

    def __init__(self, path, run="r1"):
        self.path = path
        self.records = story(run=run).records
        self.written = 1
        self.writer = CaptureWriter(path, self.records[0], on_trouble=fail)
        self._write(self.records[1:6])

    def _write(self, records):
        for record in records:
            self.writer.write(record)
            self.written += 1

    def rest(self):
        self._write(self.records[6:])

    def close(self):
        self.writer.close(footer(self.written))

    def kill(self):
        """Leave it as kill -9 does: no footer, and no one holds the file."""
        self.writer.flush()
        self.writer._file.close()


def reported(following):
    out = Output()
    texts = []
    out.say = texts.append
    following.report(out)
    return texts


# --- several runs ---------------------------------------------------------------------------------


def test_all_runs_that_are_being_recorded_are_followed_and_those_that_begin_join(tmp_path, follow):
    one, two = Run(tmp_path / "a.jsonl", "a"), Run(tmp_path / "b.jsonl", "b")
    story(run="old").write(tmp_path / "old.jsonl")
    rig = follow(RunsOf(tmp_path))
    rig.view.saw("a", "search")
    rig.view.saw("b", "search")
    three = Run(tmp_path / "c.jsonl", "c")
    rig.view.saw("c", "search")
    two.rest()
    rig.view.saw("b", "exprt")
    assert sorted(rig.view.runs) == ["a", "b", "c"]
    assert not any(feed.over for feed in rig.view.feeds)
    for run in (one, two, three):
        run.close()


def test_a_run_that_ended_is_let_go_and_the_others_go_on(tmp_path, follow):
    one, two = Run(tmp_path / "a.jsonl", "a"), Run(tmp_path / "b.jsonl", "b")
    rig = follow(RunsOf(tmp_path))
    rig.view.saw("b", "search")
    one.close()
    rig.view.ended("a")
    wait_until(lambda: list(rig.watching.followed) == [two.path])
    two.rest()
    rig.view.saw("b", "exprt")
    assert [following.name for following in rig.let_go] == ["a"]
    assert reported(rig.let_go[0]) == []
    two.close()


def test_a_killed_run_ends_when_no_one_holds_its_file(tmp_path, follow):
    one = Run(tmp_path / "a.jsonl", "a")
    rig = follow(RunsOf(tmp_path))
    rig.view.saw("a", "search")
    one.kill()
    rig.view.ended("a")
    wait_until(lambda: rig.let_go)
    assert reported(rig.let_go[0]) == [f"a.jsonl {HAS_GONE}"]


def test_a_quiet_run_does_not_end_while_its_file_is_held(tmp_path, follow, monkeypatch):
    monkeypatch.setattr(module, "QUIET", 0.0)
    run = Run(tmp_path / "a.jsonl", "a")
    asked = []
    held = module.being_written
    monkeypatch.setattr(module, "being_written", lambda p: asked.append(p) or held(p))
    rig = follow(RunsOf(tmp_path))
    rig.view.saw("a", "search")
    before = len(asked)
    wait_until(lambda: len(asked) > before + 5)
    assert not rig.view.feeds[0].over
    run.close()


def test_the_records_of_let_go_runs_stay_counted(tmp_path, follow):
    one, two = Run(tmp_path / "a.jsonl", "a"), Run(tmp_path / "b.jsonl", "b")
    rig = follow(RunsOf(tmp_path))
    rig.view.saw("b", "search")
    one.close()
    two.close()
    wait_until(lambda: not rig.watching.followed)
    stats = rig.watching.stats()
    assert stats.records == 2 * 7
    assert stats.bytes == one.path.stat().st_size + two.path.stat().st_size


def test_runs_that_are_not_wanted_and_files_that_are_no_captures_are_passed_over(tmp_path, follow):
    one, two = Run(tmp_path / "a.jsonl", "a"), Run(tmp_path / "b.jsonl", "b")
    rig = follow(RunsOf(tmp_path), wanted=lambda header: header.run != "b")
    rig.view.saw("a", "search")
    (tmp_path / "notes.jsonl").write_text("[]\n")
    wait_until(lambda: list(rig.watching.followed) == [one.path])
    one.rest()
    rig.view.saw("a", "exprt")
    assert rig.view.runs == ["a"]
    assert rig.let_go == []
    one.close()
    two.close()


def test_where_nothing_is_recorded_the_first_run_is_waited_for(tmp_path, follow):
    folder = tmp_path / "not" / "there"
    rig = follow(RunsOf(folder))
    assert rig.waited.wait(BOUND)
    folder.mkdir(parents=True)
    run = Run(folder / "a.jsonl", "a")
    rig.view.saw("a", "search")
    run.close()


def test_a_past_run_is_shown_until_the_first_one_begins(tmp_path, follow):
    past = story(run="past").write(tmp_path / "past.jsonl")
    rig = follow(RunsOf(tmp_path), past=past)
    rig.view.ended("past")
    assert not rig.waited.is_set()
    runs = [Run(tmp_path / f"{name}.jsonl", name) for name in "ab"]
    rig.view.saw("a", "search")
    rig.view.saw("b", "search")
    assert rig.view.alone == [False, True, False]
    wait_until(lambda: rig.watching.stats().records == 12)
    for run in runs:
        run.close()


def test_a_run_is_followed_through_its_parts(tmp_path, follow):
    records = story(run="a").records
    path = tmp_path / "a.jsonl"
    writer = CaptureWriter(path, records[0], rotate=2000, on_trouble=fail)
    rig = follow(RunsOf(tmp_path))
    for record in records[1:]:
        writer.write(record)
        writer.flush()
    rig.view.saw("a", "exprt")
    assert list(rig.watching.followed) == [path]
    assert len(list(tmp_path.iterdir())) > 2
    writer.close(footer(len(records)))
    rig.view.ended("a")
    assert rig.view.runs == ["a"]


# --- one file -------------------------------------------------------------------------------------


def test_a_named_run_is_followed_until_its_footer(tmp_path, follow):
    run = Run(tmp_path / "run.jsonl")
    rig = follow(OneFile(run.path), one=True, stay=False)
    rig.view.saw("r1", "search")
    run.rest()
    rig.view.saw("r1", "exprt")
    assert rig.thread.is_alive()
    run.close()
    rig.join()
    assert rig.view.feeds[0].over
    assert reported(rig.watching.followed[run.path]) == []


def test_a_named_run_nobody_writes_any_more_ends_without_a_footer(tmp_path, follow):
    path = story().write(tmp_path / "run.jsonl", clean=False)
    rig = follow(OneFile(path), one=True, stay=False)
    rig.join()
    assert reported(rig.watching.followed[path]) == [f"run.jsonl {HAS_GONE}"]


def test_a_run_that_goes_on_when_one_leaves_is_not_called_killed(tmp_path, follow):
    run = Run(tmp_path / "run.jsonl")
    rig = follow(OneFile(run.path), one=True)
    rig.view.saw("r1", "search")
    rig.stop.set()
    rig.join()
    assert reported(rig.watching.followed[run.path]) == ["run.jsonl is still being written"]
    run.close()


def test_a_file_is_waited_for_and_the_next_run_in_it_is_followed_too(tmp_path, follow):
    path = tmp_path / "run.jsonl"
    rig = follow(OneFile(path), one=True)
    assert rig.waited.wait(BOUND)
    Run(path, "first").close()
    rig.view.ended("first")
    path.unlink()
    run = Run(path, "second")
    rig.view.saw("second", "search")
    assert (rig.view.runs, rig.view.alone) == (["first", "second"], [False, False])
    run.close()


def test_what_is_no_capture_is_said_of_a_file_that_was_named(tmp_path, follow):
    path = tmp_path / "notes.jsonl"
    path.write_text("[]\n")
    rig = follow(OneFile(path), one=True)
    rig.join()
    assert rig.failed.code == "not-a-capture"
