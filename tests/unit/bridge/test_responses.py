from __future__ import annotations

import json

import pytest

from mcp_tap.bridge.messages import read
from mcp_tap.bridge.responses import Refused, stateless_status
from tests.bridges import META


def said(**members):
    found = read(json.dumps({"id": 1, **members}).encode())
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("method", "code", "status"),
    [
        ("tools/call", None, 200),
        ("tools/call", -32601, 404),
        ("tools/call", -32020, 400),
        ("tools/call", -32021, 400),
        ("tools/call", -32022, 400),
        ("tools/call", -32602, 200),
        ("tools/call", -32603, 200),
        ("server/discover", -32022, 400),
    ],
)
def test_the_status_follows_the_error(method, code, status):
    request = said(method=method, params={"_meta": META})
    answer = said(result={}) if code is None else said(error={"code": code, "message": ""})
    assert stateless_status(request, answer) == status


def test_a_request_that_lacks_what_each_must_have_gets_400():
    request, answer = said(method="ping"), said(error={"code": -32602, "message": ""})
    assert stateless_status(request, answer) == 400


def test_a_refusal_names_the_request_and_whose_words_it_is():
    response = Refused(400, "name", "why", about=said(method="x")).response()
    assert (response.status, response.headers["Mcp-Tap-Error"]) == (400, "name")
    assert json.loads(response.body)["id"] == 1
    response = Refused(400, "name", "why", about=said(result={})).response()
    assert "id" not in json.loads(response.body)
