"""Which lines are decided about, and that all others pass at once, as they came."""

from __future__ import annotations

import json

import pytest

from mcp_tap.proxy.stdio.answering import board
from tests.asking import asks, form, request, result
from tests.lining import Both, error_of, said
from tests.pushing import book, hello, note, rpc

DAY = form("day", day={"type": "string"})
LINES = [
    b"\n",
    b"hello\r\n",
    b"\xff\xfe{}\n",
    b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"result":{}}\n',
    b'{"jsonrpc":"2.0","id":1,"method"\n',
    b'{"jsonrpc":"2.0","id":1e999,"result":{}}\n',
    b'{"jsonrpc":"2.0","id":null,"method":"tools/call"}\n',
    b'{"jsonrpc":"2.0","id":[1],"method":5}\n',
    b'[{"jsonrpc":"2.0","id":1,"method":"tools/call"}]\n',
    b"[" * 5000 + b"\n",
    b'{"id":1}\n',
    b'{"jsonrpc":"2.0","id":"\xff","method":"tools/call","params":{}}\n',
    request(7).replace(b'"id" : 7', b'"id" : "\xff"') + b"\n",
    b"no end",
    rpc("ping", 1) + b"\n",
    rpc("tools/list", 1) + b"\n",
    book() + b"\n",
    note("notifications/initialized") + b"\n",
    note("notifications/cancelled", requestId=1) + b"\n",
    result(1) + b"\n",
]


@pytest.mark.parametrize("line", LINES)
def test_lines_that_nobody_decides_about_pass_as_they_came(line):
    both = Both(advertise=frozenset())
    (step,) = both.lines.from_client(line, 0.0)
    assert (step.line, step.sender, step.replaces) == (line, "client", None)
    (step,) = both.lines.from_server(line, 0.0)
    assert (step.line, step.sender, step.replaces) == (line, "server", None)


@pytest.mark.parametrize("line", LINES)
def test_such_lines_pass_also_within_a_call(line):
    both = Both(advertise=frozenset())
    both.client(request(7))
    both.server(asks(7, day=DAY))
    assert [s.line for s in both.lines.from_client(line, 0.0)] == [line]
    assert [s.line for s in both.lines.from_server(line, 0.0)] == [line]


def test_what_a_client_declares_grows_by_what_the_script_can_answer_and_by_nothing_else():
    both = Both()
    line = request(7) + b"\r\n"
    (up,), _ = both.client(line)
    assert up == line.replace(
        b'"io.modelcontextprotocol/clientCapabilities" : {}',
        b'"io.modelcontextprotocol/clientCapabilities" : {"elicitation":{"form":{}}}',
    )
    assert len(up) > len(line)


def test_what_may_ask_and_is_read_differently_passes_and_is_told():
    both = Both(advertise=frozenset())
    both.client(request(7))
    line = asks(7, day=DAY).replace(b"{", b'{"big":1e999,', 1) + b"\n"
    both.server(line)
    broken = b'{"id":8,"result":{"resultType":"input_required"' + b"\n"
    assert both.server(broken) == ([], [broken])
    assert both.told[-1][0] == "not-examined"


def test_a_fault_of_ours_in_what_a_client_sends_lets_it_pass(monkeypatch):
    both = Both()

    def broken(*_):
        raise RuntimeError("a fault")

    monkeypatch.setattr(both.answering.reader, "read", broken)
    line = request(7) + b"\n"
    assert both.client(line) == ([line], [])
    assert both.told == [("tap-failed", None, None)]


def test_a_fault_of_ours_in_what_a_server_pushes_lets_it_pass(monkeypatch):
    both = Both()
    both.client(hello())

    def broken(*_):
        raise RuntimeError("a fault")

    monkeypatch.setattr("mcp_tap.proxy.stdio.answering.pushed.pushed_ask", broken)
    line = rpc("roots/list", 1) + b"\n"
    assert both.server(line) == ([], [line])
    assert both.told == [("tap-failed", None, None)]


@pytest.mark.parametrize("when", ["tick", "server_eof", "client_eof"])
def test_a_fault_of_ours_in_one_call_ends_that_call_and_no_other(when, monkeypatch):
    names = {"tick": "tick", "server_eof": "server_left", "client_eof": "client_left"}
    both = Both()
    both.client(request(7))
    both.client(request(8))

    def broken(call, *_):
        if call.watched.id == b"7":
            raise RuntimeError("a fault")
        return []

    monkeypatch.setattr(f"mcp_tap.proxy.stdio.answering.calls.LineCall.{names[when]}", broken)
    fault, ended = getattr(both.lines, when)(0.0)
    assert fault.told.verdict == "tap-failed"
    assert (said(ended.line)["id"], error_of(ended.line)) == (7, "tap-failed")
    line = result(8) + b"\n"
    assert both.server(line) == ([], [line])


def test_beyond_what_can_be_remembered_requests_pass_and_it_is_told(monkeypatch):
    monkeypatch.setattr(board, "MOST", 2)
    both = Both()
    both.client(request(1))
    both.client(rpc("tools/list", 2))
    line = request(3) + b"\n"
    assert both.client(line) == ([line], [])
    assert both.told == [("not-examined", None, None)]
    both.client(rpc("tools/list", 4))
    both.server(result(1))
    assert len(both.client(request(5))[0]) == 1
    assert len(both.told) == 1


def test_it_is_busy_while_a_server_may_still_ask():
    both = Both()
    assert not both.lines.busy
    both.client(request(1))
    assert both.lines.busy
    both.server(result(1))
    assert not both.lines.busy
    both.client(hello())
    both.client(rpc("tools/list", 2))
    assert not both.lines.busy
    both.client(book(3))
    assert both.lines.busy
    both.server(result(3))
    assert not both.lines.busy


# lines that are too long


def test_what_is_waited_for_grows_while_an_id_has_to_be_put_right():
    both = Both()
    assert (both.lines.most("client"), both.lines.most("server")) == (4 << 20, 4 << 20)
    both.client(request(7))
    (again,), _ = both.server(asks(7, day=DAY))
    assert (both.lines.most("client"), both.lines.most("server")) == (4 << 20, 64 << 20)
    both.server(result(said(again)["id"]))
    assert both.lines.most("server") == 4 << 20


@pytest.mark.parametrize("first", [True, False])
def test_a_result_too_large_to_be_put_right_ends_its_call(first):
    both = Both()
    both.client(request(7))
    (again,), _ = both.server(asks(7, day=DAY))
    token = json.dumps(said(again)["id"]).encode()
    head = b'{"jsonrpc":"2.0","id":%b,"result":{"x":"xxxx' % token
    tail = b'xxxx"}}\n'
    if not first:
        head, tail = b'{"result":{"x":"xxxx', b'xxxx"},"jsonrpc":"2.0","id":%b}\r\n' % token
    up, (down,) = both.passed("server", head, tail)
    assert up == []
    assert (said(down)["id"], error_of(down)) == (7, "answer-too-large")
    assert both.told[-1][0] == "not-examined"


def test_a_large_result_of_the_clients_own_request_ends_what_is_waited_for():
    both = Both()
    both.client(request(7))
    assert both.passed("server", b'{"id":7,"result":{', b"}}\n") == ([], [])
    assert both.server(asks(7, day=DAY)) == ([], [asks(7, day=DAY) + b"\n"])
    both.client(hello())
    both.client(book(8))
    both.client(book(9))
    both.passed("server", b'{"result":{', b'},"id":9}\n')
    ask = rpc("elicitation/create", 1, requestedSchema={"properties": {"day": {}}})
    both.server(ask)
    assert both.calls  # the one that is left is asked


@pytest.mark.parametrize(
    ("way", "head", "tail"),
    [
        ("client", b'{"id":7,', b"}\n"),
        ("server", b'{"result":{"id":7,', b'{"id":7}}\n'),
        ("server", b"xxx", b"xxx\n"),
        ("server", b'{"id":99,', b"}\n"),
        ("server", b'{"id":1e7,', b"}\n"),
    ],
)
def test_of_other_large_lines_it_is_told_that_they_passed(way, head, tail):
    both = Both()
    both.client(request(7))
    assert both.passed(way, head, tail) == ([], [])
    assert both.told == [("not-examined", None, None)]
    assert len(both.server(asks(7, day=DAY))[0]) == 1
