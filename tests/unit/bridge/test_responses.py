from __future__ import annotations

import json

import pytest

from mcp_tap.bridge.messages import read
from mcp_tap.bridge.responses import Refused, stateless_status


def said(**members):
    found = read(json.dumps({"id": 1, **members}).encode())
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("code", "status"),
    [(None, 200), (-32601, 404), (-32020, 400), (-32021, 400), (-32022, 400), (-32602, 200)],
)
def test_the_status_follows_the_error(code, status):
    answer = said(result={}) if code is None else said(error={"code": code, "message": ""})
    assert stateless_status(answer) == status


def test_a_refusal_names_the_request_and_whose_words_it_is():
    response = Refused(400, "name", "why", about=said(method="x")).response()
    assert (response.status, response.headers["Mcp-Tap-Error"]) == (400, "name")
    assert json.loads(response.body)["id"] == 1
    response = Refused(400, "name", "why", about=said(result={})).response()
    assert "id" not in json.loads(response.body)
