"""Lines become messages, noise and words of the server's, masked and in order."""

from __future__ import annotations

from hashlib import sha256

import pytest

from mcp_tap.core.records import Gap, Message, Noise, Stderr
from mcp_tap.core.redact import Redactor
from mcp_tap.core.wire import UNPARSED
from mcp_tap.proxy.stdio.recording import LineRecording
from mcp_tap.proxy.stdio.steps import Seen, ToClient, ToServer
from mcp_tap.testing import records_of

RPC = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


class Recorded:
    """A recording and its records, each with its value."""

    def __init__(self, *, limit: int = 1 << 20, specs: tuple[str, ...] = ()) -> None:
        self.pairs: list = []
        self.recording = LineRecording(self.pairs.append, Redactor(b"k" * 32, specs=specs), limit)

    @property
    def records(self) -> list:
        return [record for record, _ in self.pairs]


def one(data: bytes, way: str = "server", **options):
    """Record one line; give its record and value."""
    recorded = Recorded(**options)
    recorded.recording.data(way, 1.5, data)
    recorded.recording.end(way, 2.5)
    ((record, value),) = recorded.pairs
    return record, value


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_a_message_is_recorded_as_it_came_whatever_ends_its_line(end):
    record, value = one(RPC + end)
    assert isinstance(record, Message)
    assert (record.payload(), record.sender, record.exchange) == (RPC, "server", None)
    assert (value["id"], record.seq) == (1, 1)
    assert record.t == (2.5 if not end else 1.5)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"{}\n", Message),
        (b'[{"jsonrpc":"2.0"}]\n', Message),
        (b' {"jsonrpc":"2.0"}\n', Message),
        (b'{"a":12345678901234567890123}\n', Message),
        (b"hello\n", Noise),
        (b"17\n", Noise),
        (b'"text"\n', Noise),
        (b"{\n", Noise),
        (b"\xef\xbb\xbf" + RPC + b"\n", Noise),
        (b'{"a":"\xff"}\n', Noise),
        (b"\x00\n", Noise),
    ],
)
@pytest.mark.parametrize("way", ["client", "server"])
def test_a_line_is_what_a_case_says_it_is(data, kind, way):
    record, value = one(data, way)
    assert type(record) is kind
    assert record.payload() == data.rstrip(b"\r\n")
    line = {"from": way, "line": data[:-1].decode("utf-8", "surrogateescape"), "t": 1.5}
    ((_, _), (of_case, of_case_value)) = records_of({"lines": [line]})
    assert (record, value) == (of_case, of_case_value)


@pytest.mark.parametrize("data", [b"\n", b"\r\n", b"  \t\n"])
def test_blank_lines_are_no_records(data):
    recorded = Recorded()
    recorded.recording.data("server", 1.0, data)
    assert recorded.records == []


def test_words_on_stderr_are_text_even_where_they_are_json():
    record, value = one(RPC + b"\n", "stderr")
    assert isinstance(record, Stderr)
    assert (record.text, value) == (RPC.decode(), UNPARSED)
    record, _ = one(b"\xff\n", "stderr")
    assert record.b64 == b"\xff"


@pytest.mark.parametrize(
    ("data", "way", "kind"),
    [(RPC, "client", Message), (b"x" * 60, "server", Noise), (b"x" * 60, "stderr", Stderr)],
)
def test_what_is_too_long_is_cut_and_says_how_long_it_was(data, way, kind):
    record, value = one(data + b"\n", way, limit=10)
    assert type(record) is kind
    assert (record.truncated, record.size, value) == (True, len(data), UNPARSED)
    assert record.sha256 == sha256(data).hexdigest()
    assert record.payload() == data[:10]


def test_a_large_message_has_an_outline_and_is_masked_whole():
    large = b'{"jsonrpc":"2.0","id":1,"result":{"pad":"%s","pin":"1234"}}' % (b"x" * (1 << 20))
    record, value = one(large + b"\n", limit=1 << 22)
    assert (record.text, value["id"]) == (large.decode(), 1)
    record, _ = one(large + b"\n", limit=1 << 22, specs=("key:pin",))
    assert b"1234" not in record.payload()
    assert len(record.payload()) > 1 << 20


@pytest.mark.parametrize("way", ["client", "server", "stderr"])
@pytest.mark.parametrize("line", [b'{"jsonrpc":"2.0","x":"s3cret"}\n', b"say s3cret\n"])
def test_what_is_to_be_masked_is_in_no_record(way, line):
    record, _ = one(line, way, specs=("value:s3cret",))
    assert b"s3cret" not in record.payload()
    assert len(record.masked) == 1


def test_what_fell_out_is_told_and_the_torn_line_given_up():
    recorded = Recorded()
    recording = recorded.recording
    recording.data("client", 1.0, RPC + b"\n" + RPC[:9])
    recording.missing("client", 2.0, 3)
    recording.data("client", 3.0, b"torn\n" + RPC + b"\n")
    first, gap, last = recorded.records
    assert isinstance(gap, Gap)
    assert (gap.seq, gap.lost) == (4, 3)
    assert (first.seq, last.seq, recording.seq) == (1, 5, 5)


def test_the_clients_messages_are_counted_and_waited_for():
    recording = Recorded().recording
    recording.data("client", 1.0, RPC + b"\n")
    assert (recording.exchanges, bool(recording.unanswered)) == (1, True)
    recording.data("server", 1.0, b'{"jsonrpc":"2.0","id":1,"result":{}}\n')
    assert (recording.exchanges, bool(recording.unanswered)) == (1, False)


def test_what_goes_in_anothers_place_names_it_and_its_leg():
    recorded = Recorded()
    recording = recorded.recording
    came, held = Seen(RPC + b"\n", "client"), Seen(RPC + b"\n", "server")
    for step in (
        came,
        ToServer(RPC + b"\n", "tap", replaces=came),
        held,
        ToClient(RPC + b"\n", "server", replaces=held),
        ToClient(RPC + b"\n", "tap"),
    ):
        recording.step(step, 1.0)
    assert [(r.sender, r.leg, r.replaces) for r in recorded.records] == [
        ("client", None, None),
        ("tap", "upstream", 1),
        ("server", "upstream", None),
        ("server", "client", 3),
        ("tap", "client", None),
    ]


def test_who_waits_is_the_client_whatever_the_tap_asks_itself():
    recording = Recorded().recording
    recording.step(ToServer(RPC.replace(b"1", b"77") + b"\n", "tap"), 1.0)
    assert not recording.unanswered
