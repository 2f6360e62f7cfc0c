from __future__ import annotations

import pytest

from tests.cases import answer, asking, call, exchange, fired, ids, traffic


def link(url, **more):
    params = {"mode": "url", "message": "Sign in", "url": url}
    entry = {"method": "elicitation/create", "params": params}
    return traffic(exchange(call(), answer(asking({"u": entry}))), **more)


@pytest.mark.parametrize(
    "url",
    [
        *("https://xn--e1afmkfd.xn--p1ai/connect", "https://пример.рф/connect"),
        *("https://日本語テスト.jp/c", "https://XN--E1AFMKFD.com/c", "https://a.пример.рф:8443/"),
        *("https://%D0%BF%D1%80%D0%B8%D0%BC%D0%B5%D1%80.рф/", "https://xn--a/connect"),
    ],
)
def test_an_internationalised_host_is_told(url):
    assert "SEC-014" in ids(link(url), "SEC-014", "SEC-015")


@pytest.mark.parametrize(
    "url",
    [
        *("https://mcp.example.com/xn--path?x=xn--a#xn--b", "https://mcp.example.com/пример"),
        *("https://mcp.example.com?q=пример", "https://xn-.example.com/", "https://10.0.0.1/é"),
    ],
)
def test_the_rest_of_a_url_may_be_in_any_script(url):
    assert ids(link(url), "SEC-014", "SEC-015") == []


@pytest.mark.parametrize(
    "url",
    [
        *("https://githуb.com/login", "https://xn--githb-yqf.com/login", "https://аррӏе.com/login"),
        *("https://mail.gοogle.com/", "https://сосо.com/", "https://GITHУB.com/"),
    ],
)
def test_look_alikes_are_told_instead(url):
    assert ids(link(url), "SEC-014", "SEC-015") == ["SEC-015"]


@pytest.mark.parametrize(
    "url",
    [
        *("https://日本語テスト.jp/c", "https://한국漢字.kr/", "https://東京tokyoタワー.jp/"),
        *(
            "https://пример.com/",
            "https://сосо.рф/",
            "https://é.fr/",
        ),
    ],
)
def test_scripts_that_belong_together_are_fine(url):
    assert ids(link(url), "SEC-015") == []


@pytest.mark.parametrize(
    "host",
    [
        *("192.168.1.1", "10.0.0.5", "172.16.0.1", "172.31.255.255", "100.64.0.1", "0.0.0.0"),
        *("169.254.1.1", "[fe80::1]", "[fd12::1]", "[::]", "[::ffff:10.0.0.5]", "intranet"),
        *("printer.local", "wiki.corp.internal", "nas.lan", "hub.home.arpa", "nas.lan."),
        *("167772165", "0x0a000005", "012.0.0.5", "10.5", "0xa.0.0.5"),
        *("2130706433", "0x7f.1", "017700000001", "[::ffff:127.0.0.1]", "127.1"),
        "[64:ff9b::a00:5]",
    ],
)
def test_an_internal_host_is_told(host):
    (found,) = fired(link(f"https://{host}/admin"), "SEC-016")
    assert found.severity == "warning"


@pytest.mark.parametrize(
    "host",
    ["169.254.169.254", "[::ffff:169.254.169.254]", "2852039166", "metadata.google.internal"],
)
def test_where_clouds_keep_credentials_is_an_error(host):
    (found,) = fired(link(f"http://{host}/latest/meta-data"), "SEC-016")
    assert found.severity == "error"


@pytest.mark.parametrize(
    "url",
    [
        *(
            "https://8.8.8.8/c",
            "https://134744072/c",
            "https://mcp.example.com/c",
            "https://[2001:db8::1]/",
        ),
        *(
            "https://192.0.2.7/c",
            "https://198.51.100.7/",
            "https://203.0.113.7/",
            "https://172.32.0.1/",
        ),
        *(
            "http://127.0.0.1:8000/c",
            "http://localhost:8000/c",
            "http://[::1]/c",
            "http://app.localhost/",
        ),
        *("myapp://callback/x", "mailto:joe", "https://local.example.com/", "https://100.128.0.1/"),
    ],
)
def test_the_world_and_the_own_machine_are_fine(url):
    assert ids(link(url), "SEC-016") == []


@pytest.mark.parametrize(
    ("upstream", "host", "expected"),
    [
        ("https://10.0.0.9/mcp", "10.0.0.5", []),
        ("https://10.0.0.9/mcp", "192.168.1.1", ["SEC-016"]),
        ("https://10.0.0.9/mcp", "intranet", []),
        ("https://mcp.corp.internal/mcp", "wiki.corp.internal", []),
        ("https://intranet/mcp", "intranet", []),
        ("https://mcp.corp.internal/mcp", "10.0.0.5", []),
        ("http://127.0.0.1:9000/mcp", "10.0.0.5", ["SEC-016"]),
        ("https://mcp.example.com/mcp", "10.0.0.5", ["SEC-016"]),
    ],
)
def test_a_server_of_the_same_network_may_link_to_it(upstream, host, expected):
    assert ids(link(f"https://{host}/c", upstream=upstream), "SEC-016") == expected


@pytest.mark.parametrize(
    "url",
    [
        *("javascript:alert(1)", "JavaScript:alert(1)", " \x01javascript:alert(1)"),
        *("java\nscript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd"),
        *("blob:https://a.b/1", "about:blank", "view-source:https://a.b/", "intent://x#Intent;end"),
        *("  javascript:alert(1)", "\tjavascript:alert(1)", "\n data:text/html,a b"),
    ],
)
def test_schemes_that_run_code_are_told_instead_of_others(url):
    assert ids(link(url), "SEC-017", "ELIC-049", "ELIC-050") == ["SEC-017"]


@pytest.mark.parametrize(
    "url", ["https://mcp.example.com/docs?lang=javascript:", "myapp://x", "javascript", "", None, 7]
)
def test_other_schemes_run_nothing(url):
    assert ids(link(url), "SEC-017") == []


def test_a_hostile_host_is_no_trouble():
    for host in ("é" * 100_000, "xn--" + "a" * 60_000, "xn--" + "9" * 50, ".".join(["é"] * 2000)):
        assert len(ids(link(f"https://{host}/"), "SEC-014", "SEC-015")) <= 1
