from __future__ import annotations

import msgspec
import pytest
from msgspec import Raw

from mcp_tap.capture import convert
from mcp_tap.capture.convert import converter
from mcp_tap.capture.reader import open_path
from mcp_tap.capture.store import describe
from mcp_tap.capture.tail import CaptureTail
from mcp_tap.core.records import FORMAT, decode
from mcp_tap.errors import CaptureError
from tests.captures import footer, header, message


def from_zero(fields):
    """A format that never was: `time` for `t`, a line of a kind that is no more."""
    if bytes(fields["kind"]) == b'"ruler"':
        return None
    fields["t"] = fields.pop("time")
    if "format" in fields:
        fields["format"] = Raw(b"1")
    return fields


@pytest.fixture
def old(tmp_path, monkeypatch):
    """A capture of that format, with the step that reads it."""
    monkeypatch.setitem(convert.STEPS, 0, from_zero)
    path = tmp_path / "old.jsonl"
    body = b'{"n":123456789012345678901234567890, "s" : "\\u00e9"}'
    lines = []
    for record in (header(format=0), message(1, body), footer(2)):
        fields = msgspec.json.decode(msgspec.json.encode(record), type=dict[str, Raw])
        fields["time"] = fields.pop("t")
        lines.append(msgspec.json.encode(fields))
    lines.insert(1, b'{"kind":"ruler","seq":0,"time":0}')
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def test_an_older_capture_is_read_by_its_steps_with_bodies_untouched(old):
    body = b'{"n":123456789012345678901234567890, "s" : "\\u00e9"}'
    reader = open_path(old)
    assert list(reader) == [header(), message(1, body), footer(2)]
    assert (reader.clean, reader.lost) == (True, 0)


def test_an_older_capture_is_followed_and_listed_too(old):
    with CaptureTail(old) as tail:
        assert [record.seq for record in tail.poll()] == [0, 1, 2]
    assert describe(old).state == "ended"


def test_steps_are_chained_in_order():
    def step(number):
        def add(fields):
            return {**fields, f"x{number}": Raw(b"1")}

        return add

    convert_line = converter(3, "x", steps={n: step(n) for n in (3, 4, 5)}, target=6)
    assert convert_line(b'{"a":[1, 2]}') == b'{"a":[1, 2],"x3":1,"x4":1,"x5":1}'


def test_a_line_dropped_by_one_step_does_not_reach_the_next():
    def fail(_fields):
        raise AssertionError

    drop = converter(0, "x", steps={0: lambda _: None, 1: fail}, target=2)
    assert drop(b"{}") is None


def test_todays_format_needs_no_converter():
    assert converter(FORMAT, "x") is None


def test_every_step_that_is_needed_exists():
    assert sorted(convert.STEPS) == list(range(FORMAT - len(convert.STEPS), FORMAT))


def test_a_missing_step_is_an_error_that_says_which():
    with pytest.raises(CaptureError) as caught:
        converter(1, "run.jsonl", steps={2: lambda f: f}, target=3)
    assert caught.value.code == "capture-older"
    assert caught.value.why == "no converter from format 1 to 2"


def test_a_newer_format_is_refused():
    with pytest.raises(CaptureError) as caught:
        converter(FORMAT + 1, "run.jsonl")
    assert caught.value.code == "capture-newer"


def test_a_step_sees_undecoded_json_only():
    seen = {}
    line = converter(0, "x", steps={0: lambda f: seen.update(f) or f}, target=1)(
        b'{"kind":"message","seq":1,"t":0.0,"sender":"client","body":{"id":1.00}}'
    )
    assert all(isinstance(value, Raw) for value in seen.values())
    assert bytes(decode(line).body) == b'{"id":1.00}'
