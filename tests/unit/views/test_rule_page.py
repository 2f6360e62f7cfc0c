from __future__ import annotations

import pytest

from mcp_tap.core.text import safe, width
from mcp_tap.rules.catalogue import BY_ID, RULES
from mcp_tap.views.look import text_of
from mcp_tap.views.rule_examples import examples
from mcp_tap.views.rule_page import rule_rows
from tests import cases


def page(rule="MRTR-016", found=(), cells=80):
    return [text_of(row) for row in rule_rows(BY_ID[rule], list(found), cells)]


def shown(*exchanges, cells=300, **members):
    """What stands below `Bad`."""
    case = {"kind": "bad", "title": "so", "exchanges": list(exchanges), **members}
    if not exchanges:
        del case["exchanges"]
    lines = page(found=[case], cells=cells)
    at = lines.index("Bad: so")
    return lines[at + 1 : lines.index("", at)]


def test_a_page_has_head_words_examples_and_passage():
    lines = page(found=examples(BY_ID["MRTR-016"]))
    assert lines[0] == "MRTR-016  retry-state-modified"
    assert lines[1:3] == ["error, must, blames client", "2026-07-28; http and stdio"]
    assert any(line.startswith("Bad: ") for line in lines)
    assert any(line.startswith("Good: ") for line in lines)
    assert lines[-1].startswith("Specification  https://modelcontextprotocol.io/")


def test_a_rule_of_the_tap_has_no_passage():
    assert not any("Specification" in line for line in page("TAP-003"))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_every_page_is_harmless_and_fits(rule):
    found = examples(rule)
    lines = [text_of(row) for row in rule_rows(rule, found, 80)]
    assert all(safe(line) == line for line in lines)
    long = [line for line in lines if width(line) > 80 and "://" not in line]
    assert all(" " not in line.strip() or line.startswith(("Bad", "Good")) for line in long), long


def test_what_every_message_has_is_left_out():
    lines = shown(cases.exchange(cases.call(7), cases.answer(cases.result(7, content=[]))))
    arguments = '{"name": "create_tasks", "arguments": {"count": 3}}'
    assert lines == [
        f'  C  {{"id": 7, "method": "tools/call", "params": {arguments}}}',
        '  S  HTTP 200 {"id": 7, "result": {"resultType": "complete", "content": []}}',
    ]


def test_headers_that_are_odd_or_missing_are_told():
    odd = {"Mcp-Name": "other", "Mcp-Method": ..., "X-Extra": "1"}
    (line,) = shown(cases.exchange(cases.call(headers=odd), None))
    assert line.startswith("  C  [Mcp-Name: other, X-Extra: 1] [no mcp-method] {")


def test_odd_meta_is_told():
    request = cases.call()
    request["body"]["params"]["_meta"]["vendor.example/x"] = 3
    (line,) = shown(cases.exchange(request, None))
    assert '"_meta": {"vendor.example/x": 3}' in line


def test_other_methods_raw_bodies_and_streams_are_told():
    lines = shown(
        {
            "request": {"method": "DELETE", "path": "/mcp", "headers": {}},
            "response": {"status": 405},
        },
        {"request": {"body_raw": "{\x1b["}, "response": {"status": 400, "sse_raw": "data: x\n\n"}},
        cases.exchange(cases.call(), cases.stream({"jsonrpc": "2.0", "method": "x"}, open=True)),
        cases.exchange(cases.call(), cases.stream(closed_by="network")),
        cases.exchange(cases.call(), None),
    )
    assert lines[0] == "  C  DELETE /mcp"
    assert lines[2] == "  C  {\\x1b["
    assert "  S  data: x\\n\\n" in lines
    assert '  S  {"method": "x"}' in lines
    assert lines[-1] == "  .. and 5 more"


def test_it_is_told_who_ended_a_stream():
    lines = shown(
        cases.exchange(cases.call(), cases.stream(open=True)),
        cases.exchange(cases.call(), cases.stream(closed_by="network")),
    )
    assert lines[2] == "  S  (the stream stays open)"
    assert lines[5] == "  S  (closed by the network)"


def test_lines_of_stdio_are_told():
    lines = shown(lines=[
        {"from": "client", "line": '{"jsonrpc":"2.0","id":1,"method":"ping"}'},
        {"from": "server", "line": "debug: on"},
        {"from": "server-stderr", "line": "log"},
    ])  # fmt: skip
    assert lines == ['  C  {"id": 1, "method": "ping"}', "  S  debug: on", "  S2 log"]


def test_a_long_message_is_cut():
    lines = shown(cases.exchange(cases.call(arguments={"text": "word " * 2000}), None), cells=60)
    assert len(lines) == 6
    assert lines[-1].endswith(" ..")
    assert all(width(line) <= 60 for line in lines)
