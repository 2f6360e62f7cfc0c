from __future__ import annotations

import pytest

from tests.cases import (
    CAPABILITIES,
    MODERN,
    PREFIX,
    RESULT,
    answer,
    ask,
    call,
    error,
    exchange,
    fired,
    handshake,
    ids,
    line,
    message,
    note,
    post,
    result,
    stdio,
    traffic,
)

VERSION, CLIENT = PREFIX + "protocolVersion", PREFIX + "clientInfo"
CAPS, SERVER = PREFIX + "clientCapabilities", PREFIX + "serverInfo"


def meta(request, reply=None):
    return fired(traffic(exchange(request, reply)), "META")


def bare(**params):
    return {"jsonrpc": "2.0", "id": 1, "method": "vendor/x", **params}


# missing-protocol-version


@pytest.mark.parametrize(
    "body", [bare(), bare(params={}), bare(params={"_meta": 3}), bare(params={"_meta": {CAPS: {}}})]
)
def test_a_request_with_a_modern_header_declares_its_revision_in_the_body(body):
    found = [f for f in meta(post(body)) if f.severity == "error"]
    assert [(f.rule, f.spot) for f in found] == [("META-001", VERSION)]


@pytest.mark.parametrize("version", [20260728, None, [MODERN]])
def test_a_revision_that_is_no_string_is_found_at_its_place(version):
    (found,) = meta(ask("vendor/x", meta={VERSION: version}))
    assert (found.rule, found.path) == (
        "META-001",
        "/params/_meta/io.modelcontextprotocol~1protocolVersion",
    )
    case = stdio(
        line("client", message("vendor/x", 1)),
        line("client", message("vendor/x", 2, meta={VERSION: version})),
    )
    assert ids(case, "META") == ["META-001"]


def test_a_request_of_no_known_era_need_not_declare_anything():
    assert not meta(post(bare(), version=None))
    case = stdio(line("client", message("vendor/x", 1)), line("client", bare()))
    assert not ids(case, "META")
    assert not meta(post(bare(), version="2025-11-25"))


def test_notifications_declare_nothing():
    assert not meta(post(note("notifications/cancelled", requestId=1)))


# missing-client-capabilities


def test_capabilities_are_declared_with_every_request():
    fine = exchange(call(1), answer(RESULT))
    second = exchange(call(2, meta={CAPS: ...}), answer(error(2)))
    (found,) = fired(traffic(fine, second), "META")
    assert (found.rule, found.exchange, found.spot) == ("META-002", 2, CAPS)
    assert not meta(call(caps={}))


def test_where_all_of_meta_is_missing_that_alone_is_found():
    assert "META-002" not in [f.rule for f in meta(post(bare()))]
    gone = {VERSION: ..., CAPS: ...}
    assert "META-002" not in [f.rule for f in meta(ask("vendor/x", meta=gone))]


# malformed-client-capabilities


@pytest.mark.parametrize("value", [True, None, [], "form", 1])
@pytest.mark.parametrize(
    "place",
    [
        (),
        ("elicitation",),
        ("elicitation", "form"),
        ("elicitation", "url"),
        ("sampling",),
        ("sampling", "tools"),
        ("sampling", "context"),
        ("roots",),
        ("extensions",),
        ("extensions", "com.example/x"),
        ("experimental",),
        ("experimental", "x"),
    ],
)
def test_a_capability_that_is_no_object_is_found_at_its_place(place, value):
    caps = value
    for step in reversed(place):
        caps = {step: caps}
    found = [f for f in meta(ask("vendor/x", caps=caps)) if f.rule == "META-003"]
    steps = "".join("/" + step.replace("/", "~1") for step in place)
    assert [f.path for f in found] == [
        "/params/_meta/io.modelcontextprotocol~1clientCapabilities" + steps
    ]


def test_what_nobody_knows_may_be_anything():
    caps = {"holograms": True, "elicitation": {"form": {"x": 1}, "new": None}, "roots": {"x": 1}}
    assert not meta(ask("vendor/x", caps=caps))


# missing-client-info and missing-server-info


def test_an_anonymous_client_is_noted_once():
    anonymous = [exchange(call(n, meta={CLIENT: ...}), answer({**RESULT, "id": n})) for n in (1, 2)]
    (found,) = fired(traffic(*anonymous), "META")
    assert (found.rule, found.severity, found.exchange) == ("META-004", "note", 1)


def test_a_server_that_refuses_an_anonymous_client_is_told_so():
    def refused(**more):
        reply = error(1, -32602, "Missing clientInfo in _meta")
        return fired(traffic(exchange(call(meta={CLIENT: ..., **more}), answer(reply, 400))))

    about = [f for f in refused() if f.rule == "META-004"]
    assert [(f.severity, f.blame) for f in about] == [("note", "client"), ("note", "server")]
    assert "optional" in about[1].message
    about = [f for f in refused(**{CAPS: ...}) if f.rule == "META-004"]
    assert [f.blame for f in about] == ["client"]


def test_an_anonymous_server_is_noted_once():
    replies = [exchange(call(n), answer(anonymous(n))) for n in (1, 2)]
    (found,) = fired(traffic(*replies), "META")
    assert (found.rule, found.severity, found.exchange) == ("META-006", "note", 1)


def anonymous(number=1, **members):
    plain = {"resultType": "complete", "content": [], **members}
    return {"jsonrpc": "2.0", "id": number, "result": plain}


def test_a_name_beside_meta_is_where_drafts_had_it():
    body = anonymous(serverInfo={"name": "s", "version": "1"})
    (found,) = meta(call(), answer(body))
    assert "drafts" in found.message


def test_errors_and_sessions_need_no_names():
    assert not meta(call(), answer(error()))
    old = call(1, version="2025-11-25")
    reply = answer(result(1, None, content=[]))
    assert not fired(traffic(*handshake(), exchange(old, reply)), "META")


# malformed-implementation-info


@pytest.mark.parametrize(
    ("info", "path"),
    [
        ("c/1", ""),
        (None, ""),
        ([], ""),
        ({"version": "1"}, ""),
        ({"name": "c"}, ""),
        ({"name": "c", "version": 1}, "/version"),
        ({"name": None, "version": "1"}, "/name"),
    ],
)
def test_names_and_versions_are_strings(info, path):
    (found,) = meta(ask("vendor/x", meta={CLIENT: info}))
    assert (found.rule, found.blame) == ("META-005", "client")
    assert found.path == "/params/_meta/io.modelcontextprotocol~1clientInfo" + path
    body = result(1, content=[], _meta={SERVER: info})
    (found,) = meta(call(), answer(body))
    assert (found.rule, found.blame) == ("META-005", "server")
    assert found.path == "/result/_meta/io.modelcontextprotocol~1serverInfo" + path


def test_further_members_are_fine():
    info = {"name": "c", "version": "1", "icons": 3, "title": None}
    assert not meta(ask("vendor/x", meta={CLIENT: info}, caps=CAPABILITIES))
