"""Which values are masked, and what stays known of them."""

from __future__ import annotations

import base64
import json
import time

import pytest

from mcp_tap.core.redact import Redactor, shape
from mcp_tap.core.wire import UNPARSED, loads
from mcp_tap.errors import UsageError

KEY = b"k" * 32


def b64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def jwt(**claims) -> str:
    return f"{b64url(b'{}xx')}.{b64url(json.dumps(claims).encode())}.{b64url(b'signature')}"


def one_header(name: str, value: str, **settings):
    shown, masks = Redactor(KEY, **settings).headers([(name.encode(), value.encode("latin-1"))])
    ((_, text),) = shown
    return text, masks


def message(document, *specs: str):
    payload = json.dumps(document).encode()
    out, value, masks = Redactor(KEY, specs=specs).message(payload, loads(payload))
    assert value == loads(out)
    return value, [m.at for m in masks], out == payload


def test_a_bearer_token_keeps_its_scheme_and_its_facts():
    text, (mask,) = one_header("authorization", "Bearer 0123456789abcdef0123")
    assert text == f"Bearer mcp-tap:{mask.tag}"
    assert (mask.at, mask.scheme, mask.length, mask.shape) == ("/headers/0/1", "Bearer", 20, "hex")


def test_a_credential_without_scheme_is_masked_whole():
    text, (mask,) = one_header("Authorization", "just-a-secret-of-mine")
    assert text == f"mcp-tap:{mask.tag}"
    assert mask.scheme is None


def test_cookies_keep_names_and_attributes():
    tag = Redactor(KEY).tag
    assert one_header("Cookie", "a=1; b=2")[0] == f"a=mcp-tap:{tag('1')}; b=mcp-tap:{tag('2')}"
    assert one_header("Set-Cookie", "a=1; Path=/; Secure")[0] == (
        f"a=mcp-tap:{tag('1')}; Path=/; Secure"
    )
    assert one_header("Cookie", "bare")[0] == f"mcp-tap:{tag('bare')}"
    assert one_header("Set-Cookie", "bare")[0] == f"mcp-tap:{tag('bare')}"


def test_other_headers_stay():
    assert one_header("Mcp-Session-Id", "abc") == ("abc", [])
    assert one_header("X-Latin", "caf\xe9") == ("caf\xe9", [])


def test_the_principal_of_a_jwt_and_of_basic_has_a_tag():
    first, second = jwt(iss="https://as", sub="ann", n=1), jwt(iss="https://as", sub="ann", n=2)
    (one,), (two,) = (one_header("authorization", f"Bearer {t}")[1] for t in (first, second))
    assert one.shape == "jwt"
    assert one.tag != two.tag
    assert one.principal == two.principal is not None
    (other,) = one_header("authorization", f"Bearer {jwt(iss='https://as', sub='bob')}")[1]
    assert other.principal != one.principal
    ann = base64.b64encode(b"ann:secret").decode()
    (basic,) = one_header("authorization", f"Basic {ann}")[1]
    assert basic.principal == Redactor(KEY).tag("ann")


@pytest.mark.parametrize("token", [jwt(sub=5), "aaaa.!!!!.b", "abcd.W10.", "abcd._w.x", "Basic"])
def test_a_token_that_names_nobody_has_no_principal(token):
    for scheme in ("Bearer", "Basic"):
        assert one_header("authorization", f"{scheme} {token}")[1][0].principal is None


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("", "empty"),
        ("123456", "digits"),
        ("0123456789abcdefAB", "hex"),
        ("01234567-89ab-cdef-0123-456789abcdef", "uuid"),
        (jwt(sub="x"), "jwt"),
        ("abcdefghijklmnopqrst", "base64url"),
        ("short", "opaque"),
        ("with blank in it and long", "opaque"),
    ],
)
def test_shapes_class_secrets_by_their_look(value, name):
    assert shape(value) == name


def test_query_secrets_are_masked_and_the_rest_stays_raw():
    shown, (mask,) = Redactor(KEY).target("/mcp?x=%2F&access_token=a%20b&&empty=&token=")
    assert shown == f"/mcp?x=%2F&access_token=mcp-tap:{mask.tag}&&empty=&token="
    assert (mask.at, mask.length) == ("/path", 3)
    assert Redactor(KEY, default=False).target("/mcp?token=x") == ("/mcp?token=x", [])


def test_a_redirect_does_not_leak_the_code_it_carries():
    text, (mask,) = one_header("Location", "http://127.0.0.1/cb?code=SECRET&state=s#id_token=")
    assert text == f"http://127.0.0.1/cb?code=mcp-tap:{mask.tag}&state=s#id_token="
    assert mask.at == "/headers/0/1"


def test_nothing_in_a_message_is_masked_unless_asked():
    document = {"jsonrpc": "2.0", "method": "m", "params": {"token": "t", "password": "p"}}
    assert message(document) == (document, [], True)


def test_keys_are_masked_wherever_they_are_and_whatever_they_hold():
    tag = Redactor(KEY).tag
    value, places, _ = message(
        {"params": {"PassWord": "p", "n": [{"my_password": {"a": 1}}], "password": None}},
        "key:*password",
    )
    inner = tag('{"a":1}')
    assert value["params"] == {
        "PassWord": f"mcp-tap:{tag('p')}",
        "n": [{"my_password": f"mcp-tap:{inner}"}],
        "password": None,
    }
    assert places == ["/body/params/PassWord", "/body/params/n/0/my_password"]


@pytest.mark.parametrize(
    ("path", "places"),
    [
        ("$.params.arguments.pin", ["/body/params/arguments/pin"]),
        ("$.params.*.pin", ["/body/params/arguments/pin"]),
        ("$..pin", ["/body/params/arguments/pin", "/body/params/list/0/pin", "/body/pin"]),
        ("$.params.list[0].pin", ["/body/params/list/0/pin"]),
        ("$.params.list[*].pin", ["/body/params/list/0/pin"]),
        ("$.params..pin", ["/body/params/arguments/pin", "/body/params/list/0/pin"]),
        ("$.params", ["/body/params"]),
        ("$['params']['list'][*].p*n", ["/body/params/list/0/pin"]),
        ("$..list..pin", ["/body/params/list/0/pin"]),
        ("$..params..arguments..pin", ["/body/params/arguments/pin"]),
        ("$..list.pin", []),
        ("$..[0].pin", ["/body/params/list/0/pin"]),
        ("$.nothing", []),
    ],
)
def test_paths_name_places(path, places):
    document = {"params": {"arguments": {"pin": "1"}, "list": [{"pin": "2"}]}, "pin": "3"}
    assert message(document, f"path:{path}")[1] == places


def test_paths_hold_within_each_message_of_a_batch():
    assert message([{"params": {"a": 1}}, {"params": {"a": 2}}], "path:$.params.a")[1] == [
        "/body/0/params/a",
        "/body/1/params/a",
    ]


def test_values_are_masked_by_pattern_in_strings_and_numbers():
    value, places, _ = message(
        {"a": "key sk-12345 here", "n": 4111111111, "ok": True}, "value:sk-|^4111"
    )
    assert places == ["/body/a", "/body/n"]
    assert value["ok"] is True


def test_a_masked_number_says_that_it_was_one():
    payload = b'{"n":5,"o":{},"l":[],"s":""}'
    masks = Redactor(KEY, specs=["key:*"]).message(payload, loads(payload))[2]
    assert [m.type for m in masks] == ["number", "object", "array", "string"]


def test_a_header_can_be_named():
    assert one_header("X-Mine", "v", specs=["header:x-MINE"])[0].startswith("mcp-tap:")


def test_default_masks_can_be_switched_off_and_named_ones_stay():
    settings = {"default": False, "specs": ["header:cookie"]}
    assert one_header("Authorization", "Bearer x", **settings) == ("Bearer x", [])
    assert one_header("Cookie", "a=b", **settings)[1]
    payload = b'{"access_token":"x"}'
    assert Redactor(KEY, default=False).other(payload, loads(payload), "")[0] == payload


def test_a_path_with_wildcards_is_matched_in_no_time():
    deep: dict = {"x": 1}
    for _ in range(100):
        deep = {"a": {"b": deep}}
    started = time.monotonic()
    message(deep, "path:$..a..b..a..b..c")
    assert time.monotonic() - started < 2


def test_what_is_nested_too_deep_to_look_into_is_masked_whole():
    payload = b'{"secret":' * 3000 + b"1" + b"}" * 3000
    out, value, (mask,) = Redactor(KEY, specs=["key:secret2"]).message(payload, loads(payload))
    assert out == f"mcp-tap:{mask.tag}".encode()
    assert value is UNPARSED


def test_a_form_is_masked_by_name():
    form = b"grant_type=password&username=ann&password=p%26q&code=&client_secret=s"
    out, _, masks = Redactor(KEY).other(form, UNPARSED, "application/x-www-form-urlencoded")
    tags = [m.tag for m in masks]
    assert out.decode() == (
        f"grant_type=password&username=ann&password=mcp-tap:{tags[0]}&code="
        f"&client_secret=mcp-tap:{tags[1]}"
    )
    assert tags[0] == Redactor(KEY).tag("p&q")


def test_specifications_hold_in_forms_and_queries_too():
    redactor = Redactor(KEY, default=False, specs=["key:pin", "value:sk-[0-9]+"])
    out = redactor.other(b"pin=1&a=sk-2", UNPARSED, "application/x-www-form-urlencoded")[0]
    assert b"pin=1" not in out
    assert b"sk-2" not in out
    assert len(redactor.target("/?pin=1&a=sk-2")[1]) == 2


@pytest.mark.parametrize(
    "text",
    [
        '{"access_token":"SECRET',
        '{"access_token" :\n "SECRET", "x',
        '{"acc\\u0065ss_token":"SECRET"',
        '{"a":"he said "code":"SECRET"}',
        '{"token":SECRET, oops',
        '{"token":{"deep":["SECRET"',
        '{"token":"a\\"SECRET',
        '\ufeff{"token":"SECRET"}',
        'x {"token":"SECRET"} y',
    ],
)
def test_tokens_in_broken_json_are_masked(text):
    out, value, masks = Redactor(KEY).other(text.encode(), UNPARSED, "application/json")
    assert b"SECRET" not in out
    assert value is UNPARSED
    assert [m.at for m in masks] == ["/text"]


def test_broken_json_without_tokens_keeps_its_bytes():
    text = b'{"a":"b", "code":null, "token":true, \xff'
    assert Redactor(KEY).other(text, UNPARSED, "application/json")[0] == text


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "password",
        "key:",
        "cookie:a",
        "path:params.a",
        "path:$",
        "path:$.",
        "path:$.a..",
        "path:$.a[x]",
        "value:(",
        ":x",
    ],
)
def test_a_bad_specification_is_refused_with_what_to_write(spec):
    with pytest.raises(UsageError) as caught:
        Redactor(KEY, specs=[spec])
    assert caught.value.code == "bad-redaction"
    assert repr(spec) in caught.value.what


def test_keys_show_a_fingerprint_by_which_tags_can_be_compared():
    assert Redactor(KEY).fingerprint == Redactor(KEY).fingerprint
    assert Redactor(KEY).fingerprint != Redactor(b"x" * 32).fingerprint
    assert Redactor(KEY).tag("a") != Redactor(b"x" * 32).tag("a")


def test_remembered_masks_stay_few():
    redactor = Redactor(KEY)
    for n in range(2_000):
        redactor.headers([(b"authorization", b"Bearer %d" % n)])
    assert len(redactor._cache) <= 512
