from __future__ import annotations

from mcp_tap.core.records import (
    Closed,
    Decision,
    Digest,
    HttpRequest,
    HttpResponse,
    Message,
    Noise,
    Sse,
)
from mcp_tap.exporting.dialogue import dialogues, media_type, stream_bytes


def request(number: int = 1, **fields) -> HttpRequest:
    given = {"method": "POST", "path": "/mcp", "headers": [], "conn": 1, "peer": "::1", "seq": 1}
    return HttpRequest(t=0, exchange=number, **{**given, **fields})


def response(number: int = 1, headers=(), **fields) -> HttpResponse:
    return HttpResponse(seq=3, t=1, exchange=number, status=200, headers=list(headers), **fields)


def text(sender, words, number=1, **fields) -> Message:
    return Message(seq=2, t=0, sender=sender, exchange=number, text=words, **fields)


def closed(number=1) -> Closed:
    none = Digest(bytes=0, sha256="0" * 64)
    return Closed(seq=9, t=2, exchange=number, how="complete", request=none, response=none)


def test_records_are_sorted_by_exchange_and_way():
    one, two = dialogues(
        [request(1), text("client", "a"), request(2), response(1), text("server", "b"), closed(1),
         Decision(seq=1, t=0, hook="x", verdict="y", why="z"), text("client", "c", number=2)]
    )  # fmt: skip
    assert [p.text for p in one.sent + one.received] == ["a", "b"]
    assert (one.number, one.by_tap, one.streams) == (1, False, False)
    assert one.closed is not None
    assert (two.response, two.closed, two.received) == (None, None, [])
    assert [p.text for p in two.sent] == ["c"]


def test_where_the_two_sides_differ_it_is_what_the_client_saw():
    (talk,) = dialogues(
        [
            request(),
            text("client", "as sent"),
            text("tap", "declared more", leg="upstream", replaces=2),
            response(leg="upstream", reason="swallowed"),
            text("server", "swallowed", leg="upstream"),
            response(leg="client", reason="got"),
            text("server", "got", leg="client", replaces=5),
        ]
    )
    assert [p.text for p in talk.sent] == ["as sent"]
    assert [p.text for p in talk.received] == ["got"]
    assert talk.response is not None
    assert talk.response.reason == "got"


def test_of_a_request_of_the_taps_own_it_is_what_the_server_saw():
    (talk,) = dialogues(
        [
            request(leg="upstream", conn=0),
            text("tap", "retry"),
            response(),
            text("server", "result"),
            text("server", "edited for the client", leg="client", replaces=4),
        ]
    )
    assert talk.by_tap
    assert [p.text for p in talk.sent] == ["retry"]
    assert [p.text for p in talk.received] == ["result"]


def test_an_event_stream_is_told_by_its_type_or_its_events():
    kind = [("Content-Type", "text/event-stream; charset=utf-8")]
    assert media_type(kind) == "text/event-stream; charset=utf-8"
    assert media_type([]) == ""
    (declared,) = dialogues([request(), response(headers=kind)])
    (told,) = dialogues([request(), response(), text("server", "{}", sse=Sse(id="1"))])
    (plain,) = dialogues([request(), response(), text("server", "{}")])
    assert (declared.streams, told.streams, plain.streams) == (True, True, False)


def test_a_stream_is_written_anew_from_its_events():
    stream = stream_bytes(
        [
            Noise(seq=1, t=0, sender="server", text="ping\npong"),
            text("server", "{}", sse=Sse(id="7", event="message", retry="10")),
            Noise(seq=1, t=0, sender="server", sse=Sse(id="8")),
            text("server", "a\nb"),
        ]
    )
    assert stream == (
        b": ping\n: pong\n\nid: 7\nevent: message\nretry: 10\ndata: {}\n\nid: 8\ndata: \n\n"
        b"data: a\ndata: b\n\n"
    )
