from __future__ import annotations

import json

import pytest
from multidict import CIMultiDict

from mcp_tap.bridge.checks import accepts, is_json, is_malformed, is_stateless, mismatch
from mcp_tap.bridge.messages import read
from mcp_tap.core.facts.annotations import annotations_of
from tests.bridges import META, NEW

BOTH = ("application/json", "text/event-stream")


def said(method="tools/call", meta=META, **params):
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": meta, **params}}
    found = read(json.dumps(body).encode())
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("values", "taken"),
    [
        (["application/json, text/event-stream"], True),
        (["Application/JSON;q=0.5", "text/event-stream"], True),
        (["*/*"], True),
        (["application/*, text/*"], True),
        (["application/json"], False),
        ([], False),
    ],
)
def test_both_content_types_have_to_be_accepted(values, taken):
    assert accepts(CIMultiDict([("Accept", value) for value in values]), *BOTH) is taken


def test_json_is_told_by_its_content_type():
    assert is_json(CIMultiDict({"content-type": "Application/json; charset=utf-8"}))
    assert not is_json(CIMultiDict({"content-type": "text/plain"}))
    assert not is_json(CIMultiDict())


def test_the_era_is_told_by_the_message_or_its_header():
    assert is_stateless(said(), CIMultiDict())
    assert is_stateless(said(meta={}), CIMultiDict({"mcp-protocol-version": NEW}))
    assert not is_stateless(said(meta={}), CIMultiDict({"mcp-protocol-version": "2025-11-25"}))
    assert not is_stateless(said(meta={}), CIMultiDict())


def test_a_request_without_what_each_must_have_is_malformed():
    assert not is_malformed(said())
    assert is_malformed(said(meta={"io.modelcontextprotocol/protocolVersion": NEW}))


@pytest.mark.parametrize(
    ("arguments", "fields", "wrong"),
    [
        ({"n": 42}, {"mcp-param-n": "42.0"}, False),
        ({"n": 42}, {"mcp-param-n": "43"}, True),
        ({"n": True}, {"mcp-param-n": "true"}, False),
        ({"n": None}, {}, False),
        ({}, {"mcp-param-n": "1"}, True),
        ({"n": []}, {}, False),
        ({"n": "a"}, {"mcp-param-n": "=?base64?YQ==?="}, False),
        ({"n": "=?base64?YQ=="}, {"mcp-param-n": "=?base64?YQ=="}, False),
        ({"n": "=?base64?YQ==?="}, {"mcp-param-n": "=?base64?YQ==?="}, True),
        ({"n": "a\tb"}, {"mcp-param-n": "a\tb"}, False),
    ],
)
def test_arguments_are_compared_by_what_they_mean(arguments, fields, wrong):
    schema = {"type": "object", "properties": {"n": {"x-mcp-header": "N"}}}
    head = CIMultiDict(
        {"mcp-protocol-version": NEW, "mcp-method": "tools/call", "mcp-name": "t", **fields}
    )
    call = said(name="t", arguments=arguments)
    assert (mismatch(call, head, {"t": annotations_of(schema)}) is not None) is wrong
    assert mismatch(call, head, {}) is None


def test_a_header_that_is_there_twice_is_refused():
    head = CIMultiDict({"mcp-protocol-version": NEW, "mcp-method": "ping"})
    assert mismatch(said("ping"), head, {}) is None
    head.add("mcp-method", "ping")
    assert "twice" in (mismatch(said("ping"), head, {}) or "")
