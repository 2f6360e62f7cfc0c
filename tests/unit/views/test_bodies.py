from __future__ import annotations

import pytest
from msgspec import Raw

from mcp_tap.core.records import (
    Body,
    Closed,
    Decision,
    Digest,
    HttpRequest,
    HttpResponse,
    Mask,
    Message,
    Noise,
    Sse,
)
from mcp_tap.core.text import fingerprint, short_print
from mcp_tap.views.bodies import MOST_TEXT, record_rows, searchable
from mcp_tap.views.look import Look, text_of

STATE = "the-state-nobody-may-see"
FINGERPRINT = fingerprint(STATE, "..")
EXCHANGE = [
    HttpRequest(
        seq=1, t=1.0, exchange=1, conn=1, peer="127.0.0.1", method="POST", path="/mcp",
        headers=[("Host", "x"), ("X-Odd", "\x1b[2J")],
    ),
    Message(
        seq=2, t=1.0, sender="client", exchange=1,
        body=Raw(b'{"id":7,"params":{"requestState":"%s","name":"d"}}' % STATE.encode()),
    ),
    HttpResponse(seq=3, t=1.1, exchange=1, status=200, reason="OK", headers=[("a", "b")]),
    Message(
        seq=4, t=1.2, sender="server", exchange=1, sse=Sse(id="9", event="message"),
        text='{"text":"two\\nlines \u202e"}', encoding="gzip",
        masked=[Mask(at="/body/x", length=3, shape="opaque", tag="t")],
    ),
    Closed(
        seq=5, t=1.3, exchange=1, how="upstream_cut", why="gone\x07", held=0.25,
        request=Digest(bytes=1, sha256="aa"), response=Digest(bytes=2, sha256="bb"),
    ),
]  # fmt: skip


def lines(records, *, raw):
    return [text_of(row)[15:] for row in record_rows(records, Look(), raw=raw)]


def test_bodies_are_readable_json():
    assert lines(EXCHANGE, raw=False) == [
        "01.000  client  72 B",
        "  {",
        '    "id": 7,',
        '    "params": {',
        f'      "requestState": "{FINGERPRINT}",',
        '      "name": "d"',
        "    }",
        "  }",
        "01.200  server  25 B, SSE id 9 event message, gzip, masked: /body/x",
        "  {",
        '    "text": "two\\nlines \\u202e"',
        "  }",
    ]


def test_bytes_are_shown_as_they_came_with_heads_and_digests():
    assert lines(EXCHANGE, raw=True) == [
        "01.000  client head  connection 1 of 127.0.0.1",
        "  POST /mcp HTTP/1.1",
        "  Host: x",
        "  X-Odd: \\x1b[2J",
        "01.000  client  72 B",
        f'  {{"id":7,"params":{{"requestState":"{FINGERPRINT}","name":"d"}}}}',
        "01.100  server head",
        "  HTTP/1.1 200 OK",
        "  a: b",
        "01.200  server  25 B, SSE id 9 event message, gzip, masked: /body/x",
        '  {"text":"two\\nlines \\u202e"}',
        "01.300  closed  upstream_cut: gone\\x07, held 250ms",
        "  request   1 B  sha256 aa",
        "  response  2 B  sha256 bb",
    ]


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize(
    "body",
    [
        b'{"requestState":"%s"}',
        b'{"request\\u0053tate" : "%s"',
        b'[{"a":[{"requestState":"%s"}]}]',
        b'{"requestState":"%s"} and no JSON',
        b'{"x":"\\"","requestState":"%s"}\xff',
    ],
)
def test_no_state_is_shown_however_it_is_spelled(body, raw):
    data = body % STATE.encode()
    try:
        record = Body(seq=1, t=0.0, sender="client", exchange=1, text=data.decode())
    except UnicodeDecodeError:
        record = Body(seq=1, t=0.0, sender="client", exchange=1, b64=data)
    shown = "\n".join(lines([record], raw=raw))
    assert STATE not in shown
    assert short_print(STATE)[:6] in shown


def test_a_prefix_says_how_much_is_missing():
    record = Message(seq=1, t=0, sender="server", truncated=True, size=5000, text='{"a":[1,2')
    assert lines([record], raw=False) == [
        "00.000  server  5.0 kB, only 9 B recorded",
        '  {"a":[1,2',
    ]


def test_other_text_keeps_its_lines_and_other_bytes_are_spelled_out():
    text = Body(seq=1, t=0, sender="server", text="one\ntwo\x1b")
    assert lines([text], raw=False) == ["00.000  server body  8 B", "  one", "  two\\x1b"]
    odd = Body(seq=1, t=0, sender="server", b64=b"\xff\x00")
    assert lines([odd], raw=False)[1] == "  \\xff\\x00"
    assert lines([Body(seq=1, t=0, sender="server", text="")], raw=True) == [
        "00.000  server body  0 B"
    ]


def test_too_deep_json_is_shown_as_it_came():
    deep = "[" * 900 + "]" * 900
    assert len(lines([Message(seq=1, t=0, sender="client", text=deep)], raw=False)) >= 2


def test_an_event_without_data_is_called_that_and_other_noise_is_noise():
    priming = Noise(seq=1, t=0, sender="server", text="", sse=Sse(id="5", retry="500"))
    assert lines([priming], raw=False) == ["00.000  server  empty event, SSE id 5 retry 500"]
    comment = Noise(seq=1, t=0, sender="server", text=": ping")
    assert lines([comment], raw=False) == ["00.000  server noise  6 B", "  : ping"]


def test_decisions_of_the_tap_are_told():
    record = Decision(seq=1, t=0, hook="guard", verdict="refuse", why="foreign Host \x1b")
    assert lines([record], raw=False) == ["00.000  tap decided  guard: refuse, foreign Host \\x1b"]


def test_json_is_searched_without_its_escapes():
    record = Message(seq=1, t=0, sender="client", body=Raw(b'{"a":"\\u043f\\u0440"}'))
    assert searchable(record) == '{"a": "пр"}'
    assert searchable(Body(seq=1, t=0, sender="client", text="no json")) == "no json"
    assert searchable(Body(seq=1, t=0, sender="client", b64=b"\xff")) == "\ufffd"


def test_a_long_string_is_cut_in_readable_bodies_and_whole_in_bytes():
    body = '{"a":"' + "x" * 300_046 + '","k":"short"}'
    record = Message(seq=1, t=0, sender="server", body=Raw(body.encode()))
    shown = lines([record], raw=False)
    told = f'"a": "{"x" * MOST_TEXT} ... 298,046 more characters, -d4 prints all",'
    assert shown[2].strip() == told
    assert shown[3].strip() == '"k": "short"'
    assert "".join(lines([record], raw=True)).count("x") == 300_046
    text = Body(seq=1, t=0, sender="server", text="y" * 2001 + "\nz")
    assert lines([text], raw=False)[1:] == [
        f"  {'y' * 2000} ... 1 more characters, -d4 prints all",
        "  z",
    ]
