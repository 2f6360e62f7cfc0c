from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest

from tests.cases import answer, asking, call, exchange, fired, form, ids, traffic

MINE = ("SEC-023", "SEC-024")
PLAIN = {"step": 2, "nonce": "81f0c2", "task": "t-17", "iat": 1785000000}
HEADER = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"


def issued(*states):
    return traffic(*(exchange(call(), answer(asking({"q": form()}, state=s))) for s in states))


def b64(value, *, url=False):
    data = json.dumps(value).encode()
    if url:
        return base64.urlsafe_b64encode(data).decode().rstrip("=")
    return base64.b64encode(data).decode()


@pytest.mark.parametrize(
    "state",
    [
        *(json.dumps(PLAIN), "[1, 2]", b64(PLAIN), b64(PLAIN, url=True), quote(json.dumps(PLAIN))),
        *(quote(b64(PLAIN)), " " + json.dumps(PLAIN), b64([1]), b64({"é>?": "ÿ"}, url=True)),
    ],
)
def test_readable_json_is_a_note(state):
    (found,) = fired(issued(state), *MINE)
    assert (found.rule, found.severity) == ("SEC-023", "note")
    assert "nonce" not in found.message
    assert state not in found.message


@pytest.mark.parametrize(
    "state",
    [
        *("v1.Qk9YX0NJUEhFUg.8f1cB2", "opaque", "123", '"text"', "true", "", "e", "eyJ", "W10"[:2]),
        *(
            f"{HEADER}.{b64(PLAIN, url=True)}.c2ln",
            b64(PLAIN) + ".c2ln",
            json.dumps(PLAIN) + ".c2ln",
        ),
        *(b64({**PLAIN, "sig": "0123456789abcdef0123"}), "mcp-tap:0123456789abcdef", "%7Bnot json"),
        "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..aXY.Y2lwaGVy.dGFn",
    ],
)
def test_protected_and_opaque_states_are_fine(state):
    assert ids(issued(state), *MINE) == []


def test_it_is_said_once_a_method():
    assert ids(issued(b64(PLAIN), b64({"step": 3})), *MINE) == ["SEC-023"]


@pytest.mark.parametrize(
    "leak",
    [
        *({"api_key": "0123"}, {"user": "joe@example.com"}, {"a": [{"db_password": "x1"}]}),
        {"x": "ghp_16C7e42F292c6912E7710c838347Ae178B4a"},
    ],
)
def test_what_a_readable_state_holds_is_found_and_not_shown(leak):
    for state in (
        b64(leak),
        json.dumps(leak),
        f"{HEADER}.{b64(leak, url=True)}.c2ln",
        b64(leak, url=True) + ".c2ln",
        json.dumps(leak) + ".c2ln",
    ):
        (found,) = fired(issued(state), "SEC-024")
        assert found.severity == "warning"
        assert found.path == "/result/requestState"
        assert "joe@" not in found.message
        assert "ghp_" not in found.message


@pytest.mark.parametrize(
    "held",
    [
        PLAIN,
        {"token": "", "password": None, "secret": "****", "csrf_token": "ab12", "user": "u-17"},
        {"sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    ],
)
def test_ids_times_nonces_and_digests_are_fine(held):
    assert ids(issued(b64(held)), "SEC-024") == []


def test_a_hostile_state_is_no_trouble():
    for state in (
        '{"a":' * 20_000 + "1" + "}" * 20_000,
        "[" * 90_000,
        "eyJ" * 30_000,
        "." * 90_000,
        b64({str(n): "token@x" for n in range(3000)}),
        "%7B" * 30_000,
    ):
        assert len(ids(issued(state), *MINE)) <= 1
