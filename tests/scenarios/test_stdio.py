"""The tap around a server process: the bytes as they are, and records of them."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
import threading

import pytest

from mcp_tap.core.records import Footer, Gap, Message, Noise, Stderr
from tests.bounds import BOUND, wait_until
from tests.shim import ECHO, PING, TAP, python, read, request, shim, started

PEOPLE = "åßç∂ 你好 \U0001f600"
HOSTILE = {
    "line feeds alone": b"\n\n\n",
    "carriage returns": b'{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n{"jsonrpc":"2.0"}\r\n\r\n',
    "a byte order mark": b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
    "invalid UTF-8": b'{"jsonrpc":"2.0","method":"\xff\xfe\xed\xa0\x80"}\n\x80\x81\n',
    "no final line feed": PING + b'{"jsonrpc":"2.0","id":2,"method":"ping"}',
    "zeros": b"\x00\x00\n" + PING + b"\x00",
    "people's words": f'{{"jsonrpc":"2.0","method":"x","params":{{"a":"{PEOPLE}"}}}}\n'.encode(),
    "deep nesting": b"[" * 5000 + b"]" * 5000 + b"\n",
    "no JSON": b"hello\n{\n}\nNaN\n1e999\n",
    "random": random.Random(6).randbytes(300_000),
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_bytes_pass_as_they_are(tmp_path, data):
    with shim(ECHO, tmp_path) as tap:
        tap.send(data)
        assert tap.end() == 0
        assert tap.out == data
        assert tap.err == b""
        sides = [
            b"".join(p.rstrip(b"\r") for _, sender, p in tap.told() if sender == who)
            for who in ("client", "server")
        ]
        assert sides[0] == sides[1]


def test_pieces_of_a_line_go_on_at_once(tmp_path):
    with shim(ECHO, tmp_path) as tap:
        for piece in (PING[:1], PING[1:20], PING[20:]):
            tap.send(piece)
            assert tap.read_until(piece) == piece
        assert tap.end() == 0
        assert tap.told() == [
            ("message", "client", PING[:-1]),
            ("message", "server", PING[:-1]),
        ]


def test_pieces_of_both_directions_and_stderr_keep_apart(tmp_path):
    server = python(
        "os.write(O, b'{\"jsonrpc\":')\n"
        "os.write(E, b'half a ')\n"
        "os.read(I, 10)\n"
        "os.write(E, b'word\\n')\n"
        'os.write(O, b\'"2.0","id":1,"result":{}}\\n\')\n'
        "os.read(I, 100)\n"
    )
    with shim(server, tmp_path) as tap:
        tap.read_until(b'"jsonrpc":')
        tap.said(b"half a ")
        tap.send(PING[:10])
        tap.said(b"word\n")
        tap.line()
        tap.send(PING[10:])
        assert tap.end() == 0
        told = tap.told()
        assert ("stderr", "server", b"half a word") in told
        told.remove(("stderr", "server", b"half a word"))
        assert told == [
            ("message", "server", b'{"jsonrpc":"2.0","id":1,"result":{}}'),
            ("message", "client", PING[:-1]),
        ]


def test_a_line_of_100_megabytes_passes_and_its_beginning_is_recorded(tmp_path):
    server = python(
        "import hashlib\n"
        "digest, size = hashlib.sha256(), 0\n"
        "data = b''\n"
        "while not data.endswith(b'\\n'):\n"
        " data = os.read(I, 1 << 20); digest.update(data); size += len(data)\n"
        "os.write(E, f'{size} {digest.hexdigest()}'.encode())\n"
        "line = b'x' * (100 << 20) + b'\\n'\n"
        "view = memoryview(line)\n"
        "while view: view = view[os.write(O, view):]\n"
    )
    line = b'{"pad":"' + b"y" * (100 << 20) + b'"}\n'
    with shim(server, tmp_path) as tap:
        tap.send(line)
        pieces = [read(tap.process.stdout)]
        while not pieces[-1].endswith(b"\n"):
            pieces.append(read(tap.process.stdout))
        got = hashlib.sha256(b"".join(pieces))
        assert got.digest() == hashlib.sha256(b"x" * (100 << 20) + b"\n").digest()
        assert tap.end() == 0
        assert tap.err == f"{len(line)} {hashlib.sha256(line).hexdigest()}".encode()
        sent, said = sorted(tap.payloads("client", "server"), key=lambda r: r.sender)
        assert (type(sent), sent.size, sent.truncated) == (Message, len(line) - 1, True)
        assert sent.sha256 == hashlib.sha256(line[:-1]).hexdigest()
        assert (type(said), said.size, said.truncated) == (Noise, 100 << 20, True)


def test_ten_thousand_small_messages_a_second_each_way_stop_nothing(tmp_path):
    server = python(
        "import threading\n"
        "def out():\n"
        ' for n in range(20000): os.write(O, b\'{"jsonrpc":"2.0","method":"note/%d"}\\n\' % n)\n'
        "thread = threading.Thread(target=out); thread.start()\n"
        "count = 0\n"
        "while data := os.read(I, 65536): count += data.count(b'\\n')\n"
        "thread.join(); os.write(E, b'%d' % count)\n"
    )
    with shim(server, tmp_path, "--check", "--fail-on", "never") as tap:
        lines = [request(n, "ping") for n in range(20_000)]
        for n in range(0, len(lines), 7):
            tap.send(b"".join(lines[n : n + 7]))
        assert tap.end(bound=50) == 0
        assert tap.err == b"20000"
        assert tap.out.count(b"\n") == 20_000
        told = tap.told()
        assert [p for _, who, p in told if who == "client"] == [line[:-1] for line in lines]
        assert (
            b"".join(p + b"\n" for kind, who, p in told if kind == "message" and who == "server")
            == tap.out
        )
        seqs = [record.seq for record in tap.records()]
        assert seqs == list(range(40_003))
        assert not any(isinstance(record, Gap) for record in tap.records())


def test_a_response_never_stands_before_its_request(tmp_path):
    server = python(
        "import json\n"
        "for line in sys.stdin.buffer:\n"
        ' os.write(O, b\'{"jsonrpc":"2.0","id":%d,"result":{}}\\n\' % json.loads(line)[\'id\'])\n'
    )
    with shim(server, tmp_path) as tap:
        for n in range(300):
            tap.ask(request(n))
        assert tap.end() == 0
        messages = [r for r in tap.records() if isinstance(r, Message)]
        assert [r.sender for r in messages] == ["client", "server"] * 300
        times = [r.t for r in tap.records()]
        assert times == sorted(times)


def test_what_a_server_prints_beside_the_protocol_is_recorded_and_found(tmp_path):
    server = python(
        "os.write(O, b'Server v1.0 ready!\\n\\n'); os.write(E, b'listening\\n')\n"
        'os.read(I, 100); os.write(O, b\'{"jsonrpc":"2.0","id":1,"result":{}}\\n\')'
    )
    with shim(server, tmp_path, "--check", "--view", "text") as tap:
        assert tap.line() == b"Server v1.0 ready!\n"
        tap.said(b"listening\n")
        tap.send(PING)
        assert tap.end() == 1
        assert b"STDIO-001" in tap.err
        assert tap.out.startswith(b"\n{")
        assert ("noise", "server", b"Server v1.0 ready!") in tap.told()
        assert ("stderr", "server", b"listening") in tap.told()


def test_a_clean_run_passes_its_check_and_an_empty_one_says_that_it_cannot_tell(tmp_path):
    (tmp_path / "full").mkdir()
    pong = python('os.read(I, 100); os.write(O, b\'{"jsonrpc":"2.0","id":1,"result":{}}\\n\')')
    with shim(pong, tmp_path / "full", "--check", "--ignore", "ALL") as tap:
        tap.ask()
        assert tap.end() == 0
    with shim(ECHO, tmp_path, "--check") as tap:
        assert tap.end() == 4
        assert b"error[nothing-to-check]" in tap.err


def test_every_line_reaches_the_file_at_once(tmp_path):
    with shim(ECHO, tmp_path) as tap:
        tap.ask()
        wait_until(lambda: tap.capture.exists() and tap.capture.read_bytes().count(b"\n") == 3)
        assert tap.process.poll() is None


def test_with_sync_a_line_is_in_the_file_before_it_goes_on(tmp_path):
    server = python(
        "while os.read(I, 65536):\n"
        f" whole = open({str(tmp_path / 'run.jsonl')!r}, 'rb').read()\n"
        " os.write(O, b'%d\\n' % whole.count(b'\"ping\"'))"
    )
    with shim(server, tmp_path, "--sync") as tap:
        for n in range(1, 30):
            assert tap.ask(request(n, "ping")) == b"%d\n" % n
        assert tap.end() == 0


def test_the_capture_says_what_it_is_of(tmp_path):
    with shim((*ECHO, "two words"), tmp_path, "--label", "echo") as tap:
        tap.ask()
        assert tap.end() == 0
        header = tap.header()
        assert (header.transport, header.label) == ("stdio", "echo")
        assert header.upstream.endswith("'two words'")
        footer = tap.records()[-1]
        assert isinstance(footer, Footer)
        assert (footer.exchanges, footer.lost, footer.how) == (1, 0, "end")


def test_words_that_are_no_utf_8_are_recorded_as_far_as_they_can_be(tmp_path):
    with shim((*ECHO, b"caf\xe9"), tmp_path, "--label", b"b\xfcro") as tap:
        assert tap.ask() == PING
        assert tap.end() == 0
        assert tap.err == b""
        assert tap.header().label == "b\ufffdro"
        assert tap.header().upstream.endswith("'caf\ufffd'")


def test_a_bare_command_line_after_two_dashes_is_enough(tmp_path, monkeypatch):
    monkeypatch.setenv("MCP_TAP_HOME", str(tmp_path / "home"))
    with started([*TAP, "-v", "--", *ECHO], tmp_path) as tap:
        tap.ask()
        assert tap.end() == 0
    (capture,) = (tmp_path / "home").iterdir()
    assert capture.name.endswith(".jsonl")
    assert "-python" in capture.name
    assert capture.name[:-6].encode() in tap.err


def test_what_is_to_be_masked_is_masked_in_every_stream(tmp_path):
    server = python(
        "os.read(I, 1000); os.write(E, b'key s3cret-9\\n'); os.write(O, b'oops s3cret-9\\n')"
    )
    with shim((*server, "s3cret-9"), tmp_path, "--redact", r"value:s3cret-\d") as tap:
        tap.send(request(1, "tools/call", arguments={"a": "s3cret-9"}))
        assert tap.end() == 0
        assert b"s3cret-9" in tap.out
        assert b"s3cret-9" in tap.err
    assert b"s3cret-9" not in tap.capture.read_bytes()
    masked = {(type(r), mask.at) for r in tap.records()[1:-1] for mask in r.masked}
    assert masked == {(Message, "/body/params/arguments/a"), (Stderr, "/text"), (Noise, "/text")}


def test_pipes_that_do_not_block_lose_nothing(tmp_path):
    reading, writing = os.pipe()
    given, giving = os.pipe()
    for end in (writing, given):
        os.set_blocking(end, False)
    data = random.Random(1).randbytes(1 << 20)
    with shim(ECHO, tmp_path, stdin=given, stdout=writing) as tap:
        os.close(writing)
        os.close(given)
        with os.fdopen(giving, "wb") as sink, os.fdopen(reading, "rb") as source:
            sending = threading.Thread(target=lambda: (sink.write(data), sink.close()))
            sending.start()
            assert source.read() == data
            sending.join(BOUND)
        assert tap.process.wait(BOUND) == 0


def test_rotation_goes_on_in_parts(tmp_path):
    with shim(ECHO, tmp_path, "--rotate", "2k") as tap:
        for n in range(40):
            tap.ask(request(n))
        assert tap.end() == 0
    assert len(list(tmp_path.glob("run*"))) > 2


def test_what_cannot_be_recorded_passes_all_the_same(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("MCP_TAP_HOME", str(tmp_path / "file"))
    with started([*TAP, "--", *ECHO], tmp_path) as tap:
        assert tap.ask() == PING
        assert tap.end() == 2
        assert tap.out == b""
        assert b"error[capture-unwritable]" in tap.err


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["-w", "."], "bad-value"),
        (["-w", "nowhere/run.jsonl"], "capture-unwritable"),
        (["--redact", "value:("], "bad-redact"),
        (["--select", "NOPE-1"], "unknown-rule"),
        (["--view", "console"], "usage"),
        (["--baseline", "nowhere.json"], ""),
    ],
)
def test_what_is_wrong_with_the_command_line_stops_it_before_the_server_runs(
    tmp_path, monkeypatch, options, code
):
    monkeypatch.chdir(tmp_path)
    line = [*TAP, "stdio", *options, "--", sys.executable, "-c", "open('ran', 'w')"]
    done = subprocess.run(line, input=b"", capture_output=True, timeout=BOUND)
    assert done.returncode == 2
    assert done.stdout == b""
    assert f"error[{code}".encode() in done.stderr
    assert not (tmp_path / "ran").exists()
