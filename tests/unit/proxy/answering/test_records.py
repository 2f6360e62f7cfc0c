"""Records where the two legs of an exchange differ."""

from __future__ import annotations

from mcp_tap.core.records import HttpRequest, HttpResponse, Message
from mcp_tap.core.redact import Redactor
from mcp_tap.net.heads import HeadReader, RequestLine, StatusLine
from mcp_tap.proxy.answering.records import Records
from mcp_tap.proxy.recording import Recording
from mcp_tap.proxy.tape import Tape
from tests.asking import request, result

HEAD = HeadReader().read(
    RequestLine(b"POST", b"/mcp", "1.1"), [(b"Content-Type", b"application/json")]
)
REPLY = HeadReader().read(StatusLine(200, b"OK", "1.1"), [(b"Content-Type", b"application/json")])


class Made:
    def __init__(self, specs=()):
        self.all = []
        redactor = Redactor(b"k" * 32, specs=list(specs))
        self.recording = Recording(lambda pair: self.all.append(pair[0]), redactor, 1 << 20)
        self.records = Records(self.recording)

    def tape(self, number=1):
        tape = Tape(number, 1, "127.0.0.1", HEAD)
        self.recording.request(tape, 0.0, request())
        return tape


def test_what_went_upstream_stands_beside_what_the_client_sent():
    made = Made()
    tape = made.tape()
    for shown in (None, {"jsonrpc": "2.0"}):
        made.recording.edited(tape, 0.0, request(8), shown)
    asked, *edited = made.all[1:]
    assert [(e.sender, e.leg) for e in edited] == [("tap", "upstream")] * 2
    assert [e.payload() for e in edited] == [request(8)] * 2
    assert edited[0].replaces == asked.seq
    assert (tape.leg, tape.replaces) == (None, None)


def test_masks_hold_for_what_went_upstream_too():
    made = Made(["key:guests"])
    made.recording.edited(made.tape(), 0.0, request(8), {"jsonrpc": "2.0"})
    assert [m.at for m in made.all[-1].masked] == ["/body/params/arguments/guests"]


def test_a_response_is_kept_and_another_given():
    made = Made()
    tape, source = made.tape(), made.tape(2)
    made.records.withheld(tape, 0.0, REPLY, result(7))
    source.leg = "upstream"
    made.recording.response_head(source, 0.0, REPLY, "server")
    made.recording.response_data(source, 0.0, result("mcp-tap-1"))
    made.recording.response_end(source, 0.0, "server", True)
    made.records.relayed(tape, 0.0, source, REPLY, result(7))
    heads = [r for r in made.all if isinstance(r, HttpResponse)]
    assert [(h.exchange, h.leg) for h in heads] == [
        (1, "upstream"),
        (2, "upstream"),
        (1, "client"),
    ]
    assert heads[2].replaces == heads[1].seq
    messages = [r for r in made.all if isinstance(r, Message) and r.sender == "server"]
    assert [(m.leg, m.replaces) for m in messages] == [
        ("upstream", None),
        ("upstream", None),
        ("client", messages[1].seq),
    ]


def test_a_repeat_is_an_exchange_without_a_connection_and_keeps_secrets():
    made = Made()
    tape = Tape(2, 0, "127.0.0.1", HEAD)
    body = request(8, inputResponses={"k": {"content": {"code": "hush", "n": [1, 2]}}})
    at = ("params", "inputResponses", "k", "content")
    made.records.repeat(tape, 0.0, body, ((*at, "code"), (*at, "n", "1")))
    line, message = made.all
    assert isinstance(line, HttpRequest)
    assert (line.conn, line.leg, made.recording.exchanges) == (0, "upstream", 1)
    assert b"hush" not in message.payload()
    assert [m.at for m in message.masked] == [
        "/body/params/inputResponses/k/content/code",
        "/body/params/inputResponses/k/content/n/1",
    ]


def test_the_taps_own_words_are_marked():
    made = Made()
    tape = made.tape()
    made.records.own(tape, 0.0, REPLY, result(7))
    made.records.own_event(tape, 0.0, result(7))
    assert [(r.sender, r.leg) for r in made.all[2:]] == [("tap", "client")] * 3
