from __future__ import annotations

import pytest

from tests.cases import answer, asking, call, exchange, fired, ids, traffic

JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJ1MSJ9.c2lnbmF0dXJlLXBsYWNlaG9sZGVy"
BASE = "https://mcp.example.com/connect"


def link(url):
    params = {"mode": "url", "message": "Sign in", "url": url}
    entry = {"method": "elicitation/create", "params": params}
    return traffic(exchange(call(), answer(asking({"u": entry}))))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://alice:s3cret@mcp.example.com/c", ["SEC-009"]),
        ("https://alice@mcp.example.com/c", ["SEC-009"]),
        ("https://@mcp.example.com/c", ["SEC-009"]),
        ("https://mcp.example.com@evil.example/", ["SEC-009"]),
        (r"https:\\alice@mcp.example.com/c", ["SEC-009"]),
        (r"https://mcp.example.com\@evil.example/", []),
        ("https://mcp.example.com/@team/post?handle=@octo#@x", []),
        ("https://mcp.example.com?x=@octo", []),
        ("mailto:joe@example.com", []),
    ],
)
def test_an_at_sign_counts_before_the_host(url, expected):
    assert ids(link(url), "SEC-009") == expected


def test_a_password_before_the_host_is_not_shown():
    (found,) = fired(link("https://alice:s3cret@mcp.example.com/c"), "SEC-009")
    assert "s3cret" not in found.message
    assert found.path == "/result/inputRequests/u/params/url"


@pytest.mark.parametrize(
    "parameter",
    [
        *("access_token=Zx81kPq77", "Access-Token=Zx81kPq77", "id_token=Zx81kPq77", "password=x"),
        *("pwd=x", "client_secret=x", "sessionId=8d7f6a5b", "sid=8d7f6a5b", "api-key=Zx81kPq77"),
        *("otp=12345678", "jwt=Zx81kPq77", "code=4%2F0AX4XfWh", "auth=Zx81kPq77"),
    ],
)
@pytest.mark.parametrize("mark", ["?", "#", "?x=1&", "#/route?"])
def test_a_credential_in_a_parameter_is_found(parameter, mark):
    (found,) = fired(link(BASE + mark + parameter), "SEC-010", "SEC-011")
    assert found.rule == "SEC-010"
    assert parameter.partition("=")[2] not in found.message or parameter.endswith("=x")
    assert found.spot == parameter.partition("=")[0]


@pytest.mark.parametrize(
    "parameter",
    [
        *("auth=google", "auth=microsoft", "session=new", "code=WDJB-MJHT", "token={token}"),
        *(
            "token=%7Btoken%7D",
            "password=",
            "password={password}",
            "token=short",
            "id=Zx81kPq77abc",
        ),
        *(
            "state=af0ifjsldkj",
            "nonce=n-0S6_WzA2Mj",
            "code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8",
        ),
        *("client_id=Zx81kPq77", "redirect_uri=https%3A%2F%2Fa.b", "elicitationId=Zx81kPq77"),
        *("response_type=code&code=Zx81kPq77ab", "ref=Zx81kPq77", "token=mcp-tap:0123456789abcdef"),
    ],
)
def test_handles_selectors_and_oauth_requests_are_fine(parameter):
    assert ids(link(f"{BASE}?{parameter}"), "SEC-010") == []


@pytest.mark.parametrize(
    "rest",
    [
        *(f"/c/{JWT}", f"/c?h={JWT}", f"/c#{JWT}", f"/c#h={JWT}", f"/c?{JWT}"),
        *("/c/ghp_16C7e42F292c6912E7710c838347Ae178B4a", "/c?state=AKIAIOSFODNN7EXAMPLE"),
        "/c/ghp%5F16C7e42F292c6912E7710c838347Ae178B4a",
    ],
)
def test_a_recognisable_credential_is_found_anywhere(rest):
    (found,) = fired(link("https://mcp.example.com" + rest), "SEC-010", "SEC-011")
    assert found.rule == "SEC-011"
    assert JWT not in found.message


def test_a_credential_in_a_parameter_named_after_it_is_told_once():
    assert ids(link(f"{BASE}?access_token={JWT}"), "SEC-010", "SEC-011") == ["SEC-010"]
    both = ids(link(f"{BASE}?access_token=Zx81kPq77&h={JWT}"), "SEC-010", "SEC-011")
    assert both == ["SEC-010", "SEC-011"]


@pytest.mark.parametrize(
    "rest",
    [
        "/c/550e8400-e29b-41d4-a716-446655440000/9fceb02d0ae598e95dc970b74767f19372d61af8",
        *("/c?h=q7Zt0p3Kc9", "/c?code_challenge=" + JWT, "/c?request=" + JWT),
    ],
)
def test_random_handles_are_no_credential(rest):
    assert ids(link("https://mcp.example.com" + rest), "SEC-011") == []


@pytest.mark.parametrize(
    "query",
    [
        "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=900&X-Amz-Signature=9a1b2c3d",
        "x-amz-signature=9a1b2c3d&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20260801%2Fs3",
        "X-Goog-Signature=ab&X-Goog-Credential=svc%40p.iam.gserviceaccount.com%2F20260801",
        *("sv=2024-11-04&se=2026-08-01&sp=r&sig=abc%3D", "sig=abc&se=1", "sig=abc&sv=1"),
        *("Signature=a&Key-Pair-Id=K1&Expires=1", "OSSAccessKeyId=L1&Signature=a"),
        *("signature=a&expires=1", "sig=a&exp=1", "hmac=a&e=1", "SIGNATURE=a&EXPIRES=1"),
    ],
)
def test_signed_links_are_found(query):
    found = fired(link(f"{BASE}?{query}"), "SEC")
    assert [(f.rule, f.severity) for f in found] == [("SEC-012", "error")]


def test_a_signature_alone_is_a_note():
    (found,) = fired(link(f"{BASE}?state=x&sig=abc"), "SEC-012")
    assert found.severity == "note"
    assert ids(link(f"{BASE}?expires=1&session_ref=91b2"), "SEC-012") == []
    assert ids(link(f"{BASE}?sig=&expires=1"), "SEC-012") == []


@pytest.mark.parametrize(
    "rest",
    [
        *("/c?x=joe%40example.com", "/c?x=joe@example.com", "/u/joe@example.com/verify"),
        *("/c#joe%40example.com", "/u/+4930901820123/verify", "/c?tel=%2B49%2030%20901820"),
        *("/c?phone=030901820", "/c?login_hint=joe", "/c?firstName=Joe", "/c?e-mail=joe"),
        *("/c?full_name=Joe", "/c?birthdate=1990-01-01", "/c?ssn=078051120", "/c#passport=C01X"),
    ],
)
def test_personal_data_is_found(rest):
    assert ids(link("https://mcp.example.com" + rest), "SEC-013") == ["SEC-013"]


@pytest.mark.parametrize(
    "rest",
    [
        *("/pkg/@scope/name?uid=48213&page=2", "/@team/post?handle=@octo", "/c?email="),
        *("/c?email={email}", "/c?scope=read+20240101", "/c?email=true", "/pkg/react@18.2.0"),
        "/c?repo=git@github.com:o/r.git",
    ],
)
def test_handles_and_ids_are_no_personal_data(rest):
    assert ids(link("https://mcp.example.com" + rest), "SEC-013") == []


@pytest.mark.parametrize("url", [None, 7, {}, "", "x", "https://", "https://[::1", "\ud800"])
def test_what_is_no_url_is_not_judged(url):
    assert not {"SEC-009", "SEC-010", "SEC-011", "SEC-012", "SEC-013"} & set(ids(link(url), "SEC"))
