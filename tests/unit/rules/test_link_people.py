from __future__ import annotations

import pytest

from tests.cases import (
    RESULT,
    SESSION,
    TASKS,
    answer,
    ask,
    asking,
    call,
    error,
    exchange,
    fired,
    handshake,
    ids,
    post,
    result,
    stream,
    traffic,
)

URL = "https://mcp.example.com/connect?elicitation=7f3c"
AUTHORIZE = "https://{}/authorize?response_type=code&client_id=mcp&state=x1"
TOKEN = {"Authorization": "Bearer opaque-1"}
AGENT = {"User_Agent": "case-client/1.0"}
BROWSER = "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"


def ask_for(url=URL):
    params = {"mode": "url", "message": "Sign in", "url": url}
    return {"method": "elicitation/create", "params": params}


def asked(url=URL, **headers):
    return exchange(call(headers=headers), answer(asking({"u": ask_for(url)})))


def get(path="/connect?elicitation=7f3c", method="GET", **headers):
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return exchange({"method": method, "path": path, "headers": fields}, answer())


def retried(**headers):
    given = {"u": {"action": "accept"}}
    again = call(2, inputResponses=given, requestState="state-1", headers=headers)
    return exchange(again, answer({**RESULT, "id": 2}))


def metadata(*issuers, path="/.well-known/oauth-protected-resource/mcp"):
    body = {"resource": "https://mcp.example.com/mcp", "authorization_servers": list(issuers)}
    return exchange({"method": "GET", "path": path, "headers": {}}, answer(body))


@pytest.mark.parametrize(
    ("server", "host", "expected"),
    [
        ("mcp.example.com", "idp.example.org", ["SEC-018"]),
        ("mcp.example.com", "login.example.com", []),
        ("mcp.example.com", "example.com", []),
        ("mcp.firm.co.uk", "idp.other.co.uk", ["SEC-018"]),
        ("mcp.firm.co.uk", "idp.firm.co.uk", []),
        ("one.github.io", "two.github.io", ["SEC-018"]),
        ("10.0.0.9", "10.0.0.8", ["SEC-018"]),
    ],
)
def test_an_authorization_endpoint_of_others_is_told(server, host, expected):
    case = traffic(asked(AUTHORIZE.format(host)), upstream=f"https://{server}/mcp")
    found = fired(case, "SEC-018")
    assert [f.rule for f in found] == expected
    assert all(f.severity == "note" for f in found)


def test_other_pages_of_others_are_not():
    assert ids(traffic(asked("https://idp.example.org/authorize?client_id=mcp")), "SEC-018") == []
    assert ids(traffic(asked("https://idp.example.org/?response_type=code")), "SEC-018") == []


@pytest.mark.parametrize(
    ("host", "otherwise"), [("idp.example.org", ["note"]), ("auth.example.com", [])]
)
def test_the_servers_own_authorization_server_is_a_warning(host, otherwise):
    case = traffic(metadata(f"https://{host}"), asked(AUTHORIZE.format(host)))
    (found,) = fired(case, "SEC-018")
    assert found.severity == "warning"
    other = traffic(metadata("https://else.example.org"), asked(AUTHORIZE.format(host)))
    assert [f.severity for f in fired(other, "SEC-018")] == otherwise


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_client_that_fetches_a_link_is_found_by_its_credential(method):
    case = traffic(asked(**TOKEN), get(method=method, User_Agent="python-httpx/0.28", **TOKEN))
    (found,) = fired(case, "SEC-019")
    assert found.blame == "client"


def test_a_client_that_fetches_a_link_is_found_by_its_name():
    assert ids(traffic(asked(), get(User_Agent="case-client/1.0")), "SEC-019") == ["SEC-019"]
    assert ids(traffic(asked(), get(User_Agent="other/1.0")), "SEC-019") == []
    assert ids(traffic(asked(), get()), "SEC-019") == []


def test_a_browser_is_the_user_but_not_with_the_clients_token():
    headers = {"User-Agent": BROWSER}
    assert ids(traffic(asked(**headers), get(User_Agent=BROWSER)), "SEC-019") == []
    case = traffic(asked(**headers, **TOKEN), get(User_Agent=BROWSER, **TOKEN))
    assert ids(case, "SEC-019") == ["SEC-019"]


def test_only_the_links_own_path_and_host_count():
    assert ids(traffic(asked(), get("/connect", **AGENT)), "SEC-019") == ["SEC-019"]
    assert ids(traffic(asked(), get("/other?elicitation=7f3c", **AGENT)), "SEC-019") == []
    elsewhere = "https://idp.example.org/connect"
    assert ids(traffic(asked(elsewhere), get("/connect", **AGENT)), "SEC-019") == []
    named = get("/connect", Host="idp.example.org", **AGENT)
    assert ids(traffic(asked(elsewhere), named), "SEC-019") == ["SEC-019"]


def created(number=1):
    params = {"name": "create_tasks", "arguments": {}}
    body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    return post(body, SESSION, version="2025-11-25")


def test_nothing_is_said_before_the_link_or_after_the_answer():
    assert ids(traffic(get(**AGENT), asked()), "SEC-019") == []
    assert ids(traffic(asked(), retried(), get(**AGENT)), "SEC-019") == []
    assert ids(traffic(asked(), get(**AGENT), retried()), "SEC-019") == ["SEC-019"]


def test_links_of_sessions_count_until_they_are_answered():
    pushed = {"jsonrpc": "2.0", "id": 9, **ask_for()}
    waiting = exchange(created(), stream(pushed, open=True))
    accepted = post(
        {"jsonrpc": "2.0", "id": 9, "result": {"action": "accept"}}, SESSION, version="2025-11-25"
    )
    said = exchange(accepted, answer(status=202))
    assert ids(traffic(*handshake(), waiting, get(**AGENT)), "SEC-019") == ["SEC-019"]
    assert ids(traffic(*handshake(), waiting, said, get(**AGENT)), "SEC-019") == []


def test_links_of_an_error_count_until_the_request_is_sent_again():
    needed = [{"mode": "url", "elicitationId": "e1", "url": URL, "message": "Sign in"}]
    refused = exchange(created(), answer(error(1, -32042, "first", elicitations=needed)))
    again = exchange(created(2), answer(result(2, None, content=[])))
    assert ids(traffic(*handshake(), refused, get(**AGENT)), "SEC-019") == ["SEC-019"]
    assert ids(traffic(*handshake(), refused, again, get(**AGENT)), "SEC-019") == []


def test_links_of_tasks_count_until_they_are_answered():
    task = {
        "taskId": "t-1",
        "createdAt": "2026-08-01T10:00:00Z",
        "lastUpdatedAt": "2026-08-01T10:00:05Z",
        "ttlMs": None,
    }

    def poll(number):
        state = result(number, **task, status="input_required", inputRequests={"u": ask_for()})
        return exchange(ask("tasks/get", number, caps=TASKS, taskId="t-1"), answer(state))

    fetched = get(User_Agent="case-client/1.0")
    answers = {"u": {"action": "accept"}}
    update = ask("tasks/update", 9, caps=TASKS, taskId="t-1", inputResponses=answers)
    before = exchange(call(caps=TASKS), answer(result(1, "task", **task, status="working")))
    accepted = exchange(update, answer(result(9)))
    assert ids(traffic(before, poll(2), fetched, accepted), "SEC-019") == ["SEC-019"]
    assert ids(traffic(before, poll(2), accepted, poll(3), fetched), "SEC-019") == []
