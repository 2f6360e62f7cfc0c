"""The golden captures: real sessions, and what has to be understood of them.

`UPDATE_GOLDENS=1` writes the expectations anew; read the difference before keeping it.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_tap.capture.reader import open_path
from mcp_tap.capture.tail import CaptureTail
from mcp_tap.cli.main import run
from mcp_tap.core.finding import Finding
from mcp_tap.core.model import Call
from mcp_tap.core.records import AnyRecord, Closed, Footer, HttpRequest, Payload
from mcp_tap.core.wire import value_of
from mcp_tap.pipeline import Pipeline
from mcp_tap.views import machine

ROOT = Path(__file__).parents[2]
CAPTURES = sorted((ROOT / "captures").glob("*.jsonl"))
EXPECTED = Path(__file__).parent
BIGGEST = 150_000
LOCAL = re.compile(
    rb"/(?:home|root|tmp|work|usr|opt|var|private|Users|mnt|srv|etc)/|[A-Z]:\\\\|site-packages"
)
SECRET = re.compile(
    rb"(?i)bearer (?!mcp-tap:)\S|lab-token|private key|access_token\"\s*:\s*\"(?!mcp-tap:)"
)

each = pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.stem)


@pytest.fixture
def shown(capsys):
    """Give what `show -f json` prints of a capture."""

    def show(capture: Path) -> dict:
        assert run(["show", str(capture), "-f", "json"]) == 0
        return json.loads(capsys.readouterr().out)

    return show


def rendered(document: dict) -> str:
    """Write calls and exchanges down, one a line, so that a difference names its call."""
    parts = []
    for name in ("calls", "exchanges"):
        lines = [json.dumps(found, ensure_ascii=False) for found in document[name]]
        parts.append(f'"{name}": [\n' + ",\n".join(lines) + ("\n]" if lines else "]"))
    return "{" + ",\n".join(parts) + "}\n"


def records_of(capture: Path) -> list[AnyRecord]:
    return list(open_path(capture))


class Fed:
    """A pipeline and the calls it reported."""

    def __init__(self) -> None:
        self.pipeline = Pipeline()
        self.calls: dict[int, Call] = {}
        self.findings: list[bytes] = []

    def feed(self, record: AnyRecord, **given) -> None:
        self.note(self.pipeline.feed(record, **given))

    def note(self, changes) -> None:
        self.calls.update((c.number, c) for c in changes if isinstance(c, Call))
        self.findings += [msgspec.json.encode(f) for f in changes if isinstance(f, Finding)]

    def documents(self) -> list[bytes]:
        self.note(self.pipeline.finish())
        calls = [machine.encode(machine.call_doc(self.calls[n])) for n in sorted(self.calls)]
        return [*calls, *self.findings]


def plainly_fed(records: list[AnyRecord]) -> list[bytes]:
    fed = Fed()
    for record in records:
        fed.feed(record)
    return fed.documents()


def test_there_are_captures_of_each_sdk_in_both_eras():
    names = {path.stem for path in CAPTURES}
    assert names >= {f"{sdk}-{sdk}-{era}" for sdk in ("py", "ts", "fm") for era in (2026, 2025)}


@each
def test_show_says_of_a_golden_capture_what_was_kept(capture, shown):
    kept = EXPECTED / f"{capture.stem}.show.json"
    text = rendered(shown(capture))
    if os.environ.get("UPDATE_GOLDENS"):
        kept.write_text(text, encoding="utf-8")
    assert text.splitlines() == kept.read_text(encoding="utf-8").splitlines()


def test_no_expectation_is_left_without_its_capture():
    kept = {path.name.removesuffix(".show.json") for path in EXPECTED.glob("*.show.json")}
    assert kept == {path.stem for path in CAPTURES}


@each
def test_a_golden_capture_is_whole(capture):
    records = records_of(capture)
    assert [record.seq for record in records] == list(range(len(records)))
    times = [record.t for record in records]
    assert times == sorted(times)
    footer = records[-1]
    assert isinstance(footer, Footer)
    opened = {r.exchange for r in records if isinstance(r, HttpRequest)}
    closed = [r.exchange for r in records if isinstance(r, Closed)]
    assert sorted(closed) == sorted(opened)
    assert (footer.exchanges, footer.lost) == (len(opened), 0)


@each
def test_a_golden_capture_is_small_and_says_nothing_of_where_it_was_made(capture):
    raw = capture.read_bytes()
    assert len(raw) < BIGGEST
    text = raw + b"".join(r.payload() for r in records_of(capture) if isinstance(r, Payload))
    assert not LOCAL.findall(text)
    assert not SECRET.findall(text)


@each
def test_a_golden_capture_has_a_line_in_the_readme(capture):
    assert f"\n| `{capture.stem}` |" in (ROOT / "captures" / "README.md").read_text("utf-8")


@each
@given(data=st.data())
@settings(max_examples=settings.default.max_examples // 10)
def test_it_makes_no_difference_when_time_passes_or_who_parses(capture, data):
    records = records_of(capture)
    draw = data.draw(st.randoms(use_true_random=False))
    fed = Fed()
    for index, record in enumerate(records):
        if draw.random() < 0.5 and isinstance(record, Payload):
            fed.feed(record, value=value_of(record))
        else:
            fed.feed(record)
        later = records[index + 1].t if index + 1 < len(records) else record.t + 60
        for _ in range(draw.choice((0, 0, 1, 3))):
            fed.note(fed.pipeline.advance(draw.uniform(record.t, later)))
    assert fed.documents() == plainly_fed(records)


@each
@given(data=st.data())
@settings(max_examples=settings.default.max_examples // 10)
def test_a_capture_that_grows_in_any_steps_gives_the_same_calls(capture, data, tmp_path_factory):
    raw = capture.read_bytes()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=12)))
    path = tmp_path_factory.mktemp("growing") / "run.jsonl"
    fed = Fed()
    with path.open("wb", buffering=0) as file:
        file.write(raw[: cuts[0]] if cuts else b"")
        with CaptureTail(path) as tail:
            for end in [*cuts[1:], len(raw)]:
                for record in tail.poll():
                    fed.feed(record)
                file.write(raw[file.tell() : end])
            for record in tail.poll():
                fed.feed(record)
    assert fed.documents() == plainly_fed(records_of(capture))
